#include "slurm_shim/ge/qsub.h"

#include "args.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace shim::ge {

namespace {

void add_fixed_part(const QsubRequest& r, Args& args) {
  args.add("-terse");
  if (!r.scan_script) {
    args.add("-C");
    args.add("");
  }
  for (const auto* word : {"-b", "n", "-shell", "y"})
    args.add(word);
  args.option("-S", r.shell);
  add_verify(r, args);
}

void add_job(const QsubRequest& r, Args& args) {
  args.option("-N", r.name);
  args.option("-o", r.output);
  // Always said: a request file may say the contrary.
  args.option("-e", r.error);
  args.option("-j", r.error.empty() ? "y" : "n");
  args.option("-i", r.input);
  args.option("-wd", r.directory);
  if (r.whole_environment) args.add("-V");
  args.list("-v", r.variables);
  args.option("-t", r.tasks);
  if (r.throttle > 0) args.option("-tc", std::to_string(r.throttle));
  args.option("-r", r.rerun ? "y" : "n");
  if (r.reserve) args.option("-R", "y");
  if (r.hold) args.add("-h");
}

void add_policy(const QsubRequest& r, Args& args) {
  args.option("-a", r.begin);
  add_accounts(r, args);
  add_needs(r, args);
}

} // namespace

void add_verify(const QsubRequest& r, Args& args) {
  constexpr std::array k_levels{"n", "e", "v"};
  args.option("-w", k_levels[static_cast<std::size_t>(r.verify)]);
}

void add_placement(const QsubRequest& r, Args& args) {
  args.list("-q", r.queues);
  args.list("-masterq", r.master_queues);
  if (!r.pe.empty()) {
    args.add("-pe");
    args.add(r.pe);
    args.add(std::to_string(r.slots));
  }
  args.option("-par", r.par);
}

void add_accounts(const QsubRequest& r, Args& args) {
  args.option("-A", r.account);
  args.option("-P", r.project);
  if (r.priority != 0) args.option("-p", std::to_string(r.priority));
  args.option("-m", r.mail_events);
  args.option("-M", r.mail_users);
}

void add_needs(const QsubRequest& r, Args& args) {
  std::vector<std::pair<std::string, std::string>> context;
  for (const auto& [key, value] : r.context)
    context.emplace_back(key, encode_context(value));
  args.pairs("-ac", context);
  args.option("-ar", r.advance_reservation);
  args.list("-hold_jid", r.hold_jobs);
  args.list("-hold_jid_ad", r.hold_array_jobs);
  args.pairs("-l", r.resources);
  if (r.wishes.empty()) return;
  args.add("-soft");
  args.pairs("-l", r.wishes);
  args.add("-hard");
}

// Last, because a scope stays in force for what follows it.
void add_scopes(const QsubRequest& r, Args& args) {
  if (r.master_par.empty()) return;
  for (const std::string_view word : {std::string_view("-scope"),
                                      std::string_view("master"),
                                      std::string_view("-par"),
                                      std::string_view(r.master_par),
                                      std::string_view("-scope"),
                                      std::string_view("slave"),
                                      std::string_view("-par"),
                                      std::string_view(r.slave_par),
                                      std::string_view("-scope"),
                                      std::string_view("global")})
    args.add(word);
}

std::vector<std::string> build_qsub_args(const QsubRequest& request) {
  Args args;
  add_fixed_part(request, args);
  add_placement(request, args);
  add_job(request, args);
  add_policy(request, args);
  add_scopes(request, args);
  args.append(request.extra);
  args.add(request.script);
  args.append(request.arguments);
  return std::move(args).take();
}

std::string encode_context(std::string_view value) {
  return percent_encode(value, "._:;+-");
}

namespace {

std::string replace_forbidden(std::string_view name) {
  constexpr std::size_t k_max_name = 512;
  constexpr std::string_view k_forbidden = "/:@\\*?";
  // Blanks and bytes beyond ASCII too: the qmaster of 8.1.9 breaks off ("Error reading answer
  // list").
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  std::string out;
  for (const char c : name.substr(0, k_max_name))
    out += is_plain(c) && k_forbidden.find(c) == std::string_view::npos ? c : '_';
  return out;
}

} // namespace

std::string sanitize_job_name(std::string_view name) {
  constexpr std::size_t k_max_name = 512;
  auto out = replace_forbidden(name);
  const bool reserved = equals_ignore_case(out, "none") || equals_ignore_case(out, "all") ||
                        equals_ignore_case(out, "template");
  if (out.empty() || reserved || is_digits(out.substr(0, 1))) out.insert(0, 1, '_');
  return out.substr(0, k_max_name);
}

std::string sanitize_account(std::string_view name) {
  return replace_forbidden(name);
}

QsubAbilities parse_qsub_help(std::string_view help) {
  QsubAbilities abilities;
  for (const auto line : split(help, '\n'))
    if (trim(line).starts_with("[-par")) abilities.par = true;
  return abilities;
}

Result<QsubAbilities> probe_qsub(const Tools& tools) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qsub", .args = {"-help"}}));
  return parse_qsub_help(output.out);
}

std::optional<std::int64_t> parse_job_number(std::string_view terse_output) {
  std::optional<std::int64_t> job;
  for (const auto raw : split(terse_output, '\n')) {
    const auto line = trim(raw);
    const auto dot = line.find('.');
    const auto number = line.substr(0, dot);
    if (!is_digits(number)) continue;
    const bool range_fits =
        dot == std::string_view::npos ||
        line.find_first_not_of("0123456789-:", dot + 1) == std::string_view::npos;
    if (range_fits)
      if (const auto value = parse_int<std::int64_t>(number)) job = value;
  }
  return job;
}

namespace {

// Engine's chatter around a refusal: "Unable to run job: <reason>.", "Exiting.".
std::string one_line(std::string_view output) {
  constexpr std::string_view k_prefix = "Unable to run job: ";
  std::vector<std::string> parts;
  for (const auto raw : split(output, '\n')) {
    auto line = trim(raw);
    if (line.empty() || line == "Exiting.") continue;
    if (line.starts_with(k_prefix)) line.remove_prefix(k_prefix.size());
    while (line.ends_with('.'))
      line.remove_suffix(1);
    parts.emplace_back(line);
  }
  return join(parts, "; ");
}

struct Known {
  std::string_view text; // lower case, found anywhere
  RefusalKind kind;
  std::string_view reason;
};

constexpr std::string_view k_no_controller = "Unable to contact slurm controller (connect failure)";
constexpr std::string_view k_no_node = "Invalid node name specified";

// First match wins.
constexpr std::array k_known{
    Known{"unable to send message to qmaster", RefusalKind::unreachable, k_no_controller},
    Known{"unable to contact qmaster", RefusalKind::unreachable, k_no_controller},
    Known{"unable to initialize environment", RefusalKind::unreachable, k_no_controller},
    Known{"commlib error", RefusalKind::unreachable, k_no_controller},
    Known{"can't resolve hostname", RefusalKind::unknown_host, k_no_node},
    Known{"unable to resolve host", RefusalKind::unknown_host, k_no_node},
    Known{"no suitable queues",
          RefusalKind::impossible,
          "Requested node configuration is not available"},
    Known{"unknown queue", RefusalKind::unknown_queue, "Invalid partition name specified"},
    Known{"parallel environment", RefusalKind::unknown_pe, "Unspecified error"},
    Known{"invalid task id", RefusalKind::array, "Invalid job array specification"},
    Known{"try to submit a job with more than",
          RefusalKind::array,
          "Invalid job array specification"},
    Known{"requested project",
          RefusalKind::account,
          "Invalid account or account/partition combination specified"},
    Known{"no submit host", RefusalKind::access, "Access/permission denied"},
    Known{"is not allowed to submit", RefusalKind::access, "Access/permission denied"},
    Known{"exceeds job limit",
          RefusalKind::limit,
          "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
    Known{"only allows",
          RefusalKind::limit,
          "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
};

} // namespace

Refusal classify_refusal(std::string_view output) {
  Refusal refusal;
  refusal.detail = one_line(output);
  refusal.reason = "Unspecified error";
  const auto lower = to_lower(output);
  const auto* known = std::ranges::find_if(
      k_known, [&](const Known& k) { return lower.find(k.text) != std::string::npos; });
  if (known == k_known.end()) return refusal;
  refusal.kind = known->kind;
  refusal.reason = known->reason;
  // unknown queue "batch.q@nosuch": the queue instance's host
  if (refusal.kind == RefusalKind::unknown_queue) {
    const auto queue = output.substr(lower.find(known->text));
    if (queue.substr(0, queue.find('\n')).find('@') != std::string_view::npos) {
      refusal.kind = RefusalKind::unknown_host;
      refusal.reason = k_no_node;
    }
  }
  return refusal;
}

std::vector<std::string> qsub_warnings(std::string_view err) {
  std::vector<std::string> warnings;
  for (const auto raw : split(err, '\n')) {
    auto line = trim(raw);
    if (line.starts_with("warning: ")) line.remove_prefix(9);
    if (!line.empty()) warnings.emplace_back(line);
  }
  return warnings;
}

Result<Submitted> submit(const Tools& tools,
                         const std::vector<std::string>& args,
                         const std::vector<std::string>& environment,
                         std::chrono::milliseconds timeout) {
  Tools::Call call;
  call.tool = "qsub";
  call.args = args;
  call.extra_env = environment;
  call.timeout = timeout;
  TRY_ASSIGN(const auto output, tools.run(call));
  Submitted result;
  result.said = output.out + output.err;
  if (output.status != 0) {
    result.refusal = classify_refusal(result.said);
    return result;
  }
  result.job = parse_job_number(output.out);
  result.warnings = qsub_warnings(output.err);
  return result;
}

} // namespace shim::ge
