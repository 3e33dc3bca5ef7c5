#include "grid.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/probes.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace shim::commands {

namespace {

using probes::Column;

constexpr std::array k_share_columns{
    Column{"Account", 20},
    Column{"User", 10},
    Column{"RawShares", 10},
    Column{"NormShares", 11},
    Column{"RawUsage", 11},
    Column{"EffectvUsage", 13},
    Column{"FairShare", 10},
};
constexpr cli::HelpFrame k_sshare_help{
    .synopsis = "sshare [OPTIONS...]",
    .description = "Shows the share tree: projects as accounts, users below them.",
};
constexpr cli::HelpFrame k_sacctmgr_help{
    .synopsis = "sacctmgr [OPTIONS...] show|list ENTITY [name=value...] [format=FIELDS]",
    .description = "Shows what there is of Slurm's accounting: cluster, qos; accounts, users and\n"
                   "associations are not kept. Changes are refused.",
};

// A node of `qconf -sstree`: "id=1", "name=p1", "type=1", "shares=100", "childnodes=2,3".
struct ShareNode {
  std::string name;
  double shares = 0;
  std::vector<std::string> children;
};

std::map<std::string, ShareNode> parse_tree(std::string_view text) {
  std::map<std::string, ShareNode> nodes;
  std::string id;
  for (const auto line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = trim(line.substr(0, equals));
    const auto value = trim(line.substr(equals + 1));
    if (key == "id") id = value;
    auto& node = nodes[id];
    if (key == "name") node.name = value;
    if (key == "shares") node.shares = static_cast<double>(parse_int<int>(value).value_or(0));
    if (key == "childnodes") node.children = ge::parse_name_list(value);
  }
  nodes.erase("");
  return nodes;
}

} // namespace

int run_sshare(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sshare_options(), k_sshare_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  const auto* format = parsed.last("format");
  const auto columns =
      probes::choose(k_share_columns, format == nullptr ? "" : format->value.value_or(""));
  if (!columns) return ctx.fail(columns.error());
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const auto answer = tools.run({.tool = "qconf", .args = {"-sstree"}});
  if (!answer) return ctx.fail(answer.error());
  auto nodes = parse_tree(answer->status == 0 ? answer->out : "");
  const auto style = probes::style_of(parsed);
  ctx.out.write(probes::header_of(*columns, style));
  const auto print = [&](const std::string& account,
                         const std::string& user,
                         const std::string& raw,
                         double norm) {
    std::vector<std::string> values;
    for (const auto& column : *columns) {
      if (column.name == "Account")
        values.push_back(account);
      else if (column.name == "User")
        values.push_back(user);
      else if (column.name == "RawShares")
        values.push_back(raw);
      else if (column.name == "NormShares")
        values.push_back(fmt::format("{:.6f}", norm));
      else
        values.emplace_back();
    }
    ctx.out.write(probes::line_of(*columns, style, values));
  };
  print("root", "", "", 1.0);
  const auto me = posix::user_name(ctx.runner, ctx.env);
  // A node with children is an account; a leaf is a user of the account above it.
  const std::function<void(const ShareNode&, double, int)> walk =
      [&](const ShareNode& node, double norm, int depth) {
        double sum = 0;
        for (const auto& child : node.children)
          sum += nodes[child].shares;
        for (const auto& id : node.children) {
          const auto& child = nodes[id];
          const double share = sum > 0 ? norm * child.shares / sum : 0;
          const std::string indent(static_cast<std::size_t>(depth), ' ');
          const auto raw = fmt::format("{:.0f}", child.shares);
          if (!child.children.empty()) {
            print(indent + child.name, "", raw, share);
            if (depth < 32) walk(child, share, depth + 1);
          } else if (parsed.has("all") || child.name == me || child.name == "default") {
            print(indent + (depth == 1 ? "root" : node.name), child.name, raw, share);
          }
        }
      };
  if (!nodes.empty()) walk(nodes.begin()->second, 1.0, 1);
  return slurm::k_exit_ok;
}

int run_sacctmgr(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sacctmgr_options(), k_sacctmgr_help, words);
  if (opening.code) return *opening.code;
  const auto& rest = opening.parsed.rest;
  const auto verb = rest.empty() ? std::string() : to_lower(rest[0]);
  if (verb.empty() ||
      (!std::string_view("show").starts_with(verb) && !std::string_view("list").starts_with(verb) &&
       !std::string_view("ping").starts_with(verb))) {
    return ctx.refuse(verb.empty()
                          ? "no command given (the interactive mode is not supported by slurm-shim)"
                          : "\"" + rest[0] +
                                "\" is not supported by slurm-shim: accounts, users and "
                                "associations are not kept by Grid Engine");
  }
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto entity = rest.size() > 1 ? to_lower(rest[1]) : std::string();
  std::string fields;
  for (const auto& word : rest)
    if (to_lower(word).starts_with("format=")) fields = word.substr(word.find('=') + 1);
  std::vector<Column> columns;
  std::vector<std::map<std::string_view, std::string>> rows;
  const auto is = [&](std::string_view name) {
    return entity.size() >= 3 && name.starts_with(entity.ends_with('s') && !name.ends_with('s')
                                                      ? entity.substr(0, entity.size() - 1)
                                                      : entity);
  };
  if (is("cluster")) {
    columns = {{"Cluster", 10},
               {"ControlHost", 15},
               {"ControlPort", 12},
               {"RPC", 5},
               {"Share", 9},
               {"GrpJobs", 7},
               {"GrpTRES", 13},
               {"GrpSubmit", 9},
               {"MaxJobs", 7},
               {"MaxTRES", 13},
               {"MaxSubmit", 9},
               {"MaxWall", 11},
               {"QOS", 20},
               {"Def QOS", 9}};
    rows.push_back({{"Cluster", ge::cluster_name(ctx.env)}});
  } else if (is("association")) {
    columns = {{"Cluster", 10},
               {"Account", 10},
               {"User", 10},
               {"Partition", 10},
               {"Share", 9},
               {"QOS", 20},
               {"Def QOS", 9}};
  } else if (is("user")) {
    columns = {{"User", 10}, {"Def Acct", 10}, {"Admin", 9}, {"DefaultAccount", 14}};
  } else if (is("account")) {
    columns = {{"Account", 10}, {"Descr", 20}, {"Org", 20}};
  } else if (entity == "qos") {
    columns = {{"Name", 10}, {"Priority", 10}, {"Flags", 20}, {"MaxWall", 11}};
    rows.push_back({{"Name", "normal"}, {"Priority", "0"}});
    for (const auto& [name, arguments] : ctx.config.qos)
      rows.push_back({{"Name", name}, {"Priority", "0"}});
  } else {
    return ctx.refuse("show \"" + entity + "\" is not supported by slurm-shim");
  }
  const auto chosen = probes::choose(columns, fields);
  if (!chosen) {
    ctx.say(" Unknown field '" + fields + "'\n");
    return slurm::k_exit_failure;
  }
  const auto style = probes::style_of(opening.parsed);
  ctx.out.write(probes::header_of(*chosen, style));
  for (auto& row : rows) {
    std::vector<std::string> values;
    for (const auto& column : *chosen)
      values.push_back(row[column.name]);
    ctx.out.write(probes::line_of(*chosen, style, values));
  }
  return slurm::k_exit_ok;
}

} // namespace shim::commands
