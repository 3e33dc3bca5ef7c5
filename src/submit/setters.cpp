#include "setters.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/memory.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/submit/refusal.h"

#include <algorithm>
#include <array>

namespace shim::submit {

namespace {

tl::unexpected<Error> prefixed(const Error& e) {
  return refuse(e.message, e.exit_code);
}

template <class T, class Target> Result<void> store(Result<T> value, Target& target) {
  if (!value) return prefixed(value.error());
  target = std::move(*value);
  return {};
}

template <auto Member> Result<void> text(const SetterInput& in) {
  in.request.*Member = in.text();
  return {};
}

// --output, --error, --input: "none" in any case is /dev/null.
template <auto Member> Result<void> file_name(const SetterInput& in) {
  in.request.*Member = equals_ignore_case(in.text(), "none") ? "/dev/null" : in.text();
  return {};
}

template <auto Member> Result<void> flag(const SetterInput& in) {
  in.request.*Member = true;
  return {};
}

Result<void> positive(const SetterInput& in, std::string_view what, std::optional<int>& target) {
  return store(slurm::parse_positive(in.text(), what), target);
}

// A value that is only checked: the shim does nothing with it, but a mistake is told as in Slurm.
Result<void> checked(Result<void> check) {
  if (!check) return prefixed(check.error());
  return {};
}
template <class T> Result<void> checked(const Result<T>& check) {
  if (!check) return prefixed(check.error());
  return {};
}

Result<void>
set_time_point(const SetterInput& in, std::string_view option, std::optional<std::time_t>& target) {
  auto when = slurm::parse_date_time(in.text(), in.now);
  if (!when) { // Slurm prints the first line without its name
    auto refusal =
        refuse("Invalid --" + std::string(option) + " specification", slurm::k_exit_usage);
    refusal.value().message.insert(0, when.error().message + "\n");
    return refusal;
  }
  target = *when;
  return {};
}

Result<void> set_memory(const SetterInput& in, std::string_view option, MemoryPer per) {
  auto size = slurm::parse_memory(in.text(), option);
  if (!size) return prefixed(size.error());
  in.request.memory_given[per] = {*size, in.origin};
  return {};
}

// Slurm ignores these two where the site has not allowed them, and says so.
Result<void> ignore_spec(const SetterInput& in, std::string_view name) {
  in.request.notices.push_back("sbatch: error: Ignoring " + std::string(name) +
                               " since it's not allowed by configuration "
                               "(AllowSpecResourcesUsage = No)");
  return {};
}

// Jobs run as who calls sbatch, so nobody may choose; the words are Slurm's.
Result<void> only_root(std::string_view option) {
  return refuse("--" + std::string(option) + " only permitted by root user", slurm::k_exit_usage);
}

// [timeout][mode]: seconds, then S or L as the way of su(1), which has no meaning without su.
Result<void> set_login_environment(const SetterInput& in) {
  const auto text = in.text();
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  in.request.login_timeout_s = parse_int<int>(digits).value_or(0);
  return {};
}

struct Row {
  std::string_view option;
  Setter set;
};

using In = const SetterInput&;
namespace sl = slurm;

// Sorted by name.
constexpr std::array k_rows{
    Row{"account", text<&Request::account>},
    Row{"array", text<&Request::array_text>},
    Row{"begin", [](In in) { return set_time_point(in, "begin", in.request.begin); }},
    Row{"chdir", text<&Request::directory>},
    Row{"clusters", text<&Request::clusters>},
    Row{"comment", text<&Request::comment>},
    Row{"constraint", text<&Request::constraint>},
    Row{"core-spec", [](In in) { return ignore_spec(in, "-S"); }},
    Row{"cores-per-socket",
        [](In in) { return checked(sl::parse_positive(in.text(), "--cores-per-socket")); }},
    Row{"cpus-per-gpu",
        [](In in) { return positive(in, "--cpus-per-gpu", in.request.cpus_per_gpu); }},
    Row{"cpus-per-task",
        [](In in) { return positive(in, "--cpus-per-task", in.request.cpus_per_task); }},
    Row{"deadline", [](In in) { return set_time_point(in, "deadline", in.request.deadline); }},
    Row{"dependency", text<&Request::dependency_text>},
    Row{"distribution",
        [](In in) { return store(sl::parse_distribution(in.text()), in.request.distribution); }},
    Row{"error", file_name<&Request::error>},
    Row{"exclude", text<&Request::exclude>},
    Row{"exclusive",
        [](In in) {
          return store(sl::parse_exclusive(in.value && in.value->empty()
                                               ? std::nullopt
                                               : std::optional<std::string_view>(in.value)),
                       in.request.exclusive);
        }},
    Row{"export",
        [](In in) {
          in.request.export_text = in.text();
          return store(sl::parse_export(in.text()), in.request.exports);
        }},
    Row{"export-file", text<&Request::export_file>},
    Row{"extra-node-info",
        [](In in) {
          return store(sl::parse_extra_node_info(in.text()), in.request.extra_node_info);
        }},
    Row{"get-user-env", set_login_environment},
    Row{"gid", [](In) { return only_root("gid"); }},
    Row{"gpu-bind",
        [](In in) {
          in.request.gpu_bind = in.text();
          return checked(sl::parse_gpu_bind(in.text()));
        }},
    Row{"gpus", [](In in) { return store(sl::parse_gpus(in.text()), in.request.gpus); }},
    Row{"gpus-per-node",
        [](In in) { return store(sl::parse_gpus(in.text()), in.request.gpus_per_node); }},
    Row{"gpus-per-socket",
        [](In in) { return store(sl::parse_gpus(in.text()), in.request.gpus_per_socket); }},
    Row{"gpus-per-task",
        [](In in) { return store(sl::parse_gpus(in.text()), in.request.gpus_per_task); }},
    Row{"gres", [](In in) { return store(sl::parse_gres(in.text()), in.request.gres); }},
    Row{"hint",
        [](In in) {
          in.request.hint = in.text();
          if (in.text() == "help") return Result<void>{};
          return checked(sl::check_hint(in.text()));
        }},
    Row{"hold", flag<&Request::hold>},
    Row{"ignore-pbs", flag<&Request::ignore_pbs>},
    Row{"input", file_name<&Request::input>},
    Row{"job-name", text<&Request::name>},
    Row{"kill-on-invalid-dep",
        [](In in) {
          return store(sl::parse_yes_no(in.text(), "kill-on-invalid-dep"),
                       in.request.kill_on_invalid_dep);
        }},
    Row{"licenses", text<&Request::licenses>},
    Row{"mail-type",
        [](In in) { return store(sl::parse_mail_types(in.text()), in.request.mail_types); }},
    Row{"mail-user", text<&Request::mail_user>},
    Row{"mem", [](In in) { return set_memory(in, "mem", MemoryPer::node); }},
    Row{"mem-per-cpu", [](In in) { return set_memory(in, "mem-per-cpu", MemoryPer::cpu); }},
    Row{"mem-per-gpu", [](In in) { return set_memory(in, "mem-per-gpu", MemoryPer::gpu); }},
    Row{"mincpus", [](In in) { return positive(in, "--mincpus", in.request.least_cpus); }},
    Row{"nice",
        [](In in) {
          return store(sl::parse_nice(std::optional<std::string_view>(in.value)), in.request.nice);
        }},
    Row{"no-requeue",
        [](In in) {
          in.request.requeue = false;
          return Result<void>{};
        }},
    Row{"nodefile", text<&Request::nodefile>},
    Row{"nodelist", text<&Request::nodelist>},
    Row{"nodes", [](In in) { return store(sl::parse_node_count(in.text()), in.request.nodes); }},
    Row{"ntasks", [](In in) { return positive(in, "--ntasks", in.request.ntasks); }},
    Row{"ntasks-per-core",
        [](In in) { return positive(in, "--ntasks-per-core", in.request.tasks_per_core); }},
    Row{"ntasks-per-gpu",
        [](In in) { return positive(in, "--ntasks-per-gpu", in.request.tasks_per_gpu); }},
    Row{"ntasks-per-node",
        [](In in) { return positive(in, "--ntasks-per-node", in.request.tasks_per_node); }},
    Row{"ntasks-per-socket",
        [](In in) { return positive(in, "--ntasks-per-socket", in.request.tasks_per_socket); }},
    Row{"open-mode",
        [](In in) { return store(sl::parse_open_mode(in.text()), in.request.open_mode); }},
    Row{"output", file_name<&Request::output>},
    Row{"overcommit", flag<&Request::overcommit>},
    Row{"parsable", flag<&Request::parsable>},
    Row{"partition", text<&Request::partition>},
    Row{"prefer", text<&Request::prefer>},
    Row{"profile", [](In in) { return checked(sl::check_profile(in.text())); }},
    Row{"propagate",
        [](In in) {
          return in.text().empty() ? Result<void>{} : checked(sl::check_propagate(in.text()));
        }},
    Row{"qos", text<&Request::qos>},
    Row{"quiet", flag<&Request::quiet>},
    Row{"requeue",
        [](In in) {
          in.request.requeue = true;
          return Result<void>{};
        }},
    Row{"reservation", text<&Request::reservation>},
    Row{"signal", [](In in) { return store(sl::parse_signal_spec(in.text()), in.request.signal); }},
    Row{"sockets-per-node",
        [](In in) { return positive(in, "--sockets-per-node", in.request.sockets_per_node); }},
    Row{"spread-job", flag<&Request::spread>},
    Row{"switches", [](In in) { return checked(sl::parse_switches(in.text())); }},
    Row{"test-only", flag<&Request::test_only>},
    Row{"thread-spec", [](In in) { return ignore_spec(in, "--thread-spec"); }},
    Row{"threads-per-core",
        [](In in) { return positive(in, "--threads-per-core", in.request.threads_per_core); }},
    Row{"time", [](In in) { return store(sl::parse_time_limit(in.text()), in.request.minutes); }},
    Row{"time-min",
        [](In in) {
          return store(sl::parse_time_limit(in.text(), "time-min"), in.request.minutes_min);
        }},
    Row{"tmp",
        [](In in) { return store(sl::parse_memory(in.text(), "tmp"), in.request.tmp_mebibytes); }},
    Row{"uid", [](In) { return only_root("uid"); }},
    Row{"verbose",
        [](In in) { // SBATCH_DEBUG=2 is -vv
          const auto level = in.value ? parse_int<int>(*in.value) : std::nullopt;
          in.request.verbose = level ? *level : in.request.verbose + 1;
          return Result<void>{};
        }},
    Row{"wait", flag<&Request::wait>},
    Row{"wrap", text<&Request::wrap>},
};
static_assert(std::ranges::is_sorted(k_rows, {}, &Row::option));

} // namespace

Setter find_setter(std::string_view option) {
  const auto it = std::ranges::lower_bound(k_rows, option, {}, &Row::option);
  return it != k_rows.end() && it->option == option ? it->set : nullptr;
}

} // namespace shim::submit
