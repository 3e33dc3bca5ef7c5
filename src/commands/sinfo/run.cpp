#include "rows.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/base/yaml.h"
#include "slurm_shim/commands/sinfo.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace shim::commands {

namespace {

using sinfo::Filter;
using sinfo::Format;

constexpr cli::HelpFrame k_help{
    .synopsis = "sinfo [OPTIONS...]",
    .description = "Shows partitions and nodes.",
    .epilogue =
        "Letters of --format: %P partition, %a availability, %l time limit, %D nodes, %t %T\n"
        "state, %N node list, %c CPUs, %m memory, %G devices, %C %F counts by state,\n"
        "%O load, %e free memory, %E reason, %z sockets:cores:threads. %.8t is\n"
        "right-justified."};

struct Request {
  Filter filter;
  Format format;
  std::string sort;
  bool header = true, date = false, json = false, yaml = false;
  int every_s = 0; // 0 = once
};

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ','))
    if (!trim(word).empty()) words.emplace_back(trim(word));
  return words;
}

// The layouts of -l, -N, -s and -R; '#' for a width is that of the longest value.
std::string default_format(const cli::Parsed& parsed) {
  const bool long_form = parsed.has("long");
  if (parsed.has("summarize")) return "%#P %.5a %.10l %.16F %N";
  if (parsed.has("list-reasons")) return long_form ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
  if (parsed.has("Node"))
    return long_form ? "%#N %.6D %.#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
                     : "%#N %.6D %.#P %6t";
  return long_form ? "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
                   : "%#P %.5a %.10l %.6D %.6t %N";
}

Result<void> check_states(const std::vector<std::string>& states) {
  for (const auto& words : states)
    for (const auto word : split(words, '&'))
      if (trim(word) != "all" && !cluster::state_matches(trim(word), {}))
        return fail(
            ErrorKind::usage,
            "Bad state string: \"" + std::string(word) +
                "\"\nvalid states: unknown,down,idle,allocated,?,mixed,future,drain,drained,"
                "draining,no_respond,reserved,perfctrs,cloud,completing,powering_down,"
                "powered_down,power_down,powering_up,fail,maint,reboot,reboot^,unknown");
  return {};
}

Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env) {
  Request request;
  auto& filter = request.filter;
  const auto value = [&](std::string_view option) {
    return cli::value_of(parsed, sinfo_options(), env, option);
  };
  filter.partitions = list_of(value("partition"));
  if (const auto* given = parsed.last("nodes")) {
    filter.by_node = true;
    auto hosts = slurm::slurm_expand_hostlist(given->value.value_or(""));
    if (!hosts) return fail(ErrorKind::usage, hosts.error().message);
    filter.nodes = std::move(*hosts);
  }
  if (const auto* given = parsed.last("states")) {
    filter.by_state = true;
    filter.states = list_of(to_lower(given->value.value_or("")));
    TRY(check_states(filter.states));
  }
  filter.responding = parsed.has("responding");
  filter.dead = parsed.has("dead");
  filter.reasons = parsed.has("list-reasons");
  filter.each_node = parsed.has("Node");
  filter.exact = parsed.has("exact");
  request.header = !parsed.has("noheader");
  request.json = parsed.has("json");
  request.yaml = parsed.has("yaml");
  request.date = parsed.has("long") && !parsed.has("format") && !parsed.has("Format");
  const bool plain = !parsed.has("summarize") && !parsed.has("list-reasons") &&
                     !parsed.has("Node") && !parsed.has("long");
  if (const auto* given = parsed.last("Format"))
    request.format = sinfo::parse_long_format(given->value.value_or(""));
  else if (parsed.has("format") || (plain && env.has("SINFO_FORMAT")))
    request.format = sinfo::parse_format(value("format"));
  else
    request.format = sinfo::parse_layout(default_format(parsed));
  request.sort = value("sort");
  if (request.sort.empty()) request.sort = filter.each_node ? "N,#P" : "#P,-t";
  if (const auto* given = parsed.last("iterate")) {
    const auto seconds = parse_int<int>(given->value.value_or(""));
    if (!seconds || *seconds <= 0)
      return fail(ErrorKind::usage,
                  "Error: --iterate=" + given->value.value_or("") + " is not a positive number");
    request.every_s = *seconds;
  }
  return request;
}

std::string date_line(std::int64_t now) {
  const auto when = static_cast<std::time_t>(now);
  std::tm parts{};
  char text[64];
  ::localtime_r(&when, &parts);
  return {text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y\n", &parts)};
}

int show_once(context::Context& ctx, const Request& request) {
  auto format = request.format;
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const bool devices = request.json || request.yaml || sinfo::uses(format, "G") ||
                       std::ranges::any_of(format.fields, [](const auto& field) {
                         return field.column != nullptr && field.column->name == "gresused";
                       });
  const auto cluster = cluster::load(tools, ctx.config, devices);
  if (!cluster) return ctx.fail(cluster.error());
  auto rows = sinfo::make_rows(*cluster, format, request.filter);
  sinfo::sort_rows(rows, request.sort);
  if (request.json || request.yaml) {
    const auto text = sinfo::to_json(rows, ctx.config.compat_version, ge::cluster_name(ctx.env));
    ctx.out.write(request.json ? text : json_to_yaml(text));
    return slurm::k_exit_ok;
  }
  for (const auto& line : format.errors)
    if (line.starts_with("Invalid job"))
      ctx.error(line);
    else
      ctx.say(line + "\n");
  if (request.date || request.every_s != 0) ctx.out.write(date_line(ctx.clock.unix_ms() / 1000));
  sinfo::fit(format, rows);
  if (request.header) ctx.out.write(sinfo::header_line(format));
  for (const auto& row : rows)
    ctx.out.write(sinfo::row_line(format, row));
  return slurm::k_exit_ok;
}

int show(context::Context& ctx, const Request& request) {
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  while (true) {
    const int code = show_once(ctx, request);
    if (request.every_s == 0) return code;
    ctx.out.write("\n");
    if (ctx.out.flush() != 0) return slurm::k_exit_failure; // nobody reads any more
    ctx.clock.sleep_for(std::chrono::seconds(request.every_s));
  }
}

} // namespace

int run_sinfo(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sinfo_options(), k_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  const auto clusters = cli::value_of(parsed, sinfo_options(), ctx.env, "clusters");
  if (const auto known = queue::check_clusters(clusters, ctx.env); !known)
    return ctx.refuse(known.error().message);
  if (parsed.has("reservation")) {
    ctx.out.write("No reservations in the system\n");
    return slurm::k_exit_ok;
  }
  const auto request = make_request(parsed, ctx.env);
  if (!request) {
    for (const auto line : split(request.error().message, '\n'))
      ctx.error(line);
    return slurm::k_exit_failure;
  }
  return show(ctx, *request);
}

} // namespace shim::commands
