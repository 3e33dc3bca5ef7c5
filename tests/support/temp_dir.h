#pragma once
// A folder of its own for a test, removed with everything in it.

#include "slurm_shim/base/assert.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace shim::test {

class TempDir {
public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "shim-test-XXXXXX").string();
    SHIM_ASSERT(::mkdtemp(name.data()) != nullptr);
    m_path = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return m_path + "/" + name; }

private:
  std::string m_path;
};

} // namespace shim::test
