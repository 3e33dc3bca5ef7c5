#include "slurm_shim/submit/translate.h"

#include "engine_defaults.h"
#include "outputs.h"
#include "place.h"
#include "record.h"
#include "resources.h"
#include "told_to_steps.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/date_time.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/submit/refusal.h"
#include "slurm_shim/submit/schedule.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

namespace {

constexpr int k_lowest_priority = -1023;
constexpr int k_nice_offset = 200;

class Translator {
public:
  Translator(const Request& request,
             const Script& script,
             const config::Config& config,
             const EngineFacts& facts,
             const Situation& situation)
      : m_request(request), m_script(script), m_config(config), m_facts(facts),
        m_situation(situation) {}

  Result<Submission> run() {
    TRY(place_and_shape());
    name_and_directory();
    TRY(limits());
    TRY(clusters_and_reservation());
    policy();
    array();
    m_out.record = make_record(m_request, m_script, m_config, m_geometry, m_effective, m_situation);
    TRY(transport());
    m_out.qsub.extra.insert(
        m_out.qsub.extra.end(), m_config.qsub_extra_args.begin(), m_config.qsub_extra_args.end());
    m_out.qsub.arguments = m_situation.arguments;
    for (auto& text : standing_defaults(m_situation.request_files, m_out.qsub.resources))
      warn(std::move(text));
    if (m_config.strict_flags && !m_dropped.empty()) return refuse(m_dropped.front());
    m_out.partition = m_place.name;
    m_out.geometry = m_geometry;
    return std::move(m_out);
  }

private:
  void warn(std::string text) { m_out.warnings.push_back(std::move(text)); }
  // Nothing of it is asked for: an error under strict_flags.
  void drop(const std::string& text) {
    m_dropped.push_back(text);
    warn(text);
  }

  Result<void> place_and_shape() {
    TRY_ASSIGN(m_place, find_place(m_request, m_config, m_facts));
    for (auto& text : m_place.warnings)
      warn(std::move(text));
    const auto& partition = m_place.partition;
    const auto default_pe = partition.pe.empty() ? m_config.pe_name : partition.pe;
    auto by_layout = partition.pe_by_layout;
    if (by_layout.empty() && m_facts.pes) by_layout = family_by_name(default_pe, *m_facts.pes);
    TRY_ASSIGN(m_geometry, plan_geometry(make_shape()));
    if (!m_facts.has_par) round_up_to_pes(m_geometry, by_layout, partition.slots_per_node);
    for (const auto& text : m_geometry.slurm_warnings)
      m_out.notices.push_back("sbatch: Warning: " + text);
    for (const auto& text : m_geometry.warnings)
      warn(text);
    TRY_ASSIGN(const auto pinned,
               pin_layout(m_geometry, m_facts.has_par, m_place.name, default_pe, by_layout));
    TRY(check_queue_has_pe(m_place, m_facts, pinned.pe));
    for (const auto& text : pinned.warnings)
      warn(text);
    auto& qsub = m_out.qsub;
    qsub.queues = m_place.queues;
    qsub.pe = pinned.pe;
    qsub.slots = m_geometry.slots;
    qsub.par = pinned.par;
    qsub.master_par = pinned.master_par;
    qsub.slave_par = pinned.slave_par;
    return restrict_hosts(m_request, m_facts, m_geometry.nodes, qsub, m_out.warnings);
  }

  Shape make_shape() {
    const auto& partition = m_place.partition;
    Shape shape;
    if (m_request.nodes) {
      shape.nodes = m_request.nodes->min;
      shape.max_nodes = m_request.nodes->max;
    }
    shape.ntasks = m_request.ntasks.value_or(0);
    shape.tasks_per_node = m_request.tasks_per_node.value_or(0);
    shape.cpus_per_task = m_request.cpus_per_task.value_or(1);
    shape.spread = m_request.spread;
    shape.whole_nodes = takes_whole_nodes(m_request, m_config, partition);
    shape.overcommit = m_request.overcommit;
    shape.exclusive = m_request.exclusive.has_value();
    shape.least_slots = m_request.least_cpus.value_or(0);
    shape.slots_rule = partition.slots;
    shape.slots_per_node = partition.slots_per_node;
    shape.scoped_rules = m_facts.has_par;
    m_gpus = gpu_demand(m_request);
    shape_by_gpus(m_gpus, m_request, partition.gpus_per_node, shape);
    return shape;
  }

  Result<void> schedule() {
    auto& qsub = m_out.qsub;
    TRY_ASSIGN(
        const auto plan,
        plan_schedule(m_request, m_config, m_place.partition, m_facts, qsub.name, m_situation.now));
    m_effective.minutes = plan.minutes;
    m_effective.unknown_predecessors = plan.unknown;
    if (plan.minutes)
      qsub.resources.emplace_back("h_rt", fmt::format("{}", std::uint64_t{*plan.minutes} * 60));
    if (plan.begin) qsub.begin = ge::date_time_argument(*plan.begin);
    qsub.hold_jobs = plan.hold_jobs;
    qsub.hold_array_jobs = plan.hold_array_jobs;
    m_out.wait_for_starts = plan.wait_for_starts;
    for (const auto& text : plan.warnings)
      warn(text);
    return {};
  }

  Result<void> limits() {
    TRY(schedule());
    TRY_ASSIGN(const auto resources,
               plan_resources(m_request, m_config, m_facts, m_geometry, m_gpus));
    auto& list = m_out.qsub.resources;
    list.insert(list.end(), resources.requests.begin(), resources.requests.end());
    m_out.qsub.wishes = resources.wishes;
    for (const auto& text : resources.warnings)
      warn(text);
    for (const auto& text : resources.dropped)
      drop(text);
    const bool spans = m_geometry.nodes > 1;
    m_out.qsub.reserve =
        m_config.reserve == "always" || (m_config.reserve == "multi_node" && spans);
    return {};
  }

  void name_and_directory() {
    m_effective.partition = m_place.name;
    m_effective.directory = m_request.directory
                                ? posix::absolute(*m_request.directory, m_situation.directory)
                                : m_situation.directory;
    std::string fallback = m_script.wrapped ? "wrap" : "sbatch";
    if (!m_script.name.empty()) fallback = posix::base_name(m_script.name);
    m_effective.name = m_request.name.value_or(fallback);
    auto& qsub = m_out.qsub;
    // The engine puts a job whose directory is missing into error state; batch-exec goes to /tmp.
    qsub.directory = m_situation.chdir_is_missing ? m_situation.directory : m_effective.directory;
    qsub.name =
        m_config.job_name_sanitize ? ge::sanitize_job_name(m_effective.name) : m_effective.name;
    if (qsub.name != m_effective.name) {
      qsub.context.emplace_back("SLURM_NAME", m_effective.name);
      if (m_request.name)
        warn(fmt::format(
            R"(--job-name: Grid Engine's tools show "{}" as "{}")", m_effective.name, qsub.name));
    }
    m_effective.output =
        m_request.output.value_or(m_request.array ? "slurm-%A_%a.out" : "slurm-%j.out");
    m_effective.error = m_request.error;
    m_effective.input = m_request.input.value_or("/dev/null");
  }

  Result<void> clusters_and_reservation() {
    if (m_request.clusters && *m_request.clusters != "all")
      for (const auto name : split(*m_request.clusters, ','))
        if (name != m_situation.cluster)
          return refuse(fmt::format(
              "No cluster '{0}' known by database.\n'{0}' can't be reached now, or it is an "
              "invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available "
              "clusters.",
              name));
    if (!m_request.reservation || m_request.reservation->empty()) return {};
    m_out.qsub.advance_reservation = reservation_id(*m_request.reservation);
    if (m_out.qsub.advance_reservation.empty())
      return refuse_submission("Requested reservation is invalid");
    return {};
  }

  // The engine's number of a reservation by its number or its name; "" = there is none.
  [[nodiscard]] std::string reservation_id(const std::string& name) const {
    if (is_digits(name)) return name;
    if (!m_facts.reservations) return "";
    for (const auto& one : *m_facts.reservations)
      if (one.name == name) return one.id;
    return "";
  }

  void policy() {
    auto& qsub = m_out.qsub;
    m_effective.requeue = m_request.requeue.value_or(m_config.requeue_default);
    qsub.rerun = m_effective.requeue;
    qsub.hold = m_request.hold;
    qsub.scan_script = m_config.honor_ge_directives;
    qsub.shell = shell_for_queue(m_script.text);
    qsub.verify = m_config.submit_check ? ge::Verify::refuse : ge::Verify::none;
    account();
    if (m_request.nice && *m_request.nice > 0) {
      // The weight of a job's size outdoes priorities above about -200 (decision E11).
      qsub.priority = std::max(-k_nice_offset - std::min(*m_request.nice, -k_lowest_priority),
                               k_lowest_priority);
      warn(fmt::format("--nice: {} becomes Grid Engine's priority {}: less than {} would not count "
                       "against a job's size",
                       *m_request.nice,
                       qsub.priority,
                       k_nice_offset));
    }
    if (m_request.comment) qsub.context.emplace_back("SLURM_COMMENT", *m_request.comment);
    quality_of_service();
    mail();
    for (auto& text : told_to_steps(m_request))
      warn(std::move(text));
  }

  // A project must exist under its name; an account is any text without the engine's own marks.
  void account() {
    if (!m_request.account || m_request.account->empty()) return;
    const auto& asked = *m_request.account;
    auto& qsub = m_out.qsub;
    if (m_config.account_map == "project") {
      qsub.project = asked;
      return;
    }
    qsub.account = ge::sanitize_account(asked);
    if (qsub.account != asked)
      warn(fmt::format(R"(--account: Grid Engine's tools show "{}" as "{}")", asked, qsub.account));
  }

  void quality_of_service() {
    if (!m_request.qos) return;
    const auto it = m_config.qos.find(*m_request.qos);
    if (it == m_config.qos.end())
      drop(fmt::format("--qos: \"{}\" has no meaning here (config qos)", *m_request.qos));
    else
      m_out.qsub.extra = it->second;
  }

  void mail() {
    if (m_request.mail_user && !m_request.mail_user->empty())
      m_out.qsub.mail_users = *m_request.mail_user;
    if (!m_request.mail_types) return;
    const auto& types = *m_request.mail_types;
    std::string events;
    if (types.begin) events += 'b';
    if (types.end) events += 'e';
    if (types.fail || types.requeue) events += 'a';
    m_out.qsub.mail_events = events.empty() ? "n" : events;
    if (types.time_limit || types.time_limit_90 || types.time_limit_80 || types.time_limit_50 ||
        types.array_tasks)
      warn("--mail-type: TIME_LIMIT* and ARRAY_TASKS have no equivalent: no such mail is sent");
  }

  void array() {
    if (!m_request.array) return;
    auto& qsub = m_out.qsub;
    qsub.throttle = m_request.array->throttle;
    if (const auto native = slurm::native_range(*m_request.array)) {
      qsub.tasks = native->text();
      return;
    }
    qsub.tasks = fmt::format("1-{}", m_request.array->count());
    auto map = slurm::format_array_indices(m_request.array->indices);
    std::ranges::replace(map, ',', ';'); // a comma would end the pair
    qsub.context.emplace_back("SLURM_ARRAY", map);
  }

  // How environment and output travel (job-files 2-4).
  Result<void> transport() {
    auto& qsub = m_out.qsub;
    qsub.variables = m_situation.passed_variables;
    qsub.variables.insert(qsub.variables.begin(), "SLURM_SHIM_REQ");
    qsub.whole_environment = m_config.env_transport == "qsub" && m_request.exports.all;
    const bool ours = m_config.output_mode != "ge" && m_config.env_transport == "file" &&
                      (m_config.batch_supervisor == "always" || needs_supervisor());
    if (login_timeout(m_request) && m_config.env_transport != "file")
      warn("--get-user-env: the login environment is not read (config env_transport)");
    if (ours) {
      qsub.output = m_situation.log;
      return {};
    }
    const auto output = engine_path(m_effective.output, m_effective.directory);
    qsub.output = output.path;
    m_out.warnings.insert(m_out.warnings.end(), output.warnings.begin(), output.warnings.end());
    if (m_effective.error) {
      const auto error = engine_path(*m_effective.error, m_effective.directory);
      qsub.error = error.path;
      m_out.warnings.insert(m_out.warnings.end(), error.warnings.begin(), error.warnings.end());
    }
    if (m_request.input)
      qsub.input = ":" + posix::absolute(*m_request.input, m_effective.directory);
    return {};
  }

  // What only batch-exec can do.
  [[nodiscard]] bool needs_supervisor() const {
    return login_timeout(m_request) || m_request.signal ||
           m_request.open_mode == slurm::OpenMode::truncate ||
           !m_request.dependency.items.empty() || !m_request.exports.all ||
           !engine_path(m_effective.output, "/").warnings.empty();
  }

  const Request& m_request;
  const Script& m_script;
  const config::Config& m_config;
  const EngineFacts& m_facts;
  const Situation& m_situation;
  Place m_place;
  GpuDemand m_gpus;
  Geometry m_geometry;
  std::vector<std::string> m_dropped;
  Effective m_effective;
  Submission m_out;
};

} // namespace

Result<Submission> translate(const Request& request,
                             const Script& script,
                             const config::Config& config,
                             const EngineFacts& facts,
                             const Situation& situation) {
  return Translator(request, script, config, facts, situation).run();
}

} // namespace shim::submit
