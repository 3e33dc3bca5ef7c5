#include "translate.h"

#include "outputs.h"
#include "place.h"
#include "record.h"
#include "refusal.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::commands::sbatch {

namespace {

constexpr int k_lowest_priority = -1023;

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
    TRY(limits());
    name_and_directory();
    TRY(clusters_and_reservation());
    policy();
    array();
    dependencies();
    m_out.record = make_record(m_request, m_script, m_config, m_geometry, m_effective, m_situation);
    TRY(transport());
    m_out.qsub.extra.insert(
        m_out.qsub.extra.end(), m_config.qsub_extra_args.begin(), m_config.qsub_extra_args.end());
    m_out.qsub.arguments = m_situation.arguments;
    return std::move(m_out);
  }

private:
  void warn(std::string text) { m_out.warnings.push_back(std::move(text)); }

  Result<void> place_and_shape() {
    TRY_ASSIGN(m_place, find_place(m_request, m_config, m_facts));
    for (auto& text : m_place.warnings)
      warn(std::move(text));
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
    shape.slots_rule = partition.slots;
    shape.slots_per_node = partition.slots_per_node;
    shape.scoped_rules = m_facts.has_par;
    TRY_ASSIGN(m_geometry, plan_geometry(shape));
    for (const auto& text : m_geometry.slurm_warnings)
      m_out.notices.push_back("sbatch: Warning: " + text);
    for (const auto& text : m_geometry.warnings)
      warn(text);
    const auto default_pe = partition.pe.empty() ? m_config.pe_name : partition.pe;
    TRY_ASSIGN(
        const auto pinned,
        pin_layout(m_geometry, m_facts.has_par, m_place.name, default_pe, partition.pe_by_layout));
    for (const auto& text : pinned.warnings)
      warn(text);
    auto& qsub = m_out.qsub;
    qsub.queues = m_place.queues;
    qsub.pe = pinned.pe;
    qsub.slots = m_geometry.slots;
    qsub.par = pinned.par;
    qsub.master_par = pinned.master_par;
    qsub.slave_par = pinned.slave_par;
    return restrict_hosts(m_request, m_facts, m_geometry.nodes, qsub);
  }

  Result<void> limits() {
    const auto& partition = m_place.partition;
    if (m_request.minutes) {
      if (*m_request.minutes != slurm::k_unlimited_minutes)
        m_effective.minutes = *m_request.minutes;
    } else if (partition.default_time_min) {
      m_effective.minutes = static_cast<std::uint32_t>(*partition.default_time_min);
    }
    if (m_effective.minutes)
      m_out.qsub.resources.emplace_back(
          "h_rt", fmt::format("{}", std::uint64_t{*m_effective.minutes} * 60));
    const bool too_long =
        partition.max_time_min &&
        (!m_effective.minutes ||
         *m_effective.minutes > static_cast<std::uint32_t>(*partition.max_time_min));
    if (too_long && m_request.minutes)
      warn(fmt::format("--time: longer than the {} minutes of partition {}",
                       *partition.max_time_min,
                       m_place.name));
    TRY(add_resources(m_request, m_config, m_out.qsub, m_out.warnings));
    if (m_request.memory)
      add_memory(*m_request.memory,
                 m_config,
                 m_facts,
                 m_geometry,
                 slots_on_a_host(),
                 m_out.qsub,
                 m_out.warnings);
    const bool spans = m_geometry.nodes > 1;
    m_out.qsub.reserve =
        m_config.reserve == "always" || (m_config.reserve == "multi_node" && spans);
    return {};
  }

  // 0 = the layout is open.
  [[nodiscard]] int slots_on_a_host() const {
    switch (m_geometry.rule.kind) {
    case Rule::Kind::pe_slots: return static_cast<int>(m_geometry.slots);
    case Rule::Kind::fixed: return m_geometry.rule.count;
    case Rule::Kind::scoped: return std::min(m_geometry.rule.count, m_geometry.rule.master);
    default: return 0;
    }
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
    qsub.directory = m_effective.directory;
    qsub.name =
        m_config.job_name_sanitize ? ge::sanitize_job_name(m_effective.name) : m_effective.name;
    if (qsub.name != m_effective.name) {
      qsub.context.emplace_back("SLURM_NAME", m_effective.name);
      if (m_request.name)
        warn(fmt::format(
            "--job-name: Grid Engine's tools show \"{}\" as \"{}\"", m_effective.name, qsub.name));
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
    if (!is_digits(*m_request.reservation))
      return refuse_submission("Requested reservation is invalid");
    m_out.qsub.advance_reservation = *m_request.reservation;
    return {};
  }

  void policy() {
    auto& qsub = m_out.qsub;
    m_effective.requeue = m_request.requeue.value_or(m_config.requeue_default);
    qsub.rerun = m_effective.requeue;
    qsub.hold = m_request.hold;
    qsub.scan_script = m_config.honor_ge_directives;
    qsub.shell = shell_for_queue(m_script.text);
    qsub.verify = m_config.submit_check ? ge::Verify::refuse : ge::Verify::none;
    if (m_request.account && !m_request.account->empty())
      (m_config.account_map == "project" ? qsub.project : qsub.account) = *m_request.account;
    if (m_request.nice && *m_request.nice > 0) {
      qsub.priority = std::max(-*m_request.nice, k_lowest_priority);
      warn("--nice: below about 200 Grid Engine's weight of a job's size counts for more");
    }
    if (m_request.begin && *m_request.begin > m_situation.now) qsub.begin = begin_text();
    if (m_request.comment) qsub.context.emplace_back("SLURM_COMMENT", *m_request.comment);
    quality_of_service();
    mail();
  }

  // -a [[CC]YY]MMDDhhmm[.SS], local time.
  [[nodiscard]] std::string begin_text() const {
    std::tm local{};
    const std::time_t when = *m_request.begin;
    ::localtime_r(&when, &local);
    return fmt::format("{:04}{:02}{:02}{:02}{:02}.{:02}",
                       local.tm_year + 1900,
                       local.tm_mon + 1,
                       local.tm_mday,
                       local.tm_hour,
                       local.tm_min,
                       local.tm_sec);
  }

  void quality_of_service() {
    if (!m_request.qos) return;
    const auto it = m_config.qos.find(*m_request.qos);
    if (it == m_config.qos.end())
      warn(fmt::format("--qos: \"{}\" has no meaning here (config qos)", *m_request.qos));
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

  void add_hold(std::vector<std::string>& list, const std::string& job) {
    if (std::ranges::count(list, job) == 0) list.push_back(job);
  }

  void dependencies() {
    using Type = slurm::DependencyType;
    auto& qsub = m_out.qsub;
    for (const auto& item : m_request.dependency.items) {
      if (item.type == Type::singleton) {
        add_hold(qsub.hold_jobs, qsub.name);
        continue;
      }
      const auto job = std::to_string(slurm::decode_job_id(item.job).job);
      const bool by_element = item.type == Type::after_corr && m_request.array;
      add_hold(by_element ? qsub.hold_array_jobs : qsub.hold_jobs, job);
      warn_about(item, job);
    }
    if (m_request.dependency.any && m_request.dependency.items.size() > 1)
      warn("--dependency: '?' is not available: the job waits for all of them");
  }

  void warn_about(const slurm::Dependency& item, const std::string& job) {
    using Type = slurm::DependencyType;
    const auto type = slurm::dependency_name(item.type);
    if (item.array_index)
      warn(fmt::format("--dependency: the job waits for all elements of {}", job));
    if (item.type == Type::after)
      warn(fmt::format(
          "--dependency: {}:{} waits for the end of the job, not for its start", type, job));
    else if (item.type != Type::after_any)
      warn(fmt::format(
          "--dependency: {}:{} waits for the end of the job whatever its exit status", type, job));
    if (item.delay_minutes > 0 && item.type == Type::after)
      warn(fmt::format("--dependency: the delay of {} minutes is dropped", item.delay_minutes));
  }

  // How environment and output travel (job-files 2-4).
  Result<void> transport() {
    auto& qsub = m_out.qsub;
    qsub.variables = m_situation.passed_variables;
    qsub.variables.insert(qsub.variables.begin(), "SLURM_SHIM_REQ");
    qsub.whole_environment = m_config.env_transport == "qsub" && m_request.exports.all;
    const bool ours = m_config.output_mode != "ge" && m_config.env_transport == "file" &&
                      (m_config.batch_supervisor == "always" || needs_supervisor());
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
    return m_request.signal || m_request.open_mode == slurm::OpenMode::truncate ||
           !m_request.dependency.items.empty() || !m_request.exports.all ||
           !engine_path(m_effective.output, "/").warnings.empty();
  }

  const Request& m_request;
  const Script& m_script;
  const config::Config& m_config;
  const EngineFacts& m_facts;
  const Situation& m_situation;
  Place m_place;
  Geometry m_geometry;
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

} // namespace shim::commands::sbatch
