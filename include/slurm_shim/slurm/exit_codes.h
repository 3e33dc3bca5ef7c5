#pragma once
// Exit codes that tools rely on (spec launch 4, sbatch-translate 1, vectors 03/06).

namespace shim::slurm {
inline constexpr int k_exit_ok = 0;
inline constexpr int k_exit_failure = 1;
inline constexpr int k_exit_launch = 8;      // srun: the launcher failed
inline constexpr int k_exit_usage = 255;     // Slurm's option parser refused
inline constexpr int k_exit_not_found = 2;   // a rank's program does not exist
inline constexpr int k_exit_permission = 13; // a rank's program may not be executed
inline constexpr int k_exit_access = 210;    // scancel: another user's job
[[nodiscard]] constexpr int signal_exit(int signal_number) {
  return 128 + signal_number;
}
} // namespace shim::slurm
