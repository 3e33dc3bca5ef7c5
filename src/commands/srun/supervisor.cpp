#include "supervisor.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/launch/address.h"
#include "slurm_shim/launch/preflight.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"

#include <csignal>

#include <unistd.h>

namespace shim::commands::srun {

using namespace std::chrono_literals;

namespace {

// How long srun stays for steppers that have nothing more to say (decision 7a).
constexpr auto k_stepper_wait = 5s;
constexpr auto k_kill_wait_local = 1s;

// Spreads the steps of a host over the port range; need not be secret.
std::uint32_t port_offset(const StepPlan& plan) {
  auto hash = static_cast<std::uint64_t>(plan.ground.layout.job.job_id);
  for (const auto part : {plan.step_id, static_cast<int>(::getpid())})
    hash = (hash ^ static_cast<std::uint64_t>(part)) * std::uint64_t{0x9E3779B97F4A7C15};
  return static_cast<std::uint32_t>(hash >> 33U);
}

tl::unexpected<Error> launch_error(Error error) {
  error.exit_code = slurm::k_exit_launch;
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

Supervisor::Supervisor(context::Context& ctx,
                       const StepPlan& plan,
                       std::optional<records::StepRegistration> registration)
    : m_ctx(ctx), m_plan(plan), m_receive_buffer(new char[proto::k_receive_buffer]),
      m_registration(std::move(registration)), m_hosts(plan.hosts.size()),
      m_ranks(plan.placement.ranks.size(), RankState::unseen), m_rank_codes(m_ranks.size(), 0),
      m_report(plan.request.kill_on_bad_exit) {
  for (std::size_t i = 0; i < m_hosts.size(); ++i)
    m_hosts[i].unreported = plan.hosts[i].ranks.size();
}

Supervisor::~Supervisor() {
  // Not an owned descriptor: the writer closes it.
  if (m_writer_progress) static_cast<void>(m_writer_progress->release());
}

int Supervisor::launch() {
  const auto started = [&]() -> Result<void> {
    TRY(open_output());
    TRY(open_input());
    watch_signals();
    TRY(open_listener());
    TRY(preflight());
    return start_steppers();
  }();
  if (!started) {
    fail_launch(started.error().message, started.error().exit_code);
  } else {
    tick();
    m_loop.run(); // until end_step()
  }
  return finish();
}

// --- set-up --------------------------------------------------------------------------------------

Result<void> Supervisor::open_output() {
  m_writer.add_sink(1, "stdout");
  m_writer.add_sink(2, "stderr");
  const auto ntasks = static_cast<int>(m_ranks.size());
  const auto& request = m_plan.request;
  m_output.emplace(m_writer, mux::LineFormat(request.label, request.unbuffered, ntasks), ntasks);
  return open_shared_files(m_plan.routes, request.open_append, m_writer, *m_output);
}

Result<void> Supervisor::open_listener() {
  proto::BindRequest bind;
  bind.any_address = m_plan.any_remote;
  if (m_plan.any_remote) {
    bind.first_port = m_ctx.config.control_port.first;
    bind.last_port = m_ctx.config.control_port.last;
    bind.start = port_offset(m_plan);
  }
  auto bound = proto::bind_listener(bind);
  if (!bound) return launch_error(std::move(bound).error());
  m_control.port = bound->port;
  m_control.host = "127.0.0.1";
  if (m_plan.any_remote) {
    // A step in another job is led from here, not from that job's master host.
    const auto& layout_master = m_plan.ground.layout.nodes[0];
    const auto ip = m_plan.is_relay ? std::string() : layout_master.ip;
    const auto host = m_plan.is_relay ? posix::host_name() : layout_master.host;
    auto chosen = launch::choose_dial_address(
        m_ctx.runner, {m_ctx.config.control_address, ip, host}, launch::list_interfaces());
    m_control.host = std::move(chosen.first);
    m_control.others = std::move(chosen.others);
  }
  log::debug("control channel at {}:{}", m_control.host, m_control.port);
  proto::Listener::Events events;
  events.admit = [this](const std::string& name) {
    for (std::size_t i = 0; i < m_hosts.size(); ++i)
      if (m_plan.hosts[i].name == name)
        return m_hosts[i].channel ? proto::Admission::duplicate : proto::Admission::ok;
    return proto::Admission::unknown_host;
  };
  events.on_host = [this](const std::string& name, const std::shared_ptr<proto::Channel>& channel) {
    on_host(name, channel);
  };
  events.on_version = [this](const std::string& name, const std::string& version) {
    fail_launch("stepper on " + name + " speaks another protocol (\"" + sanitize_utf8(version) +
                    "\", this srun \"" + std::string(proto::k_version_text) +
                    "\"): the same slurm-shim must be installed on all hosts",
                slurm::k_exit_launch);
  };
  events.on_rejected = [this](const std::string& why) {
    log::debug("connection closed: {}", why);
    if (!std::exchange(m_has_rejection_warning, true))
      say("warning: closed a connection to the control port: " + why);
  };
  m_listener.emplace(m_loop,
                     std::move(bound->fd),
                     m_token,
                     std::span<char>(m_receive_buffer.get(), proto::k_receive_buffer),
                     std::move(events));
  m_listener->start();
  return {};
}

Result<void> Supervisor::preflight() {
  const auto& pe_name = m_plan.ground.layout.job.pe_name;
  if (!m_plan.any_remote || pe_name.empty()) return {};
  const records::JobFolder folder(m_plan.ground.folder);
  const bool has_folder = !m_plan.ground.folder.empty();
  auto answer = has_folder ? records::read_preflight(folder) : std::nullopt;
  const bool is_new = !answer;
  if (is_new) {
    answer = launch::ask_preflight(ge::Tools(m_ctx.runner, m_plan.env, m_ctx.config.qstat_timeout),
                                   pe_name);
    if (const auto kept = has_folder ? records::write_preflight(folder, *answer) : Result<void>();
        !kept)
      log::debug("preflight answer not kept: {}", kept.error().message);
  }
  const auto verdict = launch::judge_preflight(*answer, pe_name);
  if (!verdict.ok) return fail(ErrorKind::refused, verdict.error, slurm::k_exit_launch);
  // Once per job, not once per step.
  if (is_new && !verdict.warning.empty()) say("warning: " + verdict.warning);
  return {};
}

Result<void> Supervisor::start_steppers() {
  Fleet::Setup setup;
  TRY_ASSIGN(setup.self, posix::self_path());
  setup.env = m_ctx.env;
  setup.ramp = m_ctx.config.launch_ramp;
  if (m_plan.any_remote) {
    auto qrsh = ge::locate_tool(m_plan.env, "qrsh");
    if (!qrsh) return launch_error(std::move(qrsh).error());
    setup.qrsh = std::move(*qrsh);
  }
  std::vector<Fleet::Member> members;
  for (std::size_t i = 0; i < m_plan.hosts.size(); ++i) {
    const auto& host = m_plan.hosts[i];
    proto::Envelope envelope;
    envelope.job_id = m_plan.ground.layout.job.job_id;
    envelope.step_id = m_plan.step_id;
    envelope.host = host.name;
    envelope.node_id = static_cast<int>(i);
    const auto port = ":" + std::to_string(m_control.port);
    envelope.dial = (host.remote ? m_control.host : "127.0.0.1") + port;
    if (host.remote)
      for (const auto& other : m_control.others)
        envelope.dial_alt.push_back(other + port);
    members.push_back({host.name, host.engine_name, proto::encode_envelope(envelope), host.remote});
  }
  Fleet::Events events;
  events.on_fatal = [this](const std::string& message) {
    fail_launch(message, slurm::k_exit_launch);
  };
  events.on_ended = [this](std::size_t member) {
    if (!m_hosts[member].is_done) m_hosts[member].process_ended = Clock::now();
    if (m_phase == Phase::ending && m_fleet->running() == 0) m_loop.stop();
  };
  events.is_host_busy = [this](const std::string& host) {
    return !m_plan.ground.standalone &&
           records::find_step_on_host(
               records::JobFolder(m_plan.ground.folder), host, m_plan.step_id)
               .has_value();
  };
  events.on_slots_wait = [this] {
    if (!std::exchange(m_has_slots_notice, true))
      info("Job " + std::to_string(m_plan.ground.slurm_job_id) +
           " step creation temporarily disabled, retrying (Requested nodes are busy)");
  };
  events.on_client_text = [this](std::string_view text) { raw(std::string(text)); };
  m_fleet = std::make_unique<Fleet>(
      m_loop, m_token, std::move(setup), std::move(members), std::move(events));
  m_fleet->start();
  return {};
}

// --- hand-shake ----------------------------------------------------------------------------------

void Supervisor::on_host(const std::string& name, const std::shared_ptr<proto::Channel>& channel) {
  std::size_t index = 0;
  while (m_plan.hosts[index].name != name)
    ++index;
  if (m_phase != Phase::launching) return channel->close();
  m_hosts[index].channel = channel;
  proto::Channel::Events events;
  events.on_frame = [this, index](const proto::FrameView& frame) { return on_frame(index, frame); };
  events.on_closed = [this, index](const std::string& why) { on_host_closed(index, why); };
  events.on_batch_done = [this] { flush_output(); };
  channel->hand_over(std::move(events));
  m_fleet->connected(index);
  if (++m_connected == m_hosts.size()) send_specs();
}

void Supervisor::send_specs() {
  m_listener->close(); // frees the port for the next step, and ends the attack surface
  m_phase = Phase::running;
  raw(""); // takes the progress line away
  start_limits(Clock::now());
  if (m_has_slots_notice)
    info("Step created for job " + std::to_string(m_plan.ground.slurm_job_id));
  const proto::StepSpecEncoder encoder(make_step_spec(m_ctx, m_plan, m_control));
  for (std::size_t i = 0; i < m_hosts.size(); ++i) {
    auto tail = proto::StepSpecEncoder::tail(make_rank_specs(m_ctx, m_plan, i));
    if (encoder.head()->size() + tail.size() > proto::k_max_spec)
      return fail_launch("environment and arguments are too large: " +
                             std::to_string(encoder.head()->size() + tail.size()) +
                             " bytes, at most " + std::to_string(proto::k_max_spec),
                         slurm::k_exit_launch);
    m_hosts[i].channel->send_spec(encoder.head(), std::move(tail));
  }
  if (m_plan.ground.batch) {
    records::StepStartEvent event;
    event.t_ms = m_ctx.clock.unix_ms();
    event.step = m_plan.step_id;
    event.name = m_plan.name;
    event.cmd = m_plan.request.command[0];
    std::vector<std::string> names;
    for (const auto& host : m_plan.hosts)
      names.push_back(host.name);
    event.hosts = slurm::compress_hostlist(names);
    event.nodes = static_cast<int>(names.size());
    event.ntasks = static_cast<int>(m_ranks.size());
    event.cpus = event.ntasks * m_plan.placement.cpus_per_task;
    if (const auto told = records::JobRecordWriter(*m_plan.ground.batch).step_start(event); !told)
      log::debug("job record: {}", told.error().message);
  }
  start_input();
  for (const int number : std::exchange(m_pending_signals, {}))
    send_signal(number);
}

std::string Supervisor::missing_hosts() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < m_hosts.size(); ++i)
    if (!m_hosts[i].channel) names.push_back(m_plan.hosts[i].name);
  return slurm::compress_hostlist(names);
}

// --- the end -------------------------------------------------------------------------------------

void Supervisor::fail_launch(const std::string& message, int code) {
  if (m_launch_code != 0) return; // the first failure is the cause
  m_launch_code = code;
  m_end_reason = "launch";
  raw("");
  if (!message.empty()) say("error: " + message);
  end_step();
}

void Supervisor::end_step() {
  if (m_phase == Phase::ending) return;
  m_phase = Phase::ending;
  if (m_fleet) m_fleet->stop();
  if (m_listener) m_listener->close();
  if (m_input) m_input->stop();
  m_ticker.cancel();
  m_kill_timer.cancel();
  m_report_timer.cancel();
  m_loop.stop();
}

// Steppers that have reported everything end by themselves; after a failed launch the closed
// channel tells them to. A local one that does not is ended here, a qrsh is left to its stepper.
void Supervisor::wait_for_steppers() {
  if (!m_fleet) return;
  if (m_launch_code != 0 || m_forced_code != 0) {
    // The signal first: a stepper that sees only the lost channel complains about it.
    m_fleet->signal_local(SIGTERM);
    for (auto& host : m_hosts)
      if (host.channel) host.channel->close();
  }
  const auto wait_until_gone = [this](std::chrono::milliseconds longest) {
    const auto end = Clock::now() + longest;
    while (m_fleet->running() > 0 && m_leave_signal == 0 && Clock::now() < end) {
      m_loop.restart();
      m_loop.run_until(end);
      m_fleet->reap();
    }
  };
  m_fleet->reap();
  wait_until_gone(k_stepper_wait);
  if (m_fleet->running() == 0) return;
  m_fleet->signal_local(SIGKILL);
  wait_until_gone(k_kill_wait_local);
}

// Not by drain(): a reader that has stopped must not make srun deaf to signals.
void Supervisor::wait_for_writer() {
  flush_output();
  while (!m_writer.is_idle() && m_leave_signal == 0) {
    m_loop.restart();
    m_loop.run_one();
  }
  if (!m_writer.is_idle()) m_writer.abandon();
}

int Supervisor::finish() {
  leave_terminal();
  report_ends();
  for (std::size_t rank = 0; rank < m_ranks.size(); ++rank)
    if (m_output) m_output->finish_rank(static_cast<int>(rank));
  wait_for_writer();
  wait_for_steppers();
  wait_for_writer(); // what the clients said at last
  int code = m_launch_code != 0   ? m_launch_code
             : m_forced_code != 0 ? m_forced_code
                                  : m_report.step_code();
  if (code == 0 && m_leave_signal != 0) code = slurm::signal_exit(m_leave_signal);
  for (const auto& error : m_writer.take_errors()) {
    m_ctx.error(error);
    m_has_write_error = true;
  }
  if (m_has_write_error && code == 0) code = slurm::k_exit_failure;
  if (m_plan.ground.batch && m_phase == Phase::ending && m_launch_code == 0) {
    records::StepEndEvent event;
    event.t_ms = m_ctx.clock.unix_ms();
    event.step = m_plan.step_id;
    event.code = code;
    event.sig = m_report.last_signal();
    event.max_code = m_report.highest_code();
    event.reason = m_end_reason;
    if (const auto told = records::JobRecordWriter(*m_plan.ground.batch).step_end(event); !told)
      log::debug("job record: {}", told.error().message);
  }
  return m_writer.broken_pipe() ? slurm::signal_exit(SIGPIPE) : code;
}

void Supervisor::raw(const std::string& text) {
  // A raw terminal does not go back to the first column by itself.
  const auto shown = m_terminal ? join(split(text, '\n'), "\r\n") : text;
  m_writer.buffer(k_stderr_sink) += m_progress.hide() + shown;
  flush_output();
}

void Supervisor::say(const std::string& text) {
  raw("srun: " + text + "\n");
}

void Supervisor::info(const std::string& text) {
  if (!m_plan.request.quiet) say(text);
}

} // namespace shim::commands::srun
