// C23 to C26, C31, C32: what queues, request files and the scheduler do to jobs.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace shim::commands::doctor {

namespace {

bool is_finite(std::string_view limit) {
  return !ge::is_none(limit) && !equals_ignore_case(limit, "INFINITY");
}

// Default and per-host values, each once.
std::vector<std::string> all_values(const ge::Attributes& queue, std::string_view key) {
  const auto value = ge::parse_host_value(queue.get_or(key, ""));
  std::vector<std::string> out{value.fallback};
  for (const auto& [host, text] : value.overrides)
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  return out;
}

std::string finite_value(const ge::Attributes& queue, std::string_view key) {
  for (const auto& value : all_values(queue, key))
    if (is_finite(value)) return value;
  return "";
}

// Options of a request file that change what sbatch asked for.
constexpr std::array<std::string_view, 15> k_meddling{"-b",
                                                      "-q",
                                                      "-pe",
                                                      "-par",
                                                      "-notify",
                                                      "-soft",
                                                      "-hold_jid",
                                                      "-masterq",
                                                      "-t",
                                                      "-tc",
                                                      "-r",
                                                      "-now",
                                                      "-sync",
                                                      "-shell",
                                                      "-clear"};

std::vector<std::string> meddling_options(std::string_view text) {
  std::vector<std::string> out;
  for (const auto line : split(text, '\n')) {
    if (trim(line).starts_with('#')) continue;
    for (const auto word : split_words(line))
      if (std::find(k_meddling.begin(), k_meddling.end(), word) != k_meddling.end() &&
          std::find(out.begin(), out.end(), word) == out.end())
        out.emplace_back(word);
  }
  return out;
}

struct Instances {
  int all = 0, usable = 0;
  std::vector<std::string> bad;
};

// `qstat -f`: lines of queue instances, their states in the sixth column.
std::map<std::string, Instances> instances_of(std::string_view text) {
  std::map<std::string, Instances> out;
  for (const auto line : split(text, '\n')) {
    if (line.empty() || line.front() == ' ' || line.front() == '\t') continue;
    const auto words = split_words(line);
    if (words.size() < 5 || words[0].find('@') == std::string_view::npos) continue;
    auto& queue = out[std::string(words[0].substr(0, words[0].find('@')))];
    ++queue.all;
    const auto state = words.size() > 5 ? words[5] : std::string_view{};
    if (state.find_first_of("EudcoASCD") == std::string_view::npos)
      ++queue.usable;
    else
      queue.bad.push_back(std::string(words[0]) + " (" + std::string(state) + ")");
  }
  return out;
}

Result<ge::Attributes> scheduler_config(Survey& s) {
  TRY_ASSIGN(const auto answer, s.tools.run({"qconf", {"-ssconf"}}));
  if (answer.status != 0)
    return fail(ErrorKind::unavailable, "qconf -ssconf: " + std::string(trim(answer.err)));
  return ge::parse_attributes(answer.out);
}

} // namespace

Result<Finding> check_queue_limits(Survey& s) {
  TRY_ASSIGN(const auto names, s.used_queues());
  Verdict verdict;
  for (const auto& name : names) {
    TRY_ASSIGN(const auto queue, s.queue(name));
    if (!queue) continue; // C14 tells
    const auto types = ge::parse_host_value(queue->get_or("qtype", "")).fallback;
    if (types.find("BATCH") == std::string::npos)
      verdict.fail("queue " + name + " takes no batch jobs: sbatch's would wait for ever",
                   "qconf -aattr queue qtype BATCH " + name);
    else if (types.find("INTERACTIVE") == std::string::npos)
      verdict.warn("queue " + name +
                       " takes no interactive jobs: no salloc, no srun outside of a "
                       "job there",
                   "qconf -aattr queue qtype INTERACTIVE " + name);
    if (const auto limit = finite_value(*queue, "s_rt"); !limit.empty())
      verdict.warn("queue " + name + ": s_rt " + limit +
                       " kills jobs on several hosts at that time without a warning",
                   "qconf -mattr queue s_rt INFINITY " + name + " (h_rt limits as well)");
    for (const auto* key : {"h_vmem", "s_vmem", "h_rss", "h_data"})
      if (const auto limit = finite_value(*queue, key); !limit.empty())
        verdict.warn("queue " + name + ": " + key + " " + limit +
                         " per slot: a step on another host runs under the limit of one slot",
                     "qconf -mattr queue " + std::string(key) + " INFINITY " + name +
                         ", and a consumable that counts per host for memory");
    if (const auto limit = finite_value(*queue, "h_rt"); !limit.empty())
      verdict.info("queue " + name + ": jobs end after h_rt " + limit);
    const auto slots = parse_int<int>(ge::parse_host_value(queue->get_or("slots", "")).fallback);
    for (const auto& partition : s.config().partitions)
      if (partition.queue == name && slots && partition.slots_per_node > *slots)
        verdict.warn(fmt::format("partition {}: slots_per_node {} is more than the {} slots of "
                                 "queue {}",
                                 partition.name,
                                 partition.slots_per_node,
                                 *slots,
                                 name),
                     "correct it in " + s.config_path);
  }
  return verdict.finish(join(names, ", "));
}

Result<Finding> check_request_files(Survey& s) {
  TRY_ASSIGN(const auto values, s.engine_config());
  Verdict verdict;
  const auto home = posix::home_directory(s.recorder, s.ctx.env);
  std::set<std::string> files{s.ctx.env.get_or("SGE_ROOT", "") + "/" +
                              s.ctx.env.get_or("SGE_CELL", "default") + "/common/sge_request"};
  if (!home.empty()) files.insert(home + "/.sge_request");
  if (const auto here = posix::current_directory()) files.insert(*here + "/.sge_request");
  for (const auto& file : files) {
    const auto text = posix::read_file(file, std::size_t{1} << 20);
    if (!text) continue;
    if (const auto options = meddling_options(*text); !options.empty())
      verdict.warn(file + " adds " + join(options, ", ") + " to every job",
                   "remove them there, or check that jobs of sbatch are to have them (explain "
                   "shows what sbatch submits, not what this file adds)");
  }
  const auto jsv = values.get_or("jsv_url", "none");
  if (!equals_ignore_case(jsv, "none"))
    verdict.warn("every submission passes " + masked(jsv) + " (jsv_url), which may change it",
                 "check that it leaves -pe, -q, -v SLURM_SHIM_REQ and -o of sbatch's jobs alone: "
                 "slurm-shim doctor --probe");
  return verdict.finish("nothing is added to jobs");
}

Result<Finding> check_queue_states(Survey& s) {
  TRY_ASSIGN(const auto names, s.used_queues());
  TRY_ASSIGN(const auto answer, s.tools.run({"qstat", {"-f", "-explain", "E"}}));
  if (answer.status != 0)
    return fail(ErrorKind::unavailable, "qstat -f: " + std::string(trim(answer.err)));
  const auto queues = instances_of(answer.out);
  Verdict verdict;
  int usable = 0;
  for (const auto& name : names) {
    const auto found = queues.find(name);
    if (found == queues.end()) {
      TRY_ASSIGN(const auto known, s.qconf.list("-sql"));
      if (std::find(known.begin(), known.end(), name) == known.end())
        verdict.fail("there is no queue " + name, "C14 tells which partition names it");
      else
        verdict.fail("queue " + name + " has no instance on any host",
                     "qconf -mattr queue hostlist @allhosts " + name);
      continue;
    }
    const auto& queue = found->second;
    usable += queue.usable;
    const std::string advice =
        "E (a job failed to start): qstat -f -explain E tells why, then qmod -cq '" + name +
        "'; d (disabled): qmod -e '" + name + "'; u (no answer): start sge_execd on the host";
    if (queue.usable == 0)
      verdict.fail("no instance of queue " + name + " can be used: " + join(queue.bad, ", "),
                   advice);
    else if (!queue.bad.empty())
      verdict.warn("not usable: " + join(queue.bad, ", "), advice);
  }
  return verdict.finish(std::to_string(usable) + " queue instances can be used");
}

Result<Finding> check_array_limits(Survey& s) {
  TRY_ASSIGN(const auto values, s.engine_config());
  return Finding{
      Status::info,
      fmt::format("arrays up to {} elements, {} of one running at a time; jobs per user: "
                  "{} (0: no limit)",
                  values.get_or("max_aj_tasks", "unknown"),
                  values.get_or("max_aj_instances", "unknown"),
                  values.get_or("max_u_jobs", "unknown")),
      {}};
}

Result<Finding> check_reservation(Survey& s) {
  TRY_ASSIGN(const auto values, scheduler_config(s));
  const auto reservations = values.get_or("max_reservation", "0");
  Verdict verdict;
  if (reservations == "0" && s.config().reserve != "never")
    verdict.warn("max_reservation is 0: small jobs can keep jobs on several hosts waiting for ever",
                 "qconf -msconf: max_reservation 32 (or reserve: never in the configuration)");
  return verdict.finish("max_reservation " + reservations);
}

Result<Finding> check_priority(Survey& s) {
  TRY_ASSIGN(const auto values, scheduler_config(s));
  const auto text = values.get_or("weight_priority", "0");
  Verdict verdict;
  // "0.000000". The site's choice, and a usual one (Debian's cell): nothing is wrong with it.
  const bool counts = text.find_first_of("123456789") != std::string::npos;
  if (!counts)
    verdict.info("weight_priority is 0: --nice is passed on to the engine and has no effect there",
                 "where it is to count: qconf -msconf: weight_priority 1");
  return verdict.finish(counts ? "weight_priority " + text : "");
}

} // namespace shim::commands::doctor
