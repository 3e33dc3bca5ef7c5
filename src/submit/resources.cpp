#include "resources.h"

#include "counting.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/resources.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace shim::submit {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// "-l a=1,b" of the configuration.
Pairs parse_pairs(std::string_view list) {
  if (list.starts_with("-l ")) list = trim(list.substr(3));
  Pairs pairs;
  for (const auto item : split(list, ',')) {
    const auto equals = item.find('=');
    if (trim(item).empty()) continue;
    pairs.emplace_back(
        std::string(trim(item.substr(0, equals))),
        equals == std::string_view::npos ? "" : std::string(trim(item.substr(equals + 1))));
  }
  return pairs;
}

bool is_truth_value(std::string_view text) {
  for (const auto word : {"true", "false", "1", "0"})
    if (equals_ignore_case(text, word)) return true;
  return text.empty();
}

class ResourcePlanner {
public:
  ResourcePlanner(const Request& request,
                  const config::Config& config,
                  const EngineFacts& facts,
                  const Geometry& geometry,
                  const GpuDemand& gpus)
      : m_request(request), m_config(config), m_facts(facts), m_geometry(geometry), m_gpus(gpus) {}

  Result<Resources> run() {
    TRY(gpus()); // memory may be given per GPU, but stands before them
    const auto of_gpus = std::exchange(m_out.requests, {});
    memory();
    ask(of_gpus);
    TRY(other_gres());
    temporary_space();
    TRY(licenses());
    if (m_request.constraint) {
      TRY_ASSIGN(const auto asked, features("constraint", *m_request.constraint, m_out.dropped));
      ask(asked);
    }
    if (m_request.prefer) TRY(wish(*m_request.prefer));
    exclusive();
    return std::move(m_out);
  }

private:
  void ask(std::string name, std::string value) {
    m_out.requests.emplace_back(std::move(name), std::move(value));
  }
  void ask(const Pairs& pairs) {
    m_out.requests.insert(m_out.requests.end(), pairs.begin(), pairs.end());
  }
  void drop(std::string_view option, std::string_view why) {
    m_out.dropped.push_back(fmt::format("--{}: {}", option, why));
  }

  Result<Pairs> features(std::string_view option,
                         const std::string& expression,
                         std::vector<std::string>& untranslated) const;
  [[nodiscard]] Result<std::optional<Pairs>>
  alternatives(const std::vector<std::string_view>& names) const;
  Result<void> wish(const std::string& expression);

  Result<void> licenses() {
    if (!m_request.licenses || m_request.licenses->empty()) return {};
    const auto list = slurm::parse_licenses(*m_request.licenses);
    if (!list) return refuse(list.error().message, list.error().exit_code);
    for (const auto& license : *list) {
      const auto it = m_config.licenses.find(license.name);
      if (it == m_config.licenses.end()) return refuse_submission("Invalid license specification");
      const auto counting = counting_of(it->second, "auto", m_facts, Counting::job);
      if (!counting) return no_complex(it->second, "licenses", "Invalid license specification");
      const Whole thing{"licenses",
                        it->second,
                        static_cast<std::uint64_t>(license.count),
                        counts_parts(it->second, m_facts)};
      TRY_ASSIGN(auto number, request_per_job(thing, *counting, m_geometry));
      ask(it->second, std::move(number));
    }
    return {};
  }

  static tl::unexpected<Error>
  no_complex(const std::string& complex, std::string_view key, std::string_view reason) {
    return refuse(fmt::format("config {}: Grid Engine has no complex \"{}\"\n"
                              "Batch job submission failed: {}",
                              key,
                              complex,
                              reason));
  }

  Result<void> other_gres() {
    for (const auto& gres : m_request.gres) {
      if (gres.name == "gpu" || gres.count == 0) continue;
      const auto it = m_config.gres_map.find(gres.name);
      if (it == m_config.gres_map.end()) return refuse(k_bad_gres);
      const auto counting = counting_of(it->second, "auto", m_facts, Counting::host);
      if (!counting) return no_complex(it->second, "gres_map", k_bad_gres);
      TRY(ask_per_host("gres", it->second, gres.count, *counting));
      if (!gres.type.empty())
        drop("gres", fmt::format("the type of {}:{} is not translated", gres.name, gres.type));
    }
    return {};
  }

  void exclusive() {
    if (!m_request.exclusive) return;
    if (m_request.exclusive != slurm::Exclusive::node)
      m_out.warnings.emplace_back("--exclusive: the hosts are shared with nobody, not even with "
                                  "other jobs of the same user");
    if (!m_config.exclusive_complex.empty())
      ask(m_config.exclusive_complex, "true");
    else if (!m_geometry.whole_nodes) // not served by taking all slots either
      drop("exclusive",
           "hosts may be shared with other jobs (config exclusive_complex, or slots_per_node of "
           "the partition)");
  }

  Result<void> gpus() {
    if (!m_gpus.any()) return {};
    TRY_ASSIGN(const auto each, gpus_on_node(m_gpus, m_geometry));
    std::uint64_t plain = 0;
    for (const auto& gres : each) {
      const auto type = m_config.gpu.types.find(gres.type);
      const bool known = !gres.type.empty() && type != m_config.gpu.types.end();
      m_gpus_on_node += gres.count;
      if (known && type->second.find('=') == std::string::npos) { // a complex for each type
        TRY(ask_gpus(type->second, gres.count));
        continue;
      }
      plain += gres.count;
      if (known)
        ask(parse_pairs(type->second));
      else if (!gres.type.empty())
        drop(m_gpus.option,
             fmt::format("GPUs of type \"{}\" cannot be chosen (config gpu.types): any GPU may be "
                         "granted",
                         gres.type));
    }
    if (plain > 0) TRY(ask_gpus(m_config.gpu.gres_complex, plain));
    return {};
  }

  Result<void> ask_gpus(const std::string& complex, std::uint64_t count) {
    if (complex.empty())
      return refuse("config gpu.gres_complex is empty\n" + std::string(k_bad_gres));
    const auto counting = counting_of(complex, m_config.gpu.consumable, m_facts, Counting::host);
    if (!counting) return no_complex(complex, "gpu.gres_complex", k_bad_gres);
    return ask_per_host(m_gpus.option, complex, count, *counting);
  }

  Result<void> ask_per_host(std::string_view option,
                            const std::string& complex,
                            std::uint64_t count,
                            Counting counting) {
    auto number = request_per_host(
        {option, complex, count, counts_parts(complex, m_facts)}, counting, m_geometry);
    if (number) {
      ask(complex, std::move(*number));
      return {};
    }
    if (!m_geometry.whole_nodes) return tl::unexpected(number.error());
    // Nobody else's job is on these hosts: what they have is this job's without being counted.
    drop(option,
         fmt::format("complex \"{}\" counts per slot and cannot count {} on a whole host: all that "
                     "the hosts have is this job's, but hosts without any may be granted",
                     complex,
                     count));
    return {};
  }

  void memory() {
    if (!m_request.memory) return;
    auto memory = *m_request.memory;
    static constexpr std::string_view k_names[] = {"mem", "mem-per-cpu", "mem-per-gpu"};
    const auto option = k_names[static_cast<std::size_t>(memory.per)];
    if (memory.mebibytes == 0) {
      if (!m_request.exclusive)
        m_out.warnings.push_back(fmt::format("--{}: all of a host's memory cannot be asked for: no "
                                             "memory is requested",
                                             option));
      return;
    }
    if (m_config.memory_complex.empty())
      return drop(option, "the memory request is dropped: no memory_complex is configured");
    if (m_config.memory_consumable == "none")
      return drop(option, "the memory request is dropped: memory_consumable is none");
    if (memory.per == MemoryPer::gpu)
      memory = {MemoryPer::node, memory.mebibytes * std::max<std::uint64_t>(m_gpus_on_node, 1)};
    const auto counting =
        counting_of(m_config.memory_complex, m_config.memory_consumable, m_facts, Counting::slot);
    if (!counting)
      return drop(option,
                  fmt::format("the memory request is dropped: Grid Engine has no complex \"{}\" "
                              "(config memory_complex)",
                              m_config.memory_complex));
    const bool per_cpu = memory.per == MemoryPer::cpu;
    const auto amount = per_cpu ? mebibytes_per_slot(memory.mebibytes, *counting, m_geometry)
                                : mebibytes_per_host(memory.mebibytes, *counting, m_geometry);
    if (!amount)
      return drop(option,
                  "the memory request is dropped: a complex that counts per job serves one host "
                  "only");
    const bool guessed = !slots_on_hosts(m_geometry).known() && m_geometry.slots > 1 &&
                         *counting == (per_cpu ? Counting::host : Counting::slot);
    if (guessed)
      m_out.warnings.push_back(
          fmt::format("--{}: the layout is open, all slots are taken to be on one host", option));
    ask(m_config.memory_complex, fmt::format("{}M", *amount));
  }

  void temporary_space() {
    if (!m_request.tmp_mebibytes || *m_request.tmp_mebibytes == 0) return;
    const auto& complex = m_config.tmp_complex;
    if (complex.empty())
      return drop("tmp",
                  "the request for temporary space is dropped: no tmp_complex is configured");
    const auto counting = counting_of(complex, "auto", m_facts, Counting::host);
    const auto amount = counting
                            ? mebibytes_per_host(*m_request.tmp_mebibytes, *counting, m_geometry)
                            : std::nullopt;
    if (!amount)
      return drop("tmp",
                  fmt::format("the request for temporary space is dropped: complex \"{}\" {}",
                              complex,
                              counting ? "counts per job and serves one host only"
                                       : "does not exist (config tmp_complex)"));
    ask(complex, fmt::format("{}M", *amount));
  }

  const Request& m_request;
  const config::Config& m_config;
  const EngineFacts& m_facts;
  const Geometry& m_geometry;
  const GpuDemand& m_gpus;
  std::uint64_t m_gpus_on_node = 0;
  Resources m_out;
};

// a|b: one request of a string complex can name both values; other complexes cannot.
Result<std::optional<Pairs>>
ResourcePlanner::alternatives(const std::vector<std::string_view>& names) const {
  std::string complex;
  std::vector<std::string> values;
  for (const auto name : names) {
    const auto it = m_config.features.find(std::string(name));
    if (it == m_config.features.end()) return refuse_submission("Invalid feature specification");
    const auto pairs = parse_pairs(it->second);
    if (pairs.size() != 1 || is_truth_value(pairs[0].second)) return std::nullopt;
    if (!complex.empty() && complex != pairs[0].first) return std::nullopt;
    complex = pairs[0].first;
    values.push_back(pairs[0].second);
  }
  return Pairs{{complex, join(values, "|")}};
}

// Names joined by '&' or ',' must all hold. Of `a|b`, also as `[a|b]`, one must; counts (`a*2`)
// have no translation.
Result<Pairs> ResourcePlanner::features(std::string_view option,
                                        const std::string& expression,
                                        std::vector<std::string>& untranslated) const {
  Pairs asked;
  std::string names = expression;
  std::ranges::replace(names, '&', ',');
  for (const auto part : split(names, ',')) {
    auto term = trim(part);
    if (term.empty()) continue;
    const auto leave_out = [&] {
      untranslated.push_back(
          fmt::format("--{}: \"{}\" is not translated: any host may be used", option, term));
    };
    if (m_config.features.empty()) {
      leave_out();
      continue;
    }
    auto inner = term;
    for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'(', ')'}})
      if (inner.size() > 1 && inner.front() == open && inner.back() == close)
        inner = inner.substr(1, inner.size() - 2);
    if (inner.find_first_of("[]()*") != std::string_view::npos) {
      leave_out();
      continue;
    }
    const auto choices = split(inner, '|');
    if (choices.size() > 1) {
      TRY_ASSIGN(const auto one_of, alternatives(choices));
      if (one_of)
        asked.insert(asked.end(), one_of->begin(), one_of->end());
      else
        leave_out();
      continue;
    }
    const auto it = m_config.features.find(std::string(inner));
    if (it == m_config.features.end()) return refuse_submission("Invalid feature specification");
    const auto pairs = parse_pairs(it->second);
    asked.insert(asked.end(), pairs.begin(), pairs.end());
  }
  return asked;
}

// --prefer. The engine takes no wish for what it counts.
Result<void> ResourcePlanner::wish(const std::string& expression) {
  TRY_ASSIGN(const auto wishes, features("prefer", expression, m_out.warnings));
  const auto is_counted = [&](std::string_view complex) {
    return m_facts.complexes && std::ranges::any_of(*m_facts.complexes, [&](const auto& one) {
             return (one.name == complex || one.shortcut == complex) && one.consumable != "NO";
           });
  };
  for (const auto& [complex, value] : wishes) {
    if (is_counted(complex))
      m_out.warnings.push_back(fmt::format(
          "--prefer: complex \"{}\" is a consumable, which cannot be wished for", complex));
    else
      m_out.wishes.emplace_back(complex, value);
  }
  return {};
}

} // namespace

Result<Resources> plan_resources(const Request& request,
                                 const config::Config& config,
                                 const EngineFacts& facts,
                                 const Geometry& geometry,
                                 const GpuDemand& gpus) {
  return ResourcePlanner(request, config, facts, geometry, gpus).run();
}

bool takes_whole_nodes(const Request& request,
                       const config::Config& config,
                       const config::Partition& partition) {
  return request.exclusive && config.exclusive_complex.empty() && partition.slots_per_node > 0;
}

} // namespace shim::submit
