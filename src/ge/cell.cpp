#include "slurm_shim/ge/cell.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

namespace shim::ge {

std::string cluster_name(const EnvList& env) {
  if (auto name = env.get_or("SGE_CLUSTER_NAME", ""); !name.empty()) return name;
  auto cell = env.get_or("SGE_CELL", "");
  if (cell.empty()) cell = "default";
  if (const auto root = env.get_or("SGE_ROOT", ""); !root.empty())
    if (const auto text = posix::read_file(root + "/" + cell + "/common/cluster_name"))
      if (const auto name = trim(*text); !name.empty()) return std::string(name);
  return cell;
}

} // namespace shim::ge
