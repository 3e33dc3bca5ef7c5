#include "slurm_shim/ge/pe_hostfile.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

namespace shim::ge {
namespace {

Result<GrantedHost> parse_line(std::string_view line, int number) {
  const auto words = split_words(line);
  if (words.size() < 2)
    return fail(ErrorKind::malformed,
                fmt::format("PE_HOSTFILE line {}: missing slot count: \"{}\"", number, trim(line)));
  const auto slots = parse_int<int>(words[1]);
  if (!slots || *slots < 0)
    return fail(ErrorKind::malformed,
                fmt::format("PE_HOSTFILE line {}: invalid slot count \"{}\"", number, words[1]));
  const auto column = [&](std::size_t i) {
    return i < words.size() ? std::string(words[i]) : std::string();
  };
  return GrantedHost{column(0), *slots, column(2), column(3)};
}

} // namespace

std::string GrantedHost::cluster_queue() const {
  return queue_instance.substr(0, queue_instance.find('@'));
}

Result<std::vector<GrantedHost>> parse_pe_hostfile(std::string_view text) {
  std::vector<GrantedHost> hosts;
  std::map<std::string, std::size_t, std::less<>> position;
  int number = 0, total = 0;
  bool any_line = false;
  for (const auto line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    any_line = true;
    TRY_ASSIGN(auto host, parse_line(line, number));
    if (host.slots > std::numeric_limits<int>::max() - total)
      return fail(ErrorKind::malformed,
                  fmt::format("PE_HOSTFILE line {}: too many slots: \"{}\"", number, trim(line)));
    total += host.slots;
    const auto [it, is_new] = position.try_emplace(host.name, hosts.size());
    if (is_new)
      hosts.push_back(std::move(host));
    else
      hosts[it->second].slots += host.slots;
  }
  if (!any_line) return fail(ErrorKind::malformed, "PE_HOSTFILE is empty");
  std::erase_if(hosts, [](const GrantedHost& host) { return host.slots == 0; });
  if (hosts.empty()) return fail(ErrorKind::malformed, "PE_HOSTFILE names no host with slots");
  return hosts;
}

std::string_view short_host_name(std::string_view name) {
  const bool address = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return address ? name : name.substr(0, name.find('.'));
}

void order_hosts(std::vector<GrantedHost>& hosts, std::string_view own_host) {
  const auto find = [&](auto&& same) { return std::find_if(hosts.begin(), hosts.end(), same); };
  auto master = find([&](const GrantedHost& h) { return equals_ignore_case(h.name, own_host); });
  if (master == hosts.end())
    master = find([&](const GrantedHost& h) {
      return equals_ignore_case(short_host_name(h.name), short_host_name(own_host));
    });
  if (master != hosts.end()) std::rotate(hosts.begin(), master, master + 1);
  if (hosts.size() < 3) return;
  std::vector<std::string> names;
  for (auto it = hosts.begin() + 1; it != hosts.end(); ++it)
    names.push_back(it->name);
  slurm::sort_hosts(names);
  std::map<std::string_view, std::size_t> rank;
  for (std::size_t i = 0; i < names.size(); ++i)
    rank[names[i]] = i;
  std::sort(hosts.begin() + 1, hosts.end(), [&](const GrantedHost& a, const GrantedHost& b) {
    return rank.at(a.name) < rank.at(b.name);
  });
}

std::vector<std::string> display_names(const std::vector<GrantedHost>& hosts) {
  std::map<std::string, int, std::less<>> uses;
  for (const auto& host : hosts)
    ++uses[to_lower(short_host_name(host.name))];
  std::vector<std::string> out;
  for (const auto& host : hosts) {
    const auto name = short_host_name(host.name);
    out.emplace_back(uses.at(to_lower(name)) == 1 ? name : std::string_view(host.name));
  }
  return out;
}

} // namespace shim::ge
