#include "slurm_shim/plan/devices.h"

#include "draft.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace shim::plan {
namespace {

// Up to `count` devices from position `first` on; what is not there is left out.
Devices slice(const Devices& devices, std::size_t first, std::size_t count) {
  const auto from = std::min(first, devices.size());
  const auto to = std::min(from + count, devices.size());
  return {devices.begin() + static_cast<std::ptrdiff_t>(from),
          devices.begin() + static_cast<std::ptrdiff_t>(to)};
}

bool is_held(const DeviceHost& host, const std::string& device) {
  return host.held != nullptr &&
         std::find(host.held->begin(), host.held->end(), device) != host.held->end();
}

std::int64_t granted(const DeviceHost& host) {
  return static_cast<std::int64_t>(host.granted->size());
}

// Free devices first, in the order of the grant.
Devices by_preference(const DeviceHost& host) {
  auto devices = *host.granted;
  std::stable_partition(
      devices.begin(), devices.end(), [&](const auto& device) { return !is_held(host, device); });
  return devices;
}

std::int64_t usable(const DeviceHost& host, bool share) {
  if (share) return granted(host);
  return std::count_if(host.granted->begin(), host.granted->end(), [&](const auto& device) {
    return !is_held(host, device);
  });
}

tl::unexpected<Error>
too_many(const DeviceCount& wanted, std::int64_t available, std::string_view where) {
  return fail(ErrorKind::usage,
              fmt::format("{} exceeds the {} GPUs granted on {}", wanted.asked, available, where));
}

tl::unexpected<Error> bad_gres(const std::string& why) {
  return refused(why + "\nInvalid generic resource (gres) specification");
}

bool is_explicit(const std::optional<DeviceCount>& wanted) {
  return wanted && !wanted->implied && wanted->count > 0;
}

// One device after the other, host by host, as long as there is room.
std::vector<std::int64_t>
deal_total(std::int64_t total, const std::vector<DeviceHost>& hosts, bool share) {
  std::vector<std::int64_t> out(hosts.size(), 0);
  for (bool dealt = true; total > 0 && dealt;) {
    dealt = false;
    for (std::size_t i = 0; i < hosts.size() && total > 0; ++i) {
      if (out[i] >= usable(hosts[i], share)) continue;
      ++out[i];
      --total;
      dealt = true;
    }
  }
  return out;
}

Result<std::vector<std::int64_t>>
count_of_total(const DeviceCount& total, const std::vector<DeviceHost>& hosts, bool share) {
  const auto sum = [&](auto&& of) {
    return std::accumulate(hosts.begin(),
                           hosts.end(),
                           std::int64_t{0},
                           [&](std::int64_t all, const auto& host) { return all + of(host); });
  };
  const auto all = sum([](const auto& host) { return granted(host); });
  if (total.count > all && !total.implied) {
    const auto where =
        hosts.size() == 1 ? std::string(hosts[0].host) : std::string("the hosts of the step");
    return too_many(total, all, where);
  }
  const auto wanted = std::min<std::int64_t>(total.count, all);
  if (wanted > sum([&](const auto& host) { return usable(host, share); })) return refused(k_busy);
  return deal_total(wanted, hosts, share);
}

Result<std::vector<std::int64_t>> count_by_host(const DeviceRequest& request,
                                                const std::vector<DeviceHost>& hosts) {
  std::vector<std::int64_t> out;
  for (const auto& host : hosts) {
    const auto& each = request.per_task ? request.per_task : request.per_node;
    auto wanted = granted(host);
    if (each) {
      const std::int64_t times = request.per_task ? host.tasks : 1;
      wanted = times * each->count;
    }
    if (wanted > granted(host)) {
      if (!each->implied || request.per_task) return too_many(*each, granted(host), host.host);
      wanted = granted(host);
    }
    if (is_explicit(request.per_node) && wanted > request.per_node->count)
      return fail(ErrorKind::usage,
                  fmt::format("{} and {} do not go together: {} tasks run on {}",
                              each->asked,
                              request.per_node->asked,
                              host.tasks,
                              host.host));
    out.push_back(wanted);
  }
  return out;
}

Result<void> check_request(const DeviceRequest& request, bool any_granted) {
  if (is_explicit(request.per_task) && request.per_task_of_job > 0 &&
      request.per_task->count > request.per_task_of_job)
    return bad_gres(fmt::format(
        "Step requested gres_per_task=gpu:{} is more than the job's gres_per_task=gpu:{}",
        request.per_task->count,
        request.per_task_of_job));
  const bool asks =
      is_explicit(request.per_task) || is_explicit(request.per_node) || is_explicit(request.total);
  if (asks && !any_granted) return bad_gres("Step requested GRES but job doesn't have GRES");
  return {};
}

// The element of a list that a task gets.
std::uint64_t turn(const std::vector<std::uint64_t>& list, int task) {
  return list[static_cast<std::size_t>(task) % list.size()];
}

Result<Devices>
mapped(std::string_view host, const Devices& devices, std::uint64_t position, int task) {
  if (position >= devices.size())
    return fail(ErrorKind::usage,
                fmt::format("--gpu-bind=map_gpu: task {} of {} is to get GPU {}, but the step has "
                            "{} GPUs there (counted from 0)",
                            task,
                            host,
                            position,
                            devices.size()));
  return Devices{devices[static_cast<std::size_t>(position)]};
}

Result<Devices>
masked(std::string_view host, const Devices& devices, std::uint64_t mask, int task) {
  Devices out;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1U) == 0) continue;
    TRY_ASSIGN(auto one, mapped(host, devices, bit, task));
    out.push_back(std::move(one[0]));
  }
  return out;
}

} // namespace

Result<std::vector<Devices>> choose_devices(const DeviceRequest& request,
                                            const std::vector<DeviceHost>& hosts,
                                            bool any_granted,
                                            bool share) {
  TRY(check_request(request, any_granted));
  std::vector<std::int64_t> counts(hosts.size(), 0);
  if (any_granted) {
    if (is_explicit(request.total)) TRY(count_of_total(*request.total, hosts, true));
    const bool by_total = request.total && !request.per_task && !request.per_node;
    TRY_ASSIGN(counts,
               by_total ? count_of_total(*request.total, hosts, share)
                        : count_by_host(request, hosts));
  }
  std::vector<Devices> out;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (counts[i] > usable(hosts[i], share)) return refused(k_busy);
    out.push_back(slice(by_preference(hosts[i]), 0, static_cast<std::size_t>(counts[i])));
  }
  return out;
}

DeviceSlices
assign_devices(const Devices& devices, int local_tasks, int gpus_per_task, bool divide) {
  const auto tasks = static_cast<std::size_t>(std::max(local_tasks, 1));
  DeviceSlices out;
  auto share = static_cast<std::size_t>(std::max(gpus_per_task, 0));
  if (share == 0 && divide) {
    share = devices.size() / tasks;
    out.shared = share == 0 && !devices.empty();
  }
  for (std::size_t local = 0; local < tasks; ++local)
    out.per_rank.push_back(share == 0 ? devices : slice(devices, local * share, share));
  return out;
}

Result<DeviceSlices> bind_devices(const DeviceRequest& request,
                                  std::string_view host,
                                  const Devices& devices,
                                  int local_tasks) {
  using Kind = slurm::GpuBind::Kind;
  const int per_task = request.per_task ? request.per_task->count : 0;
  if (!request.bind) return assign_devices(devices, local_tasks, per_task, request.divide);
  const auto& bind = *request.bind;
  if (bind.kind == Kind::per_task) return assign_devices(devices, local_tasks, per_task, true);
  DeviceSlices out;
  for (int local = 0; local < local_tasks; ++local) {
    auto& own = out.per_rank.emplace_back(devices);
    if (devices.empty()) continue;
    if (bind.kind == Kind::single) {
      const auto turn_of = static_cast<std::size_t>(local / bind.count) % devices.size();
      own = Devices{devices[turn_of]};
    } else if (bind.kind == Kind::map) {
      TRY_ASSIGN(own, mapped(host, devices, turn(bind.list, local), local));
    } else if (bind.kind == Kind::mask) {
      TRY_ASSIGN(own, masked(host, devices, turn(bind.list, local), local));
    }
  }
  return out;
}

} // namespace shim::plan
