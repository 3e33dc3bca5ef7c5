#include "slurm_shim/slurm/rle.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"

namespace shim::slurm {

namespace {

tl::unexpected<Error> bad_counts(std::string_view reason, std::string_view value) {
  return fail(ErrorKind::malformed,
              "invalid hostlist: " + std::string(reason) + std::string(value));
}

struct Run {
  int value = 0;
  std::size_t repeat = 1;
};

Result<Run> parse_run(std::string_view item) {
  const auto open = item.find('(');
  const auto count = item.substr(0, open);
  Run run;
  if (open != std::string_view::npos) {
    const auto tail = item.substr(open);
    if (tail.size() < 3 || tail[1] != 'x' || tail.back() != ')')
      return bad_counts("bad run ", item);
    const auto digits = tail.substr(2, tail.size() - 3);
    const auto repeat = parse_int<std::size_t>(digits);
    if (!is_digits(digits) || !repeat || *repeat == 0) return bad_counts("bad repeat ", item);
    run.repeat = *repeat;
  }
  const auto value = parse_int<int>(count);
  if (!is_digits(count) || !value) return bad_counts("bad count ", item);
  run.value = *value;
  return run;
}

} // namespace

std::string compress_counts(const std::vector<int>& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t end = i + 1;
    while (end < counts.size() && counts[end] == counts[i])
      ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(counts[i]);
    if (end - i > 1) out += "(x" + std::to_string(end - i) + ")";
    i = end;
  }
  return out;
}

Result<std::vector<int>> expand_counts(std::string_view text) {
  if (text.empty()) return bad_counts("empty tasks-per-node", "");
  std::vector<int> counts;
  for (const auto item : split(text, ',')) {
    TRY_ASSIGN(const auto run, parse_run(item));
    if (run.repeat > k_max_hosts - counts.size()) return bad_counts("too many hosts", "");
    counts.insert(counts.end(), run.repeat, run.value);
  }
  return counts;
}

} // namespace shim::slurm
