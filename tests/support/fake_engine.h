#pragma once
// Grid Engine's tools for a test: answers by how a call begins ("qstat -xml -r", "qhold"), the
// longest beginning first; a call that nobody prepared is one that got no answer in time.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/runner.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.h"

namespace shim::test {

class FakeEngine final : public posix::Runner {
public:
  // Tools are looked up before they are run: executables of the right names have to be there.
  explicit FakeEngine(EnvList& env) {
    for (const auto* tool : {"qstat", "qhold", "qrls", "qmod", "qconf", "qacct", "qhost", "qdel"})
      SHIM_ASSERT(posix::write_file_atomic(m_folder / tool, "", 0755));
    env.set("SLURM_SHIM_GE_BIN", m_folder.path());
    env.set("HOME", m_folder.path());
    env.set("USER", "alice");
  }

  void answer(const std::string& beginning, posix::Output output) {
    m_answers[beginning] = std::move(output);
  }
  void answer_file(const std::string& beginning, const std::string& fixture, int status = 0) {
    auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/" + fixture);
    SHIM_ASSERT(text.has_value());
    answer(beginning, {status, std::move(*text), ""});
  }

  Result<posix::Output> run(const posix::RunRequest& request) override {
    const auto call = join(request.argv, " ");
    calls.push_back(call.substr(request.argv[0].rfind('/') + 1));
    const auto& text = calls.back();
    // In reverse order a longer beginning comes before a shorter one.
    for (auto it = m_answers.rbegin(); it != m_answers.rend(); ++it)
      if (text.starts_with(it->first)) return it->second;
    return fail(ErrorKind::unavailable, text.substr(0, text.find(' ')) + ": no answer within 5 s");
  }

  std::vector<std::string> calls;

private:
  TempDir m_folder;
  std::map<std::string, posix::Output> m_answers;
};

} // namespace shim::test
