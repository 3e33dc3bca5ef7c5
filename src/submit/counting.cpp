#include "counting.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace shim::submit {

namespace {

// Limits of a queue, which the engine multiplies by the slots of a parallel job.
constexpr std::array<std::string_view, 12> k_limits{"h_core",
                                                    "h_data",
                                                    "h_fsize",
                                                    "h_rss",
                                                    "h_stack",
                                                    "h_vmem",
                                                    "s_core",
                                                    "s_data",
                                                    "s_fsize",
                                                    "s_rss",
                                                    "s_stack",
                                                    "s_vmem"};

std::string_view per_what(Counting counting) {
  switch (counting) {
  case Counting::slot: return "slot";
  case Counting::host: return "host";
  case Counting::job: return "job";
  }
  return "";
}

tl::unexpected<Error> cannot_say(const Whole& thing, Counting counting, std::string_view why) {
  return refuse(fmt::format("--{}: complex \"{}\" counts per {}: {}\n"
                            "Batch job submission failed: Requested node configuration is not "
                            "available",
                            thing.option,
                            thing.complex,
                            per_what(counting),
                            why));
}

std::uint64_t all_slots(const Geometry& geometry) {
  return static_cast<std::uint64_t>(std::max(geometry.slots, 1LL));
}

// An open layout is taken to be one host.
HostSlots likely_slots(const Geometry& geometry) {
  const auto hosts = slots_on_hosts(geometry);
  if (hosts.known()) return hosts;
  const auto all = static_cast<int>(all_slots(geometry));
  return {all, all};
}

// Parts are rounded down to a millionth, so that all of them together never exceed the things.
std::optional<std::string> divide(const Whole& thing, std::uint64_t ways) {
  constexpr std::uint64_t k_million = 1'000'000;
  if (thing.count % ways == 0) return std::to_string(thing.count / ways);
  if (!thing.parts) return std::nullopt;
  const auto millionths = thing.count * k_million / ways;
  const auto text = fmt::format("{}.{:06}", millionths / k_million, millionths % k_million);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

} // namespace

std::optional<Counting> counting_of(const std::string& complex,
                                    const std::string& configured,
                                    const EngineFacts& facts,
                                    Counting unknown) {
  if (configured == "slot") return Counting::slot;
  if (configured == "host") return Counting::host;
  if (configured == "job") return Counting::job;
  if (!facts.complexes) return unknown;
  for (const auto& row : *facts.complexes) {
    if (row.name != complex && row.shortcut != complex) continue;
    if (row.consumable == "HOST") return Counting::host;
    if (row.consumable == "JOB") return Counting::job;
    if (row.consumable == "YES") return Counting::slot;
    // A value that is only compared: a limit holds for each slot, a load value for each host.
    return std::ranges::count(k_limits, row.name) > 0 ? Counting::slot : Counting::host;
  }
  return std::nullopt;
}

bool counts_parts(const std::string& complex, const EngineFacts& facts) {
  return facts.complexes && std::ranges::any_of(*facts.complexes, [&](const ge::Complex& row) {
           return (row.name == complex || row.shortcut == complex) && row.type == "DOUBLE";
         });
}

Result<std::string>
request_per_host(const Whole& thing, Counting counting, const Geometry& geometry) {
  switch (counting) {
  case Counting::host: return std::to_string(thing.count);
  case Counting::job:
    if (geometry.nodes == 1) return std::to_string(thing.count);
    return cannot_say(thing, counting, "it can serve jobs of one host only; make it HOST");
  case Counting::slot: break;
  }
  const auto slots = likely_slots(geometry);
  if (slots.least == slots.most)
    if (const auto each = divide(thing, static_cast<std::uint64_t>(slots.least))) return *each;
  return cannot_say(thing,
                    counting,
                    fmt::format("{} on each host cannot be divided among {} slots; make it HOST, "
                                "or of type DOUBLE where the engine has no HOST",
                                thing.count,
                                slots.most));
}

Result<std::string>
request_per_job(const Whole& thing, Counting counting, const Geometry& geometry) {
  const auto divided_by = [&](std::uint64_t parts, std::string_view what) -> Result<std::string> {
    if (const auto each = divide(thing, parts)) return *each;
    return cannot_say(
        thing,
        counting,
        fmt::format("{} cannot be divided among {} {}; make it JOB", thing.count, parts, what));
  };
  switch (counting) {
  case Counting::job: break;
  case Counting::host:
    return divided_by(static_cast<std::uint64_t>(std::max(geometry.nodes, 1)), "hosts");
  case Counting::slot: return divided_by(all_slots(geometry), "slots");
  }
  return std::to_string(thing.count);
}

std::optional<std::uint64_t>
mebibytes_per_host(std::uint64_t mebibytes, Counting counting, const Geometry& geometry) {
  if (counting == Counting::host) return mebibytes;
  if (counting == Counting::job)
    return geometry.nodes == 1 ? std::optional(mebibytes) : std::nullopt;
  const auto slots = static_cast<std::uint64_t>(likely_slots(geometry).least);
  return (mebibytes + slots - 1) / slots;
}

std::optional<std::uint64_t>
mebibytes_per_slot(std::uint64_t mebibytes, Counting counting, const Geometry& geometry) {
  if (counting == Counting::slot) return mebibytes;
  if (counting == Counting::job && geometry.nodes != 1) return std::nullopt;
  return mebibytes * static_cast<std::uint64_t>(likely_slots(geometry).most);
}

} // namespace shim::submit
