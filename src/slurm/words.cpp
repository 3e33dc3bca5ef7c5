#include "slurm_shim/slurm/words.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>

namespace shim::slurm {

namespace {

tl::unexpected<Error> bad_option(std::string_view option) {
  return fail(
      ErrorKind::usage, "Invalid --" + std::string(option) + " specification", k_exit_usage);
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view known) {
    return equals_ignore_case(word, known);
  });
}

bool is_first_part(std::string_view text, std::string_view word) {
  return !text.empty() && equals_ignore_case(text, word.substr(0, text.size()));
}

} // namespace

Result<OpenMode> parse_open_mode(std::string_view text) {
  if (is_first_part(text, "append")) return OpenMode::append;
  if (is_first_part(text, "truncate")) return OpenMode::truncate;
  return bad_option("open-mode");
}

Result<bool> parse_yes_no(std::string_view text, std::string_view option) {
  if (equals_ignore_case(text, "yes")) return true;
  if (equals_ignore_case(text, "no")) return false;
  return bad_option(option);
}

Result<Exclusive> parse_exclusive(std::optional<std::string_view> text) {
  if (!text || equals_ignore_case(*text, "exclusive")) return Exclusive::node;
  if (equals_ignore_case(*text, "user")) return Exclusive::user;
  if (equals_ignore_case(*text, "mcs")) return Exclusive::mcs;
  return bad_option("exclusive");
}

Result<void> check_hint(std::string_view text) {
  static constexpr std::array<std::string_view, 4> k_hints{
      "compute_bound", "memory_bound", "multithread", "nomultithread"};
  for (const auto word : split(text, ','))
    if (!is_one_of(word, k_hints))
      return fail(ErrorKind::usage,
                  "unrecognized --hint argument \"" + std::string(word) + "\", see --hint=help",
                  k_exit_failure);
  return {};
}

std::string_view hint_help() {
  return "Application hint options:\n"
         "    --hint=             Bind tasks according to application hints\n"
         "        compute_bound   use all cores in each socket\n"
         "        memory_bound    use only one core in each socket\n"
         "        [no]multithread [don't] use extra threads with in-core multi-threading\n"
         "        help            show this help message\n";
}

Result<void> check_profile(std::string_view text) {
  static constexpr std::array<std::string_view, 7> k_kinds{
      "none", "all", "energy", "task", "lustre", "network", "filesystem"};
  for (const auto word : split(text, ','))
    if (!is_one_of(word, k_kinds))
      return fail(
          ErrorKind::usage, "invalid --profile=" + std::string(text) + " option", k_exit_usage);
  return {};
}

Result<void> check_propagate(std::string_view text) {
  static constexpr std::array<std::string_view, 14> k_limits{"ALL",
                                                             "NONE",
                                                             "AS",
                                                             "CORE",
                                                             "CPU",
                                                             "DATA",
                                                             "FSIZE",
                                                             "MEMLOCK",
                                                             "NOFILE",
                                                             "NPROC",
                                                             "RSS",
                                                             "STACK",
                                                             "LOCKS",
                                                             "SIGPENDING"};
  for (auto word : split(text, ',')) {
    if (equals_ignore_case(word.substr(0, 7), "RLIMIT_")) word.remove_prefix(7);
    if (!is_one_of(word, k_limits))
      return fail(ErrorKind::usage,
                  "Bad rlimit name: " + std::string(word) + "\n--propagate=" + std::string(text) +
                      " is not valid.",
                  k_exit_failure);
  }
  return {};
}

namespace {

struct MailName {
  std::string_view name;
  bool MailTypes::*field;
};
// In the order in which Slurm prints them.
constexpr std::array k_mail_names{
    MailName{"ARRAY_TASKS", &MailTypes::array_tasks},
    MailName{"INVALID_DEPEND", &MailTypes::invalid_depend},
    MailName{"BEGIN", &MailTypes::begin},
    MailName{"END", &MailTypes::end},
    MailName{"FAIL", &MailTypes::fail},
    MailName{"REQUEUE", &MailTypes::requeue},
    MailName{"STAGE_OUT", &MailTypes::stage_out},
    MailName{"TIME_LIMIT_50", &MailTypes::time_limit_50},
    MailName{"TIME_LIMIT_80", &MailTypes::time_limit_80},
    MailName{"TIME_LIMIT_90", &MailTypes::time_limit_90},
    MailName{"TIME_LIMIT", &MailTypes::time_limit},
};

} // namespace

Result<MailTypes> parse_mail_types(std::string_view text) {
  MailTypes types;
  for (const auto word : split(text, ',')) {
    if (equals_ignore_case(word, "NONE")) {
      types = {};
    } else if (equals_ignore_case(word, "ALL")) {
      types.begin = types.end = types.fail = types.requeue = true;
      types.stage_out = types.invalid_depend = true;
    } else {
      const auto known = std::find_if(k_mail_names.begin(), k_mail_names.end(), [&](const auto& n) {
        return equals_ignore_case(word, n.name);
      });
      if (known == k_mail_names.end()) return bad_option("mail-type");
      types.*(known->field) = true;
    }
  }
  return types;
}

std::string format_mail_types(const MailTypes& types) {
  std::vector<std::string_view> names;
  for (const auto& known : k_mail_names)
    if (types.*(known.field)) names.push_back(known.name);
  return join(names, ",");
}

namespace {

// One item up to a comma outside quotes, quotes removed; `rest` moves behind the comma.
Result<std::string> take_export_item(std::string_view& rest) {
  std::string item;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    const char c = rest[i];
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        item += c;
    } else if ((c == '"' || c == '\'') && !item.empty() && item.back() == '=') {
      quote = c;
    } else if (c == ',') {
      break;
    } else {
      item += c;
    }
  }
  if (quote != '\0') return bad_option("export");
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return item;
}

} // namespace

Result<ExportSpec> parse_export(std::string_view text) {
  ExportSpec spec;
  if (equals_ignore_case(text, "ALL")) return spec;
  spec.all = false;
  spec.none = text.empty() || equals_ignore_case(text, "NONE") || equals_ignore_case(text, "NIL");
  if (spec.none) return spec;
  for (auto rest = text; !rest.empty();) {
    TRY_ASSIGN(const auto item, take_export_item(rest));
    if (item.empty()) continue;
    const auto equals = item.find('=');
    if (equals == 0) return bad_option("export");
    if (equals_ignore_case(item, "ALL"))
      spec.all = true;
    else if (equals == std::string::npos)
      spec.names.push_back(item);
    else
      spec.settings.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return spec;
}

} // namespace shim::slurm
