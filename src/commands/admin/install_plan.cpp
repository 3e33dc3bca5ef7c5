#include "install_plan.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <array>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;

struct WantedPe {
  std::string name, rule;
};

// Decisions E7: one stepper per host forks the ranks itself, steps may run at the same time.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> k_pe_values{{
    {"slots", "999999"},
    {"control_slaves", "TRUE"},
    {"job_is_first_task", "FALSE"},
    {"urgency_slots", "min"},
    {"accounting_summary", "TRUE"},
    {"ign_sreq_on_mhost", "FALSE"},
    {"master_forks_slaves", "FALSE"},
    {"daemon_forks_slaves", "FALSE"},
}};

// What a cluster without any PE needs: the attributes of 8.1.9, or of 9.x.
std::vector<std::string> known_attributes(const std::string& engine) {
  std::vector<std::string> keys{"pe_name",
                                "slots",
                                "user_lists",
                                "xuser_lists",
                                "start_proc_args",
                                "stop_proc_args",
                                "allocation_rule",
                                "control_slaves",
                                "job_is_first_task",
                                "urgency_slots",
                                "accounting_summary"};
  if (engine.find(" 8.") != std::string::npos)
    keys.emplace_back("qsort_args");
  else
    for (const auto* key : {"ign_sreq_on_mhost", "master_forks_slaves", "daemon_forks_slaves"})
      keys.emplace_back(key);
  return keys;
}

std::string rule_of(const std::string& member) {
  if (member == "smp") return "$pe_slots";
  if (member == "fill") return "$fill_up";
  return member;
}

std::vector<WantedPe> wanted_pes(const InstallOptions& options) {
  std::vector<WantedPe> pes{{options.pe, "$round_robin"}};
  for (const auto& member : options.family)
    pes.push_back({family_name(options, member), rule_of(member)});
  return pes;
}

std::string hook_path(const InstallOptions& options) {
  return options.prefix + "/bin/slurm-shim-env";
}
std::string starter_path(const InstallOptions& options) {
  return options.prefix + "/libexec/starter_method.sh";
}

Action
plan_file(const InstallFacts& facts, const InstallOptions& options, const WantedFile& wanted) {
  Action action;
  action.kind = Kind::file;
  action.target = wanted.path;
  action.bytes = wanted.bytes;
  action.mode = wanted.mode;
  action.copies_self = wanted.binary;
  const auto& state = facts.files.at(wanted.path);
  if (state.kind == FileFacts::Kind::missing) {
    action.op = Op::create;
  } else if (state.as_wanted) {
    action.op = Op::keep;
  } else if ((state.kind == FileFacts::Kind::file && (state.ours || options.force_files)) ||
             (state.kind == FileFacts::Kind::link && options.force_files)) {
    action.op = Op::modify;
    action.reason = state.same_bytes ? "not for every user" : "another version";
  } else {
    action.op = Op::blocked;
    action.reason = "a file that is not ours; --force-files replaces it";
  }
  return action;
}

Action
plan_link(const InstallFacts& facts, const InstallOptions& options, const std::string& name) {
  Action action;
  action.kind = Kind::link;
  action.target = options.prefix + "/bin/" + name;
  action.new_value = "slurm-shim";
  const auto& state = facts.files.at(action.target);
  if (state.kind == FileFacts::Kind::missing) {
    action.op = Op::create;
  } else if (state.as_wanted) {
    action.op = Op::keep;
  } else if (options.force_files && state.kind != FileFacts::Kind::other) {
    action.op = Op::modify;
    action.old_value = state.link_target;
  } else {
    action.op = Op::blocked;
    action.reason = state.kind == FileFacts::Kind::link
                        ? "a link to " + state.link_target + "; --force-files replaces it"
                        : "not a link of ours (a real Slurm's?); --force-files replaces it";
  }
  return action;
}

Action plan_config(const InstallFacts& facts, const InstallOptions& options) {
  Action action;
  action.kind = Kind::config;
  action.target = config_path(options);
  if (!facts.found_config.empty()) {
    action.target = facts.found_config;
    action.reason = "exists, not touched";
  } else if (facts.files.at(action.target).kind != FileFacts::Kind::missing) {
    action.reason = "exists, not touched";
  } else {
    action.op = Op::create;
    action.bytes = generate_config(facts, options);
  }
  return action;
}

Action pe_action(Op op, const std::string& name, const std::string& attribute) {
  Action action;
  action.op = op;
  action.kind = Kind::pe;
  action.target = name;
  action.attribute = attribute;
  return action;
}

// A PE that is there: keep what fits, set what is NONE, refuse what is the site's.
void plan_present_pe(const InstallFacts& facts,
                     const InstallOptions& options,
                     const WantedPe& wanted,
                     bool is_family,
                     Plan& plan) {
  const auto& pe = facts.pes.at(wanted.name);
  const auto hook = hook_path(options);
  const auto args = pe.get_or("start_proc_args", "NONE");
  const auto before = plan.actions.size();
  if (!ge::is_none(args) && args != hook) {
    auto action = pe_action(Op::blocked, wanted.name, "start_proc_args");
    action.old_value = args;
    action.reason = "refusing to replace the site's start_proc_args; choose another name with --pe";
    plan.actions.push_back(std::move(action));
    return;
  }
  const auto rule = pe.get_or("allocation_rule", "");
  if (is_family && rule != wanted.rule) {
    auto action = pe_action(Op::blocked, wanted.name, "allocation_rule");
    action.old_value = rule;
    action.reason =
        "this name promises the rule " + wanted.rule + "; choose members with --pe-family";
    plan.actions.push_back(std::move(action));
    return;
  }
  const auto set = [&](const std::string& attribute,
                       const std::string& old_value,
                       const std::string& value) {
    auto action = pe_action(Op::modify, wanted.name, attribute);
    action.old_value = old_value;
    action.new_value = value;
    action.qconf_args = {"-mattr", "pe", attribute, value, wanted.name};
    // NONE as a value of start_proc_args is refused by some versions; -mp always works.
    action.undo = ge::is_none(old_value)
                      ? std::vector<std::string>{"-mp", wanted.name}
                      : std::vector<std::string>{"-mattr", "pe", attribute, old_value, wanted.name};
    plan.actions.push_back(std::move(action));
  };
  if (ge::is_none(args)) set("start_proc_args", args, hook);
  const auto slaves = pe.get_or("control_slaves", "FALSE");
  if (!equals_ignore_case(slaves, "TRUE")) {
    if (const auto busy = facts.busy_pes.find(wanted.name); busy != facts.busy_pes.end()) {
      auto action = pe_action(Op::blocked, wanted.name, "control_slaves");
      action.old_value = slaves;
      action.reason = std::to_string(busy->second) + " jobs run in it; wait for their end";
      plan.actions.push_back(std::move(action));
      return;
    }
    set("control_slaves", slaves, "TRUE");
  }
  if (plan.actions.size() == before) plan.actions.push_back(pe_action(Op::keep, wanted.name, ""));
  for (const auto& [key, value] : k_pe_values)
    if (const auto present = pe.get(key);
        present && *present != value && key != "control_slaves" && key != "slots")
      plan.notes.push_back("PE " + wanted.name + ": " + std::string(key) + " is " +
                           std::string(*present) + ", recommended is " + std::string(value));
}

void plan_pe(const InstallFacts& facts,
             const InstallOptions& options,
             const WantedPe& wanted,
             Plan& plan) {
  if (facts.pes.contains(wanted.name)) {
    plan_present_pe(facts, options, wanted, wanted.name != options.pe, plan);
    return;
  }
  auto action = pe_action(Op::create, wanted.name, "");
  action.bytes = pe_file(facts, wanted.name, wanted.rule, hook_path(options));
  action.new_value = "allocation_rule " + wanted.rule + ", control_slaves TRUE, start_proc_args " +
                     hook_path(options);
  action.qconf_args = {"-Ap"};
  action.undo = {"-dp", wanted.name};
  plan.actions.push_back(std::move(action));
}

void plan_pe_list_part(const std::string& object,
                       std::string_view value,
                       const std::vector<WantedPe>& pes,
                       Plan& plan) {
  const auto present = ge::parse_name_list(value);
  Action action;
  action.kind = Kind::queue;
  action.target = object;
  action.attribute = "pe_list";
  action.old_value = std::string(value);
  for (const auto& pe : pes)
    if (std::find(present.begin(), present.end(), pe.name) == present.end())
      action.names.push_back(pe.name);
  if (!action.names.empty()) {
    action.op = Op::modify;
    action.new_value = "+ " + join(action.names, " ");
    action.qconf_args = {"-aattr", "queue", "pe_list", join(action.names, ","), object};
    action.undo = {"-dattr", "queue", "pe_list", join(action.names, ","), object};
  }
  plan.actions.push_back(std::move(action));
}

void plan_pe_list(const QueueFacts& queue, const std::vector<WantedPe>& pes, Plan& plan) {
  plan_pe_list_part(queue.name, queue.pe_list.fallback, pes, plan);
  for (const auto& [host, value] : queue.pe_list.overrides)
    plan_pe_list_part(queue.name + "@" + host, value, pes, plan);
}

Action starter_action(Op op, const std::string& object, const std::string& old_value) {
  Action action;
  action.op = op;
  action.kind = Kind::queue;
  action.target = object;
  action.attribute = "starter_method";
  action.old_value = old_value;
  return action;
}

void plan_starter(const QueueFacts& queue, const InstallOptions& options, Plan& plan) {
  const auto ours = starter_path(options);
  std::vector<std::pair<std::string, std::string>> parts{{queue.name, queue.starter.fallback}};
  for (const auto& [host, value] : queue.starter.overrides)
    parts.emplace_back(queue.name + "@" + host, value);
  bool blocked = false;
  for (const auto& [object, value] : parts) {
    if (ge::is_none(value) || value == ours) continue;
    auto action = starter_action(Op::blocked, object, value);
    action.reason = "refusing to replace a site starter. Options: --queue without " + queue.name +
                    ", or call " + ours + " from your starter as its last step";
    plan.actions.push_back(std::move(action));
    blocked = true;
  }
  if (blocked) return;
  for (const auto& [object, value] : parts) {
    if (value == ours) {
      plan.actions.push_back(starter_action(Op::keep, object, value));
      continue;
    }
    auto action = starter_action(Op::modify, object, ge::is_none(value) ? "NONE" : value);
    action.new_value = ours;
    action.qconf_args = {"-mattr", "queue", "starter_method", ours, object};
    action.undo = {"-mattr", "queue", "starter_method", "NONE", object};
    plan.actions.push_back(std::move(action));
  }
}

bool is_blocked(const Plan& plan, const std::string& pe) {
  return std::any_of(plan.actions.begin(), plan.actions.end(), [&](const Action& action) {
    return action.op == Op::blocked && action.kind == Kind::pe && action.target == pe;
  });
}

void add_notes(const InstallFacts& facts, const InstallOptions& options, Plan& plan) {
  plan.notes.push_back(options.prefix + " must be the same folder on every execution host (" +
                       join(facts.exec_hosts, ", ") + ")");
  plan.notes.push_back("users' PATH: " + options.prefix + "/bin first; " + options.prefix +
                       "/etc/profile.sh does it for login shells");
  if (!options.family.empty() && !facts.found_config.empty() && !facts.config_pins)
    plan.notes.push_back(facts.found_config +
                         ": give its partitions a pe_by_layout, this engine has no qsub -par");
  if (!facts.has_par && options.family.empty())
    plan.notes.emplace_back("this engine has no qsub -par and no PE family is wanted: layouts of "
                            "several hosts cannot be pinned");
}

} // namespace

std::size_t Plan::count(Action::Op op) const {
  return static_cast<std::size_t>(std::count_if(
      actions.begin(), actions.end(), [&](const Action& action) { return action.op == op; }));
}

bool Plan::changes_anything() const {
  return count(Op::create) + count(Op::modify) + count(Op::remove) > 0;
}

std::string pe_file(const InstallFacts& facts,
                    const std::string& name,
                    const std::string& rule,
                    const std::string& hook) {
  ge::Attributes pe;
  if (facts.pe_template) {
    // An attribute we do not know gets its neutral value.
    for (const auto& [key, value] : facts.pe_template->entries())
      pe.set(key, value == "TRUE" || value == "FALSE" ? "FALSE" : "NONE");
  } else {
    for (const auto& key : known_attributes(facts.engine))
      pe.set(key, "NONE");
  }
  pe.set("pe_name", name);
  pe.set("start_proc_args", hook);
  pe.set("allocation_rule", rule);
  for (const auto& [key, value] : k_pe_values)
    if (pe.get(key)) pe.set(key, value);
  return pe.text();
}

Plan make_plan(const InstallFacts& facts,
               const InstallOptions& options,
               const std::vector<std::string>& links) {
  Plan plan;
  if (options.files) {
    for (const auto& wanted : wanted_files(options.prefix))
      plan.actions.push_back(plan_file(facts, options, wanted));
    for (const auto& link : links)
      plan.actions.push_back(plan_link(facts, options, link));
  }
  if (!facts.blocked_prefix.empty()) {
    Action action;
    action.op = Op::blocked;
    action.target = options.prefix;
    action.reason = facts.blocked_prefix;
    plan.actions.push_back(std::move(action));
  }
  if (options.config) plan.actions.push_back(plan_config(facts, options));
  auto pes = wanted_pes(options);
  for (const auto& pe : pes)
    plan_pe(facts, options, pe, plan);
  // A PE of the site's that is in the way is none of ours to offer.
  std::erase_if(pes, [&](const WantedPe& pe) { return is_blocked(plan, pe.name); });
  for (const auto& queue : facts.queues)
    plan_pe_list(queue, pes, plan);
  if (options.starter)
    for (const auto& queue : facts.queues)
      plan_starter(queue, options, plan);
  add_notes(facts, options, plan);
  return plan;
}

} // namespace shim::commands::admin
