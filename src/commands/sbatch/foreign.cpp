#include "foreign.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

namespace shim::commands::sbatch {

namespace {

struct Mapping {
  std::string_view option; // with its dash
  bool has_value = true;
  std::string_view becomes; // long name; "" = nothing here, "!" = not translated
};

// One pass over "-x value", "-xvalue" and flags.
class Translation {
public:
  Translation(std::string_view marker, std::span<const Mapping> table)
      : m_marker(marker), m_table(table) {}

  template <class Special>
  ForeignOptions run(const std::vector<DirectiveWord>& words, Special&& special) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      const auto& word = words[at];
      m_line = word.line;
      const auto* mapping = find(word.text);
      if (mapping == nullptr) {
        warn(word.text);
        continue;
      }
      std::string value = word.text.substr(mapping->option.size());
      if (mapping->has_value && value.empty() && at + 1 < words.size()) value = words[++at].text;
      if (mapping->becomes == "!")
        warn(mapping->option);
      else if (!mapping->becomes.empty())
        add(mapping->becomes, mapping->has_value ? &value : nullptr);
      else
        special(*this, mapping->option, value);
    }
    return std::move(m_result);
  }

  void add(std::string_view option, const std::string* value) {
    std::string text = "--" + std::string(option);
    if (value != nullptr) text += "=" + *value;
    m_result.words.push_back({std::move(text), m_line});
  }
  void add(std::string_view option, const std::string& value) { add(option, &value); }
  void warn(std::string_view what) {
    m_result.warnings.push_back(fmt::format("{} {} is not translated", m_marker, what));
  }

private:
  // The longest option that the word begins with; a flag must be the whole word.
  [[nodiscard]] const Mapping* find(std::string_view word) const {
    const Mapping* best = nullptr;
    for (const auto& mapping : m_table) {
      const bool fits =
          mapping.has_value ? word.starts_with(mapping.option) : word == mapping.option;
      if (fits && (best == nullptr || mapping.option.size() > best->option.size())) best = &mapping;
    }
    return best;
  }

  std::string_view m_marker;
  std::span<const Mapping> m_table;
  int m_line = 0;
  ForeignOptions m_result;
};

constexpr std::array k_pbs{
    Mapping{"-A", true, "account"},   Mapping{"-N", true, "job-name"},
    Mapping{"-J", true, "array"},     Mapping{"-M", true, "mail-user"},
    Mapping{"-V", false, ""},         Mapping{"-a", true, "!"},
    Mapping{"-e", true, "error"},     Mapping{"-h", false, "hold"},
    Mapping{"-j", true, ""},          Mapping{"-l", true, ""},
    Mapping{"-m", true, ""},          Mapping{"-o", true, "output"},
    Mapping{"-q", true, "partition"}, Mapping{"-r", true, ""},
    Mapping{"-t", true, "array"},     Mapping{"-v", true, ""},
    Mapping{"-S", true, ""},          Mapping{"-W", true, "!"},
    Mapping{"-k", true, "!"},         Mapping{"-p", true, "!"},
};

constexpr std::array k_bsub{
    Mapping{"-J", true, "job-name"},
    Mapping{"-M", true, "!"},
    Mapping{"-P", true, "account"},
    Mapping{"-R", true, "!"},
    Mapping{"-W", true, ""},
    Mapping{"-cwd", true, "chdir"},
    Mapping{"-e", true, "error"},
    Mapping{"-m", true, "nodelist"},
    Mapping{"-n", true, "ntasks"},
    Mapping{"-o", true, "output"},
    Mapping{"-q", true, "partition"},
    Mapping{"-x", false, "exclusive"},
};

// nodes=2:ppn=4
void pbs_nodes(Translation& t, std::string_view value) {
  for (const auto part : split(value, ':')) {
    if (part.starts_with("ppn="))
      t.add("ntasks-per-node", std::string(part.substr(4)));
    else if (is_digits(part))
      t.add("nodes", std::string(part));
    else
      t.warn("-l nodes=" + std::string(part));
  }
}

void pbs_resources(Translation& t, std::string_view list) {
  for (const auto item : split(list, ',')) {
    const auto equals = item.find('=');
    const auto name = item.substr(0, equals);
    const auto value =
        equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    if (name == "walltime")
      t.add("time", std::string(value));
    else if (name == "mem")
      t.add("mem", std::string(value));
    else if (name == "nodes")
      pbs_nodes(t, value);
    else
      t.warn("-l " + std::string(name));
  }
}

void pbs_mail(Translation& t, std::string_view letters) {
  std::vector<std::string> types;
  if (letters.find('b') != std::string_view::npos) types.emplace_back("BEGIN");
  if (letters.find('e') != std::string_view::npos) types.emplace_back("END");
  if (letters.find('a') != std::string_view::npos) types.emplace_back("FAIL");
  if (types.empty()) types.emplace_back("NONE");
  t.add("mail-type", join(types, ","));
}

void pbs_special(Translation& t, std::string_view option, const std::string& value) {
  if (option == "-l") {
    pbs_resources(t, value);
  } else if (option == "-m") {
    pbs_mail(t, value);
  } else if (option == "-r") {
    t.add(value == "n" ? "no-requeue" : "requeue", nullptr);
  } else if (option == "-v") {
    t.add("export", "ALL," + value);
  }
  // -V, -j oe and -S ask for what sbatch does anyway.
}

// -W [hours:]minutes
void bsub_special(Translation& t, std::string_view option, const std::string& value) {
  if (option != "-W") return;
  t.add("time", value.find(':') == std::string::npos ? value : value + ":00");
}

} // namespace

ForeignOptions translate_pbs(const std::vector<DirectiveWord>& words) {
  return Translation("#PBS", k_pbs).run(words, pbs_special);
}

ForeignOptions translate_bsub(const std::vector<DirectiveWord>& words) {
  return Translation("#BSUB", k_bsub).run(words, bsub_special);
}

} // namespace shim::commands::sbatch
