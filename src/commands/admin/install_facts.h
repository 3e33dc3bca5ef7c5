#pragma once
// What the cluster and the file system look like before an installation: gathered once, read by the
// pure planner.

#include "install_options.h"

#include "slurm_shim/commands/admin.h"
#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/qconf.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::admin {

// Bytes; no binary of ours comes near it.
inline constexpr std::size_t k_max_binary = std::size_t{1} << 30;

struct QueueFacts {
  std::string name;
  ge::HostValue pe_list;
  ge::HostValue starter;
  std::string slots; // as written
};

struct FileFacts {
  enum class Kind { missing, file, link, other } kind = Kind::missing;
  std::string link_target;
  bool same_bytes = false; // a file
  bool as_wanted = false;  // a file: same bytes, everybody may use it; a link: same target
  bool ours = false;       // a file that an earlier installation wrote
};

struct InstallFacts {
  std::string engine, cell, sge_root, qmaster; // "OCS 9.1.5", "default", "/opt/ocs", "master"
  bool has_par = false;
  std::string user, host;
  bool is_manager = false, is_admin_host = false;
  std::vector<std::string> queue_names; // all of the cluster
  std::vector<QueueFacts> queues;       // the chosen ones
  std::map<std::string, ge::Attributes> pes;
  std::optional<ge::Attributes> pe_template; // of any PE: this version's attributes
  std::vector<ge::Complex> complexes;
  std::vector<std::string> exec_hosts;
  std::map<std::string, int> busy_pes; // jobs of a PE of ours; --uninstall: waiting ones, too
  std::map<std::string, FileFacts> files;
  std::string found_config;   // "" = none in the look-up path
  bool config_pins = false;   // each of its partitions has pe_by_layout
  std::string self;           // the running binary
  std::string blocked_prefix; // why the prefix cannot be written safely; "" = it can
  bool prefix_writable = true;
  std::string min_uid, bootstrap; // of the global configuration; the cell's bootstrap file
};

// The files of an installation: path below the prefix -> wanted bytes (empty for the binary).
struct WantedFile {
  std::string path;
  std::string bytes;
  unsigned mode = 0644;
  bool binary = false; // a copy of the running program
};
[[nodiscard]] std::vector<WantedFile> wanted_files(const std::string& prefix);
[[nodiscard]] std::string config_path(const InstallOptions& options);

// Names of the family's PEs: member -> name ("2" -> "slurm-shim-2").
[[nodiscard]] std::string family_name(const InstallOptions& options, const std::string& member);

[[nodiscard]] Result<InstallFacts>
gather_facts(context::Context& ctx, InstallOptions& options, const ShippedProgram& program);

} // namespace shim::commands::admin
