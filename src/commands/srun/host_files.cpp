#include "host_files.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/hostlist.h"

namespace shim::commands::srun {

namespace {

Result<std::vector<std::string>> read_hosts_of(const std::string& path) {
  const auto text = posix::read_file(path);
  if (!text)
    return fail(ErrorKind::usage, "could not read the list of hosts: " + text.error().message);
  return parse_host_lines(*text, path);
}

} // namespace

Result<std::vector<std::string>> parse_host_lines(std::string_view text, const std::string& where) {
  std::vector<std::string> hosts;
  for (auto line : split(text, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    for (const auto word : split_words(line)) {
      if (word.find_first_not_of(',') == std::string_view::npos) continue;
      auto expanded = slurm::expand_hostlist(word);
      if (!expanded) return tl::unexpected<Error>(std::move(expanded).error().context(where));
      hosts.insert(hosts.end(), expanded->begin(), expanded->end());
    }
  }
  if (hosts.empty()) return fail(ErrorKind::usage, where + ": no hosts in it");
  return hosts;
}

Result<void> read_host_files(Request& request) {
  auto& place = request.placement;
  for (const auto* file : {&request.nodelist_file, &request.node_file}) {
    if (file->empty()) continue;
    TRY_ASSIGN(const auto hosts, read_hosts_of(*file));
    place.nodelist.insert(place.nodelist.end(), hosts.begin(), hosts.end());
  }
  using Nodes = slurm::Distribution::Nodes;
  if (!request.host_file.empty()) {
    TRY_ASSIGN(place.rank_hosts, read_hosts_of(request.host_file));
    place.distribution.nodes = Nodes::arbitrary;
  } else if (place.distribution.nodes == Nodes::arbitrary) {
    // Without a file, -w names the host of each rank; without either, ranks go in blocks.
    place.rank_hosts = place.nodelist;
    if (place.rank_hosts.empty()) place.distribution.nodes = Nodes::block;
  }
  return {};
}

} // namespace shim::commands::srun
