// The plan of an uninstallation: starters, PE lists, PEs, files, in this order.
#include "install_manifest.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;
using Parts = std::vector<std::pair<std::string, std::string>>;

// A queue's default value and those of its hosts, with the names qconf knows them by.
Parts parts_of(const std::string& queue, const ge::HostValue& value) {
  Parts parts{{queue, value.fallback}};
  for (const auto& [host, text] : value.overrides)
    parts.emplace_back(queue + "@" + host, text);
  return parts;
}

Action queue_action(Op op, const std::string& object, const std::string& attribute) {
  Action action;
  action.op = op;
  action.kind = Kind::queue;
  action.target = object;
  action.attribute = attribute;
  return action;
}

void plan_starters(const QueueFacts& queue,
                   const std::string& ours,
                   const Manifest& manifest,
                   Plan& plan) {
  for (const auto& [object, value] : parts_of(queue.name, queue.starter)) {
    if (value != ours) {
      if (ge::is_none(value)) continue;
      auto action = queue_action(Op::keep, object, "starter_method");
      action.old_value = value;
      action.reason = "not ours";
      plan.actions.push_back(std::move(action));
      continue;
    }
    auto action = queue_action(Op::remove, object, "starter_method");
    action.old_value = value;
    action.new_value = "NONE";
    if (const auto known = manifest.queues.find(object); known != manifest.queues.end())
      if (const auto before = known->second.before.find("starter_method");
          before != known->second.before.end() && !ge::is_none(before->second))
        action.new_value = before->second;
    action.qconf_args = {"-mattr", "queue", "starter_method", action.new_value, object};
    plan.actions.push_back(std::move(action));
  }
}

// Our PEs leave every list they stand in; a PE of the site's leaves those it was added to.
void plan_pe_lists(const QueueFacts& queue, const Manifest& manifest, Plan& plan) {
  for (const auto& [object, value] : parts_of(queue.name, queue.pe_list)) {
    const auto present = ge::parse_name_list(value);
    std::vector<std::string> added;
    if (const auto known = manifest.queues.find(object); known != manifest.queues.end())
      added = known->second.pe_list_added;
    auto action = queue_action(Op::remove, object, "pe_list");
    for (const auto& [name, pe] : manifest.pes)
      if (std::find(present.begin(), present.end(), name) != present.end() &&
          (pe.created || std::find(added.begin(), added.end(), name) != added.end()))
        action.names.push_back(name);
    if (action.names.empty()) continue;
    action.old_value = value;
    action.new_value = "- " + join(action.names, " ");
    action.qconf_args = {"-dattr", "queue", "pe_list", join(action.names, ","), object};
    plan.actions.push_back(std::move(action));
  }
}

void plan_pe(const InstallFacts& facts,
             const std::string& name,
             const Manifest::Pe& made,
             const std::string& hook,
             Plan& plan) {
  Action action;
  action.kind = Kind::pe;
  action.target = name;
  const auto found = facts.pes.find(name);
  if (found == facts.pes.end()) return; // gone already
  const auto& pe = found->second;
  const auto args = pe.get_or("start_proc_args", "NONE");
  if (made.created && args != hook) {
    action.op = Op::keep;
    action.attribute = "start_proc_args";
    action.reason = "is " + args + ", not ours any more";
  } else if (const auto busy = facts.busy_pes.find(name); busy != facts.busy_pes.end()) {
    action.op = Op::blocked;
    action.reason =
        std::to_string(busy->second) + " jobs use it; wait for their end or delete them";
  } else if (made.created) {
    action.op = Op::remove;
    action.qconf_args = {"-dp", name};
  } else if (args == hook) {
    // A PE of the site's, which was given our hook: as it was.
    auto before = pe;
    for (const auto& [key, value] : made.before)
      if (before.get(key)) before.set(key, value);
    action.op = Op::modify;
    action.attribute = "start_proc_args";
    action.old_value = args;
    action.new_value = before.get_or("start_proc_args", "NONE");
    action.bytes = before.text();
    action.qconf_args = {"-Mp"};
  } else {
    action.op = Op::keep;
  }
  plan.actions.push_back(std::move(action));
}

std::string link_target(const std::string& path) {
  char target[4096];
  const auto size = ::readlink(path.c_str(), target, sizeof target);
  return size <= 0 ? "" : std::string(target, static_cast<std::size_t>(size));
}

void plan_files(const InstallOptions& options,
                const Manifest& manifest,
                const std::map<std::string, std::string>& sums,
                Plan& plan) {
  const auto add = [&](Op op, Kind kind, const std::string& path, const std::string& reason) {
    Action action;
    action.op = op;
    action.kind = kind;
    action.target = path;
    action.reason = reason;
    plan.actions.push_back(std::move(action));
  };
  for (const auto& link : manifest.links) {
    const auto target = link_target(link);
    if (target == "slurm-shim")
      add(Op::remove, Kind::link, link, "");
    else if (posix::exists(link) || !target.empty())
      add(Op::keep, Kind::link, link, "not the link that was made");
  }
  for (const auto& [path, sum] : manifest.files) {
    if (!posix::exists(path)) continue;
    const bool is_config = path.ends_with(".yaml");
    const auto now = sums.find(path);
    if (is_config && !options.purge)
      add(Op::keep, Kind::config, path, "--purge removes it");
    else if (is_config || (!sum.empty() && now != sums.end() && now->second == sum))
      add(Op::remove, is_config ? Kind::config : Kind::file, path, "");
    else
      add(Op::keep, Kind::file, path, "changed since");
  }
  add(Op::remove, Kind::file, manifest_path(options), "");
}

} // namespace

Plan make_uninstall_plan(const InstallFacts& facts,
                         const InstallOptions& options,
                         const Manifest& manifest,
                         const std::map<std::string, std::string>& sums) {
  Plan plan;
  for (const auto& queue : facts.queues)
    plan_starters(queue, options.prefix + "/libexec/starter_method.sh", manifest, plan);
  for (const auto& queue : facts.queues)
    plan_pe_lists(queue, manifest, plan);
  if (!options.queues.empty()) {
    plan.notes.emplace_back("only these queues are unwired; PEs and files stay");
    return plan;
  }
  for (const auto& [name, pe] : manifest.pes)
    plan_pe(facts, name, pe, options.prefix + "/bin/slurm-shim-env", plan);
  plan_files(options, manifest, sums, plan);
  return plan;
}

} // namespace shim::commands::admin
