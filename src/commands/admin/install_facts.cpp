#include "install_facts.h"

#include "install_manifest.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/starter.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::admin {

namespace {

std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

bool holds_host(const std::vector<std::string>& hosts, std::string_view host) {
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& known) {
    return equals_ignore_case(short_name(known), short_name(host));
  });
}

FileFacts look_at(const std::string& path) {
  FileFacts facts;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return facts;
  facts.kind = S_ISREG(info.st_mode)   ? FileFacts::Kind::file
               : S_ISLNK(info.st_mode) ? FileFacts::Kind::link
                                       : FileFacts::Kind::other;
  if (facts.kind == FileFacts::Kind::link) {
    char target[4096];
    const auto size = ::readlink(path.c_str(), target, sizeof target);
    if (size > 0) facts.link_target.assign(target, static_cast<std::size_t>(size));
  }
  return facts;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

// Users read and execute what is installed; more rights than that are not this command's to take.
bool users_may(const std::string& path, unsigned mode) {
  struct stat info {};
  const auto needed = mode & 0555U;
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & needed) == needed;
}

Result<FileFacts> look_at_wanted(const WantedFile& wanted, const std::string& self) {
  auto facts = look_at(wanted.path);
  if (facts.kind != FileFacts::Kind::file) return facts;
  TRY_ASSIGN(const auto present, posix::read_file(wanted.path, k_max_binary));
  if (wanted.binary) {
    facts.same_bytes = same_file(wanted.path, self);
    if (!facts.same_bytes) {
      TRY_ASSIGN(const auto running, posix::read_file(self, k_max_binary));
      facts.same_bytes = running == present;
    }
    facts.ours = present.find("SLURM_SHIM_REQ") != std::string::npos;
  } else {
    facts.same_bytes = present == wanted.bytes;
    facts.ours = present.find("slurm-shim") != std::string::npos;
  }
  facts.ours = facts.ours || facts.same_bytes;
  facts.as_wanted = facts.same_bytes && users_may(wanted.path, wanted.mode);
  return facts;
}

// The nearest folder that exists decides whether we may write, and whether others may interfere.
void look_at_prefix(const std::string& prefix, InstallFacts& facts) {
  auto folder = prefix;
  while (!posix::exists(folder) && folder != "/")
    folder = posix::dir_name(folder);
  facts.prefix_writable = ::access(folder.c_str(), W_OK) == 0;
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0 &&
      (info.st_mode & S_ISVTX) == 0)
    facts.blocked_prefix = folder + " is writable by everybody: others could replace the files";
}

std::string act_qmaster(const std::string& sge_root, const std::string& cell) {
  const auto text = posix::read_file(sge_root + "/" + cell + "/common/act_qmaster", 4096);
  return text ? std::string(trim(*text)) : "";
}

Result<std::string> effective_user(context::Context& ctx) {
  const auto entry = posix::lookup_user(ctx.runner, std::to_string(::geteuid()));
  return entry ? entry->name : posix::user_name(ctx.runner, ctx.env);
}

Result<void>
read_queues(const ge::Qconf& qconf, const InstallOptions& options, InstallFacts& facts) {
  TRY_ASSIGN(facts.queue_names, qconf.list("-sql"));
  for (const auto& name : options.queues)
    if (std::find(facts.queue_names.begin(), facts.queue_names.end(), name) ==
        facts.queue_names.end())
      return fail(ErrorKind::usage, "--queue: there is no cluster queue \"" + name + "\"");
  const auto& names = options.queues.empty() ? facts.queue_names : options.queues;
  for (const auto& name : names) {
    TRY_ASSIGN(const auto queue, qconf.show("-sq", name));
    if (!queue) continue; // gone since the list was made
    const auto types = ge::parse_host_value(queue->get_or("qtype", ""));
    const bool batch = types.fallback.find("BATCH") != std::string::npos;
    if (!batch && options.queues.empty() && !options.uninstall) continue;
    facts.queues.push_back({name,
                            ge::parse_host_value(queue->get_or("pe_list", "NONE")),
                            ge::parse_host_value(queue->get_or("starter_method", "NONE")),
                            queue->get_or("slots", "")});
  }
  if (facts.queues.empty() && !options.uninstall)
    return fail(ErrorKind::not_found, "there is no cluster queue that takes batch jobs");
  return {};
}

Result<void> read_pes(const ge::Qconf& qconf,
                      const ge::Tools& tools,
                      const InstallOptions& options,
                      std::vector<std::string> wanted,
                      InstallFacts& facts) {
  TRY_ASSIGN(const auto names, qconf.list("-spl"));
  for (const auto& name : names) {
    const bool ours = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    if (!ours && facts.pe_template) continue;
    TRY_ASSIGN(auto pe, qconf.show("-sp", name));
    if (!pe) continue;
    if (!facts.pe_template) facts.pe_template = *pe;
    if (!ours) continue;
    if (options.uninstall || !equals_ignore_case(pe->get_or("control_slaves", ""), "TRUE")) {
      const std::string states = options.uninstall ? "prs" : "rs";
      TRY_ASSIGN(const auto jobs, tools.run({"qstat", {"-u", "*", "-s", states, "-pe", name}}));
      for (const auto line : split(jobs.out, '\n'))
        if (const auto words = split_words(line); !words.empty() && is_digits(words[0]))
          ++facts.busy_pes[name];
    }
    facts.pes.emplace(name, std::move(*pe));
  }
  return {};
}

bool pins_layouts(const std::string& config_file) {
  if (config_file.empty()) return false;
  const auto loaded = config::load_file(config_file);
  return loaded &&
         std::none_of(loaded->config.partitions.begin(),
                      loaded->config.partitions.end(),
                      [](const auto& partition) { return partition.pe_by_layout.empty(); });
}

std::string find_config(const context::Context& ctx, const InstallOptions& options) {
  // As a command of the installed binary would look for it.
  return config::locate(ctx.env, options.prefix + "/bin/slurm-shim");
}

} // namespace

std::string config_path(const InstallOptions& options) {
  return options.config_file.empty() ? options.prefix + "/etc/config.yaml" : options.config_file;
}

std::string family_name(const InstallOptions& options, const std::string& member) {
  return options.pe + "-" + member;
}

std::vector<WantedFile> wanted_files(const std::string& prefix) {
  const std::string profile = "# PATH of the Slurm commands of slurm-shim, for login shells.\n"
                              "case \":$PATH:\" in\n"
                              "*:" +
                              prefix +
                              "/bin:*) ;;\n"
                              "*) PATH=" +
                              prefix +
                              "/bin:$PATH ;;\n"
                              "esac\n"
                              "export PATH\n";
  return {
      {prefix + "/bin/slurm-shim", "", 0755, true},
      {prefix + "/libexec/starter_method.sh", std::string(records::starter_text()), 0755, false},
      {prefix + "/etc/profile.sh", profile, 0644, false}};
}

Result<InstallFacts>
gather_facts(context::Context& ctx, InstallOptions& options, const ShippedProgram& program) {
  InstallFacts facts;
  facts.sge_root = ctx.env.get_or("SGE_ROOT", "");
  if (facts.sge_root.empty())
    return fail(ErrorKind::unavailable, "SGE_ROOT is not set: source the cell's settings.sh first");
  facts.cell = ctx.env.get_or("SGE_CELL", "default");
  facts.qmaster = act_qmaster(facts.sge_root, facts.cell);
  if (options.prefix.empty()) options.prefix = facts.sge_root + "/slurm-shim";
  facts.self = program.path;

  const ge::Tools tools(ctx.runner, ctx.env, std::chrono::seconds(60));
  const ge::Qconf qconf(tools);
  TRY_ASSIGN(facts.engine, qconf.engine_version());
  TRY_ASSIGN(facts.has_par, qconf.knows_par());
  if (facts.has_par && !options.family_given) options.family.clear();
  TRY_ASSIGN(facts.user, effective_user(ctx));
  facts.host = posix::host_name();
  TRY_ASSIGN(const auto managers, qconf.list("-sm"));
  facts.is_manager = std::find(managers.begin(), managers.end(), facts.user) != managers.end();
  TRY_ASSIGN(const auto admin_hosts, qconf.list("-sh"));
  facts.is_admin_host = holds_host(admin_hosts, facts.host);
  TRY(read_queues(qconf, options, facts));
  std::vector<std::string> pes{options.pe};
  for (const auto& member : options.family)
    pes.push_back(family_name(options, member));
  if (options.uninstall) {
    TRY_ASSIGN(const auto manifest, read_manifest(manifest_path(options)));
    pes.clear();
    for (const auto& [name, pe] : manifest.pes)
      pes.push_back(name);
  }
  TRY(read_pes(qconf, tools, options, std::move(pes), facts));
  if (const auto global = qconf.configuration()) facts.min_uid = global->get_or("min_uid", "0");
  facts.bootstrap =
      posix::read_file(facts.sge_root + "/" + facts.cell + "/common/bootstrap").value_or("");
  TRY_ASSIGN(facts.complexes, qconf.complexes());
  TRY_ASSIGN(facts.exec_hosts, qconf.list("-sel"));

  for (const auto& wanted : wanted_files(options.prefix)) {
    TRY_ASSIGN(facts.files[wanted.path], look_at_wanted(wanted, facts.self));
  }
  for (const auto& link : program.links) {
    const auto path = options.prefix + "/bin/" + link;
    auto& state = facts.files[path] = look_at(path);
    state.as_wanted = state.kind == FileFacts::Kind::link && state.link_target == "slurm-shim";
  }
  facts.files[config_path(options)] = look_at(config_path(options));
  facts.found_config = find_config(ctx, options);
  facts.config_pins = pins_layouts(facts.found_config);
  look_at_prefix(options.prefix, facts);
  return facts;
}

} // namespace shim::commands::admin
