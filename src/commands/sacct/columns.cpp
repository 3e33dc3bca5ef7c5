#include "columns.h"

#include "values.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::sacct {

namespace {

using namespace values;

// In Slurm's order. Columns without a source (energy, disk, pages, frequencies of the parts of a
// step) show what Slurm shows when it has not gathered them.
constexpr Column k_columns[] = {
    {"Account", 10, account},
    {"AdminComment", 15, nothing},
    {"AllocCPUS", 10, alloc_cpus},
    {"AllocNodes", 10, alloc_nodes},
    {"AllocTRES", 10, alloc_tres},
    {"AssocID", 7, nothing},
    {"AveCPU", 10, nothing},
    {"AveCPUFreq", 10, nothing},
    {"AveDiskRead", 14, nothing},
    {"AveDiskWrite", 14, nothing},
    {"AvePages", 10, nothing},
    {"AveRSS", 10, max_rss},
    {"AveVMSize", 10, max_vm_size},
    {"BlockID", 16, nothing},
    {"Cluster", 10, cluster},
    {"Comment", 14, comment},
    {"Constraints", 19, nothing},
    {"ConsumedEnergy", 14, zero},
    {"ConsumedEnergyRaw", 17, zero},
    {"Container", 19, nothing},
    {"CPUTime", 10, cpu_time},
    {"CPUTimeRAW", 10, cpu_time_raw},
    {"DBIndex", 10, db_index, true},
    {"DerivedExitCode", 15, derived_exit},
    {"Elapsed", 10, elapsed},
    {"ElapsedRaw", 10, elapsed_raw},
    {"Eligible", 19, eligible},
    {"End", 19, end},
    {"ExitCode", 8, exit_code},
    {"Flags", 20, nothing},
    {"GID", 6, gid},
    {"Group", 9, group},
    {"JobID", 12, job_id, true},
    {"JobIDRaw", 12, job_id_raw, true},
    {"JobName", 10, job_name},
    {"Layout", 9, nothing},
    {"MaxDiskRead", 12, nothing},
    {"MaxDiskReadNode", 15, nothing},
    {"MaxDiskReadTask", 15, nothing},
    {"MaxDiskWrite", 12, nothing},
    {"MaxDiskWriteNode", 16, nothing},
    {"MaxDiskWriteTask", 16, nothing},
    {"MaxPages", 8, nothing},
    {"MaxPagesNode", 12, nothing},
    {"MaxPagesTask", 14, nothing},
    {"MaxRSS", 10, max_rss},
    {"MaxRSSNode", 10, nothing},
    {"MaxRSSTask", 10, nothing},
    {"MaxVMSize", 10, max_vm_size},
    {"MaxVMSizeNode", 14, nothing},
    {"MaxVMSizeTask", 14, nothing},
    {"McsLabel", 12, nothing},
    {"MinCPU", 10, nothing},
    {"MinCPUNode", 10, nothing},
    {"MinCPUTask", 10, nothing},
    {"NCPUS", 10, alloc_cpus},
    {"NNodes", 8, nnodes},
    {"NodeList", 15, node_list},
    {"NTasks", 8, ntasks},
    {"Partition", 10, partition},
    {"Priority", 10, nothing},
    {"QOS", 10, qos},
    {"QOSRAW", 6, nothing},
    {"Reason", 22, reason},
    {"ReqCPUFreq", 10, unknown_frequency},
    {"ReqCPUFreqGov", 13, unknown_frequency},
    {"ReqCPUFreqMax", 13, unknown_frequency},
    {"ReqCPUFreqMin", 13, unknown_frequency},
    {"ReqCPUS", 8, req_cpus},
    {"ReqMem", 10, req_mem},
    {"ReqNodes", 8, req_nodes},
    {"ReqTRES", 10, req_tres},
    {"Reservation", 20, nothing},
    {"ReservationId", 8, nothing},
    {"Reserved", 10, planned},
    {"ResvCPU", 10, planned_cpu},
    {"ResvCPURAW", 10, planned_cpu_raw},
    {"Start", 19, start},
    {"State", 10, state},
    {"Submit", 19, submit},
    {"SubmitLine", 20, submit_line},
    {"Suspended", 10, suspended},
    {"SystemComment", 15, nothing},
    {"SystemCPU", 10, system_cpu},
    {"Timelimit", 10, time_limit},
    {"TimelimitRaw", 12, time_limit_raw},
    {"TotalCPU", 10, total_cpu},
    {"TRESUsageInAve", 14, nothing},
    {"TRESUsageInMax", 14, nothing},
    {"TRESUsageInMaxNode", 18, nothing},
    {"TRESUsageInMaxTask", 18, nothing},
    {"TRESUsageInMin", 14, nothing},
    {"TRESUsageInMinNode", 18, nothing},
    {"TRESUsageInMinTask", 18, nothing},
    {"TRESUsageInTot", 14, nothing},
    {"TRESUsageOutAve", 15, nothing},
    {"TRESUsageOutMax", 15, nothing},
    {"TRESUsageOutMaxNode", 19, nothing},
    {"TRESUsageOutMaxTask", 19, nothing},
    {"TRESUsageOutMin", 15, nothing},
    {"TRESUsageOutMinNode", 19, nothing},
    {"TRESUsageOutMinTask", 19, nothing},
    {"TRESUsageOutTot", 15, nothing},
    {"UID", 6, uid},
    {"User", 9, user},
    {"UserCPU", 10, user_cpu},
    {"WCKey", 10, nothing},
    {"WCKeyID", 10, nothing},
    {"WorkDir", 20, work_dir},
    // Names of later versions.
    {"FailedNode", 20, nothing, false, false},
    {"Planned", 10, planned, false, false},
    {"PlannedCPU", 10, planned_cpu, false, false},
    {"PlannedCPURAW", 10, planned_cpu_raw, false, false},
    {"Restarts", 8, restarts, false, false},
    {"StdErr", 20, std_err, false, false},
    {"StdIn", 20, std_in, false, false},
    {"StdOut", 20, std_out, false, false},
};

} // namespace

std::span<const Column> columns() {
  return k_columns;
}

Result<std::vector<Chosen>> choose(std::string_view fields) {
  std::vector<Chosen> chosen;
  for (const auto word : split(fields, ',')) {
    const auto field = trim(word);
    if (field.empty()) continue;
    const auto percent = field.find('%');
    const auto name = field.substr(0, percent);
    // Any beginning of a name stands for the first column that has it; a whole name comes first.
    const auto whole = std::ranges::find_if(
        k_columns, [&](const Column& column) { return equals_ignore_case(column.name, name); });
    if (whole == std::end(k_columns) || name.empty())
      return fail(ErrorKind::usage, "Invalid field requested: \"" + std::string(name) + "\"");
    Chosen choice{&*whole, whole->width, whole->left};
    if (percent != std::string_view::npos) {
      const auto width = parse_int<int>(field.substr(percent + 1)).value_or(0);
      if (width != 0) {
        choice.width = std::min(std::abs(width), 100'000);
        choice.left = width < 0;
      }
    }
    chosen.push_back(choice);
  }
  return chosen;
}

std::string help_format() {
  constexpr int k_in_a_row = 4;
  std::string text;
  int in_row = 0;
  for (const auto& column : k_columns) {
    if (!column.listed) continue;
    text += fmt::format("{}{:<19}", in_row > 0 ? " " : "", column.name);
    if (++in_row == k_in_a_row) {
      text += "\n";
      in_row = 0;
    }
  }
  return in_row > 0 ? text + "\n" : text;
}

} // namespace shim::commands::sacct
