#pragma once
// `slurm-shim install` against a cell in memory and a file system of its own.

#include "fake_cell.h"

#include "slurm_shim/commands/admin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace shim::test {

class StillClock final : public posix::Clock {
public:
  [[nodiscard]] std::int64_t unix_ms() const override { return 1796000000000; }
  void sleep_for(std::chrono::milliseconds) override {}
};

inline const std::string k_program = std::string("\177ELF\0program", 12);
inline const std::vector<std::string> k_links{"srun", "sbatch", "slurm-shim-env"};

class InstallTest : public testing::TestWithParam<bool> {
protected:
  InstallTest() : cell(GetParam()), prefix(m_root / "ge/slurm-shim") {
    std::filesystem::create_directories(m_root / "ge");
    std::ofstream(m_root / "program") << k_program;
  }

  int run(std::vector<std::string> words) {
    StringSink out_sink;
    StringSink err_sink;
    StillClock clock;
    context::Context ctx{
        "slurm-shim",
        EnvList(
            {"SGE_ROOT=" + m_root / "ge", "SGE_CELL=default", "SLURM_SHIM_GE_BIN=" + cell.tools()}),
        out_sink,
        err_sink,
        cell,
        clock,
        {}};
    const int code = commands::run_install(ctx, words, {m_root / "program", k_links});
    out = out_sink.text();
    err = err_sink.text();
    return code;
  }
  std::string read(const std::string& name) const {
    return posix::read_file(prefix + "/" + name).value_or("");
  }
  std::string attribute(const std::string& queue, const std::string& key) const {
    return cell.queues.at(queue).get_or(key, "");
  }
  std::map<std::string, std::filesystem::file_time_type> file_times() const {
    std::map<std::string, std::filesystem::file_time_type> times;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix))
      if (!entry.is_symlink()) times[entry.path()] = entry.last_write_time();
    return times;
  }
  bool ocs() const { return GetParam(); }

  TempDir m_root;
  FakeCell cell;
  std::string prefix, out, err;
};

} // namespace shim::test
