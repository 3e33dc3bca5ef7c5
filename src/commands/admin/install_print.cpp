#include "install_print.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;

std::string_view op_name(Op op) {
  switch (op) {
  case Op::create: return "create";
  case Op::modify: return "modify";
  case Op::remove: return "remove";
  case Op::keep: return "keep";
  case Op::blocked: return "blocked";
  }
  return "";
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
  case Kind::file: return "file";
  case Kind::link: return "link";
  case Kind::config: return "config";
  case Kind::pe: return "pe";
  case Kind::queue: return "queue";
  }
  return "";
}

std::string line_of(const Action& action) {
  const auto op =
      action.op == Op::blocked ? std::string("BLOCKED") : std::string(op_name(action.op));
  auto line =
      fmt::format("  {:<10}{:<7} {}", "[" + op + "]", kind_name(action.kind), action.target);
  if (action.kind == Kind::link && !action.new_value.empty()) line += " -> " + action.new_value;
  if (!action.attribute.empty()) line += " " + action.attribute;
  if (action.op == Op::blocked && !action.old_value.empty()) line += "  is " + action.old_value;
  if (action.op == Op::modify && action.kind == Kind::pe)
    line += "  " + action.old_value + " -> " + action.new_value;
  if ((action.op == Op::modify || action.op == Op::remove) && action.kind == Kind::queue)
    line += action.attribute == "pe_list" ? "  " + action.new_value
                                          : "  " + action.old_value + " -> " + action.new_value;
  if ((action.op == Op::keep || action.op == Op::modify) && !action.reason.empty())
    line += " (" + action.reason + ")";
  line += '\n';
  const std::string indent(20, ' ');
  if (action.op == Op::create && action.kind == Kind::pe) line += indent + action.new_value + '\n';
  if (action.changes())
    if (const auto command = command_text(action); !command.empty())
      line += indent + command + '\n';
  if (action.op == Op::blocked) line += indent + "reason: " + action.reason + '\n';
  return line;
}

} // namespace

std::string command_text(const Action& action) {
  if (action.qconf_args.empty()) return "";
  auto text = "qconf " + join(action.qconf_args, " ");
  if (action.qconf_args.front() == "-Ap" || action.qconf_args.front() == "-Mp") text += " <file>";
  return text;
}

std::string plan_text(const Plan& plan,
                      const InstallFacts& facts,
                      const InstallOptions& options,
                      bool applying) {
  std::string out = options.uninstall ? "slurm-shim uninstall plan" : "slurm-shim install plan";
  out += applying ? "\n" : " (nothing has been changed)\n";
  out += fmt::format("  cell        {} at {} ({}), qmaster {}\n",
                     facts.cell,
                     facts.sge_root,
                     facts.engine,
                     facts.qmaster.empty() ? "unknown" : facts.qmaster);
  out += fmt::format("  prefix      {}\n\n", options.prefix);
  for (const auto& action : plan.actions)
    out += line_of(action);
  out += fmt::format("\n{} to create, {} to modify, {}{} kept, {} blocked\n",
                     plan.count(Op::create),
                     plan.count(Op::modify),
                     options.uninstall ? fmt::format("{} to remove, ", plan.count(Op::remove)) : "",
                     plan.count(Op::keep),
                     plan.count(Op::blocked));
  for (const auto& note : plan.notes)
    out += "note: " + note + "\n";
  if (!applying && plan.count(Op::blocked) == 0 && plan.changes_anything())
    out += "Run again with --apply to execute.\n";
  return out;
}

std::string plan_json(const Plan& plan,
                      const InstallFacts& facts,
                      const InstallOptions& options,
                      const Outcome& outcome) {
  nlohmann::ordered_json json;
  json["version"] = SHIM_VERSION;
  json["engine"] = facts.engine;
  json["cell"] = facts.cell;
  json["prefix"] = options.prefix;
  auto& actions = json["actions"] = nlohmann::ordered_json::array();
  for (const auto& action : plan.actions) {
    nlohmann::ordered_json item;
    item["op"] = op_name(action.op);
    item["kind"] = kind_name(action.kind);
    item["target"] = action.target;
    if (!action.attribute.empty()) item["attribute"] = action.attribute;
    if (!action.old_value.empty()) item["old"] = action.old_value;
    if (!action.new_value.empty()) item["new"] = action.new_value;
    if (const auto command = command_text(action); !command.empty()) item["command"] = command;
    if (!action.reason.empty()) item["reason"] = action.reason;
    actions.push_back(std::move(item));
  }
  json["notes"] = plan.notes;
  json["summary"] = {{"create", plan.count(Op::create)},
                     {"modify", plan.count(Op::modify)},
                     {"remove", plan.count(Op::remove)},
                     {"keep", plan.count(Op::keep)},
                     {"blocked", plan.count(Op::blocked)}};
  json["result"] = outcome.result;
  json["warnings"] = outcome.warnings;
  if (!outcome.error.empty()) json["error"] = outcome.error;
  if (outcome.result == "failed") {
    json["undone"] = outcome.undo.undone;
    json["left"] = outcome.undo.left;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace shim::commands::admin
