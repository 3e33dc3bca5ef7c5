#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/sacct.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"

#include <algorithm>
#include <ctime>

namespace shim::commands::sacct {

namespace {

using slurm::JobState;

constexpr std::string_view k_default_fields =
    "jobid,jobname,partition,account,alloccpus,state,exitcode";
constexpr std::string_view k_brief_fields = "jobid,state,exitcode";
constexpr std::string_view k_long_fields =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,"
    "maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,"
    "mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,avecpufreq,reqcpufreqmin,"
    "reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,"
    "maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,"
    "reqtres,alloctres,tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,"
    "tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutmax,"
    "tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutave,tresusageouttot";

using Prefix = Refusal::Prefix;

tl::unexpected<Refusal> refuse(std::string text, Prefix prefix = Prefix::error) {
  return tl::unexpected<Refusal>(Refusal{std::move(text), prefix});
}

// All values of an option that may be repeated, as one list.
std::string joined(const cli::Parsed& parsed, std::string_view option) {
  std::string text;
  for (const auto& given : parsed.given)
    if (given.option->name == option && given.value && !given.value->empty())
      text += (text.empty() ? "" : ",") + *given.value;
  return text;
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ','))
    if (!trim(word).empty()) words.emplace_back(trim(word));
  return words;
}

std::int64_t midnight(std::int64_t now) {
  const auto when = static_cast<std::time_t>(now);
  std::tm parts{};
  ::localtime_r(&when, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

std::int64_t earlier(std::int64_t when, int days, int years) {
  const auto seconds = static_cast<std::time_t>(when);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  parts.tm_mday -= days;
  parts.tm_year -= years;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

bool names_a_year(std::string_view text) {
  const auto head = text.substr(0, text.find_first_of("T-"));
  if (text.size() > 4 && is_digits(text.substr(0, 4)) && text[4] == '-') return true;
  const auto separator = head.find_first_of("/.");
  if (separator == std::string_view::npos) return head.size() >= 6 && is_digits(head);
  return head.find_first_of("/.", separator + 1) != std::string_view::npos;
}

std::optional<Range> range_of(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_int<int>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_int<int>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

template <class Text> bool allows(const std::vector<std::string>& list, const Text& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool ran_on(const Request& request, const history::Entry& entry) {
  if (request.hosts.empty()) return true;
  const auto hosts = slurm::expand_hostlist(entry.hosts);
  return hosts && std::ranges::any_of(*hosts, [&](const std::string& host) {
           return std::ranges::any_of(request.hosts, [&](const std::string& name) {
             return name == host || name == host.substr(0, host.find('.'));
           });
         });
}

bool in_window(const Request& request, const history::Entry& entry) {
  if (entry.end != 0 && entry.end < request.from) return false;
  return request.to == 0 || entry.submit <= request.to;
}

tl::expected<void, Refusal>
set_window(const cli::Parsed& parsed, std::int64_t now, Request& request) {
  const auto time_of = [&](std::string_view option) -> tl::expected<std::int64_t, Refusal> {
    const auto when = parse_past_time(parsed.last(option)->value.value_or(""), now);
    if (!when) return refuse(when.error().message, Prefix::none);
    return *when;
  };
  request.to = 0;
  if (parsed.has("endtime")) {
    const auto when = time_of("endtime");
    if (!when) return tl::unexpected<Refusal>(when.error());
    request.to = *when;
  }
  if (parsed.has("starttime")) {
    const auto when = time_of("starttime");
    if (!when) return tl::unexpected<Refusal>(when.error());
    request.from = *when;
  } else if (request.jobs.empty()) {
    request.from = midnight(now);
  }
  const auto end = request.to != 0 ? request.to : now;
  if (request.from > end)
    return refuse("Start time (" + slurm::format_date_time(request.from) +
                  ") requested is after end time (" + slurm::format_date_time(end) + ").");
  return {};
}

tl::expected<void, Refusal> set_lists(const cli::Parsed& parsed, Request& request) {
  request.users = list_of(joined(parsed, "uid"));
  request.accounts = list_of(joined(parsed, "accounts"));
  request.names = list_of(joined(parsed, "name"));
  request.partitions = list_of(joined(parsed, "partition"));
  request.qos = list_of(joined(parsed, "qos"));
  request.groups = list_of(joined(parsed, "gid"));
  request.reasons = list_of(joined(parsed, "reason"));
  if (const auto hosts = joined(parsed, "nodelist"); !hosts.empty()) {
    auto names = slurm::slurm_expand_hostlist(hosts);
    if (!names) return refuse(names.error().message);
    request.hosts = std::move(*names);
  }
  const auto ids = joined(parsed, "jobs");
  if (!ids.empty())
    for (const auto& word : queue::split_ids(ids)) {
      auto ref = slurm::parse_job_id(word);
      if (!ref) return refuse("Bad job/step specified: " + word, Prefix::fatal);
      request.jobs.push_back(std::move(*ref));
    }
  for (const auto& word : list_of(joined(parsed, "state"))) {
    const auto state = slurm::parse_job_state(word);
    if (!state) return refuse("unrecognized job state value", Prefix::fatal);
    request.states.push_back(*state);
  }
  return {};
}

tl::expected<void, Refusal> set_ranges(const cli::Parsed& parsed, Request& request) {
  const std::pair<std::string_view, std::optional<Range>*> ranges[] = {{"nnodes", &request.nodes},
                                                                       {"ncpus", &request.cpus}};
  for (const auto& [option, range] : ranges)
    if (const auto* given = parsed.last(option)) {
      *range = range_of(given->value.value_or(""));
      if (!*range)
        return refuse("invalid range \"" + given->value.value_or("") + "\" for --" +
                      std::string(option));
    }
  const auto limit = [&](std::string_view option) -> std::optional<std::uint32_t> {
    const auto* given = parsed.last(option);
    if (given == nullptr) return std::nullopt;
    const auto minutes = slurm::parse_time_limit(given->value.value_or(""), option);
    return minutes ? std::optional(*minutes) : std::nullopt;
  };
  const auto least = limit("timelimit-min");
  const auto most = limit("timelimit-max");
  if (most && !least)
    return refuse("timelimit_max without timelimit_min isn't valid.", Prefix::fatal);
  if (least) request.limits = {*least, most.value_or(*least)};
  return {};
}

} // namespace

Result<std::int64_t> parse_past_time(std::string_view text, std::int64_t now) {
  std::string form(text);
  // torchx writes 1970-01-01-00:00:01.
  if (form.size() == 19 && form[4] == '-' && form[7] == '-' && form[10] == '-') form[10] = 'T';
  if (equals_ignore_case(form, "today") || equals_ignore_case(form, "midnight"))
    return midnight(now);
  TRY_ASSIGN(const auto when, slurm::parse_date_time(form, static_cast<std::time_t>(now)));
  if (when <= now || to_lower(form).starts_with("now") || names_a_year(form)) return when;
  const bool has_day = to_lower(form).find("tomorrow") != std::string::npos ||
                       form.find_first_of("/.") != std::string::npos ||
                       form.find(':') == std::string::npos;
  if (!has_day) return earlier(when, 1, 0);
  return to_lower(form).find("tomorrow") != std::string::npos ? std::int64_t{when}
                                                              : earlier(when, 0, 1);
}

tl::expected<Request, Refusal>
make_request(const cli::Parsed& parsed, const EnvList& env, std::int64_t now) {
  Request request;
  if (auto fine = set_lists(parsed, request); !fine) return tl::unexpected<Refusal>(fine.error());
  if (auto fine = set_ranges(parsed, request); !fine) return tl::unexpected<Refusal>(fine.error());
  if (auto fine = set_window(parsed, now, request); !fine)
    return tl::unexpected<Refusal>(fine.error());
  request.all_users = parsed.has("allusers");
  request.steps = !parsed.has("allocations");
  request.duplicates = parsed.has("duplicates");
  request.truncate = parsed.has("truncate");
  request.header = !parsed.has("noheader");
  request.json = parsed.has("json");
  request.scripts = parsed.has("batch-script");
  request.yaml = parsed.has("yaml");
  request.convert = !parsed.has("noconvert");
  request.time_format = env.get_or("SLURM_TIME_FORMAT", "");
  if (const auto* given = parsed.last("file")) request.file = given->value.value_or("");
  if (const auto* given = parsed.last("delimiter")) request.delimiter = given->value.value_or("");
  for (const auto& given : parsed.given) {
    if (given.option->name == "parsable") request.style = Request::Style::ends_in;
    if (given.option->name == "parsable2") request.style = Request::Style::between;
  }
  if (const auto* given = parsed.last("units")) {
    const auto unit = to_upper(given->value.value_or(""));
    if (unit.size() != 1 || std::string_view("KMGTP").find(unit[0]) == std::string_view::npos)
      return refuse("Invalid unit type: " + given->value.value_or(""), Prefix::fatal);
    request.unit = unit[0];
  }
  request.fields = joined(parsed, "format");
  if (parsed.has("brief")) request.fields = k_brief_fields;
  if (parsed.has("long")) request.fields = k_long_fields;
  if (request.fields.empty()) request.fields = env.get_or("SACCT_FORMAT", k_default_fields);
  return request;
}

bool keeps(const Request& request, const history::Entry& entry) {
  const auto minutes = entry.limit_min;
  return in_window(request, entry) &&
         (request.states.empty() ||
          std::ranges::find(request.states, entry.ending.state) != request.states.end()) &&
         allows(request.accounts, entry.account) && allows(request.names, entry.name) &&
         allows(request.partitions, entry.partition) &&
         allows(request.qos, entry.qos.empty() ? std::string("normal") : entry.qos) &&
         allows(request.groups, entry.group) && allows(request.reasons, entry.ending.reason) &&
         ran_on(request, entry) &&
         (!request.nodes ||
          (entry.nodes >= request.nodes->first && entry.nodes <= request.nodes->last)) &&
         (!request.cpus ||
          (entry.cpus >= request.cpus->first && entry.cpus <= request.cpus->last)) &&
         (!request.limits ||
          (minutes >= request.limits->first && minutes <= request.limits->second));
}

} // namespace shim::commands::sacct
