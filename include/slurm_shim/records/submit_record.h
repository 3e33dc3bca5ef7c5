#pragma once
// The submit record (SLURM_SHIM_REQ): what sbatch was asked for, as it travels to the PE hook.
// Format `v1;key=value;...`. Spec job-files 2, keys sbatch-translate 10. Pure.

#include "slurm_shim/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace shim::records {

inline constexpr std::size_t k_max_variable_bytes = 8000; // Grid Engine cuts at 9,995

// Keys are [a-z]+; values any bytes. Typed access is the reader's business.
// What sbatch writes (absent = not asked, unless noted):
//   tok dir env rec kw      as job-files 2 says
//   nodes                   hosts, when the number is fixed at submit (given or implied)
//   ntasks                  only when -n, --ntasks-per-node or --ntasks-per-gpu was given (the job
//                           has SLURM_NTASKS then, decision 18); effective value
//   tpn                     tasks on each host in rank order, "2" = the same on all, or "2,2,1";
//                           present whenever `nodes` is; layout = exact | ceil | any
//   npn cpt                 --ntasks-per-node and -c as given
//   over                    1: -O, more tasks than slots
//   npcore npsocket tpcore  --ntasks-per-core, --ntasks-per-socket; threads of a core, also by
//   --hint name part acct qos comment mail begin excl   as given (name: the one Slurm shows,
//   always) gpus gpn gpt gbind gtype                     GPU counts: total, per node, per task cpg
//   tpg                                      --cpus-per-gpu, --ntasks-per-gpu resv --reservation as
//   given mem memper              MiB and node | cpu | gpu time sig                minutes in force
//   (absent: no limit); USR2@90, USR2@90B (B:) array                   indices and throttle,
//   "0-9:3,20%2"; slurm::native_range tells whether
//                           the engine's task numbers are the indices, else they are 1..n
//   timemin deadline        minutes of --time-min; unix seconds of --deadline
//   dep                     "afterok:12,afterany:13", joined by ? when one is enough
//   depgone                 those of dep that nobody knew at submission: "12,14"
//   out in openmode         always; err only when stdout does not take it along; a | t
//   umask                   octal, of the sbatch process
//   login                   seconds: the login shell's environment is added below the user's
//   export requeue sdir shost script cmd         cmd: Slurm's Command=
//   wd                      working directory, where it is not the engine's (it was missing)
//   dist hint nice tres excnodes reqnodes        for scontrol and the environment
//   feat prefer lic resv                         -C, --prefer, -L and --reservation as given
//   argv                                         command of salloc and srun, each word with NUL
class SubmitRecord {
public:
  void set(std::string_view key, std::string_view value) { m_values[std::string(key)] = value; }
  void set_int(std::string_view key, long long value) { set(key, std::to_string(value)); }
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  [[nodiscard]] std::string get_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::optional<long long> get_int(std::string_view key) const; // absent or no number
  [[nodiscard]] bool has(std::string_view key) const { return get(key).has_value(); }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return m_values;
  }
  // The full text, whatever its length; tok and dir come first.
  [[nodiscard]] std::string encode() const;
  // Errors (ErrorKind::malformed): another version, bad escape, missing tok or dir.
  [[nodiscard]] static Result<SubmitRecord> decode(std::string_view text);

private:
  std::map<std::string, std::string, std::less<>> m_values;
};

} // namespace shim::records
