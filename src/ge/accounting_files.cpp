#include "accounting_files.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::ge {

namespace {

// Of a file at once. Larger pieces come from the kernel page by page, each time anew.
constexpr std::size_t k_block = std::size_t{512} << 10;
constexpr std::size_t k_longest_line = std::size_t{16} << 20;
constexpr std::int64_t k_late = 86400; // how much later than its neighbours a record may be written
constexpr int k_convincing = 500;

struct File {
  std::string path;
  std::int64_t changed = 0;
};

bool is_accounting(std::string_view name) {
  if (!name.starts_with("accounting")) return false;
  const auto rest = name.substr(std::string_view("accounting").size());
  return rest.empty() || rest[0] == '.' || rest[0] == '-';
}

bool is_packed(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".bz2") || path.ends_with(".xz") ||
         path.ends_with(".zst");
}

// What decides whether a line is worth reading, without reading it.
struct Glance {
  std::uint64_t job = 0;
  std::string_view owner;
  std::int64_t end = 0; // 0 = not told
};

// The value behind a key of a JSON line, as it stands there.
std::string_view json_value(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  auto rest = line.substr(at + key.size());
  if (!rest.empty() && rest.front() == '"') rest.remove_prefix(1);
  return rest.substr(0, rest.find_first_of(",}\""));
}

std::int64_t seconds_of(std::string_view text) {
  auto value = parse_int<std::int64_t>(text).value_or(0);
  while (value >= 100'000'000'000)
    value /= 1000;
  return value;
}

std::optional<Glance> glance(std::string_view line) {
  Glance seen;
  if (line.front() == '{') {
    const auto job = parse_int<std::uint64_t>(json_value(line, "\"job_number\":"));
    if (!job) return std::nullopt;
    seen.job = *job;
    seen.owner = json_value(line, "\"owner\":");
    seen.end = seconds_of(json_value(line, "\"end_time\":"));
    return seen;
  }
  std::size_t from = 0;
  for (int field = 0; field <= 10; ++field) {
    const auto to = line.find(':', from);
    if (to == std::string_view::npos) return std::nullopt;
    const auto text = line.substr(from, to - from);
    if (field == 3) seen.owner = text;
    if (field == 5) {
      const auto job = parse_int<std::uint64_t>(text);
      if (!job) return std::nullopt;
      seen.job = *job;
    }
    if (field == 10) seen.end = seconds_of(text);
    from = to + 1;
  }
  return seen;
}

bool may_be_selected(const Glance& seen, const AccountingSelection& selection) {
  if (!selection.jobs.empty() && !selection.jobs.contains(seen.job)) return false;
  if (seen.end != 0 && seen.end < selection.since) return false;
  return selection.owners.empty() ||
         std::ranges::find(selection.owners, seen.owner) != selection.owners.end();
}

// Gives the lines of a whole text to the search, last one first. False: it has enough.
bool search_text(std::string_view text, BackwardSearch& search) {
  while (!text.empty()) {
    const auto end = text.rfind('\n');
    const auto line = end == std::string_view::npos ? text : text.substr(end + 1);
    if (!line.empty() && !search.take(line)) return false;
    text = text.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return true;
}

// The same of a file, block by block from its end. What is before the first line feed of a block
// belongs to the line that the next block ends with.
Result<bool> search_file(const std::string& path, BackwardSearch& search) {
  const posix::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path, errno);
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return fail_errno("stat " + path, errno);
  std::int64_t at = facts.st_size;
  std::string buffer;
  while (at > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::int64_t>(at, k_block));
    at -= static_cast<std::int64_t>(size);
    std::string block(size, '\0');
    std::size_t have = 0;
    while (have < size) {
      const auto got =
          ::pread(fd.get(), block.data() + have, size - have, at + static_cast<std::int64_t>(have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail_errno("read " + path, errno);
      if (got == 0) return fail(ErrorKind::io, "read " + path + ": the file shrinks");
      have += static_cast<std::size_t>(got);
    }
    // A line without its end is still being written: the old format would not show that it is torn.
    if (at + static_cast<std::int64_t>(size) == facts.st_size && block.back() != '\n') {
      const auto line = block.rfind('\n');
      const auto torn = line == std::string::npos ? 0 : line + 1;
      if (block[torn] != '{') block.resize(torn);
    }
    block += buffer;
    const auto first = at == 0 ? 0 : block.find('\n');
    if (first == std::string::npos) {
      if (block.size() > k_longest_line)
        return fail(ErrorKind::malformed, path + ": a line of more than 16 MiB");
      buffer = std::move(block);
      continue;
    }
    const std::string_view lines(block);
    if (!search_text(lines.substr(at == 0 ? 0 : first + 1), search)) return false;
    buffer = at == 0 ? std::string() : block.substr(0, first);
  }
  return true;
}

Result<bool> search_packed(const Tools& tools, const std::string& path, BackwardSearch& search) {
  if (!path.ends_with(".gz"))
    return fail(ErrorKind::unavailable, path + ": compressed in a way that is not read");
  TRY_ASSIGN(const auto output, tools.run_program({"gzip", "-dc", path}));
  if (output.status != 0)
    return fail(ErrorKind::unavailable, "gzip -dc " + path + ": " + std::string(trim(output.err)));
  return search_text(output.out, search);
}

} // namespace

bool BackwardSearch::take(std::string_view line) {
  const auto seen = glance(line);
  if (seen && may_be_selected(*seen, m_selection)) {
    auto record = line.front() == '{' ? parse_accounting_json(line) : parse_accounting_line(line);
    if (!record || !is_selected(*record, m_selection)) return true;
    m_old_in_a_row = 0;
    m_seen.insert(record->job);
    if (record->submit != 0 && !is_requeue(*record))
      m_earliest_submit =
          m_earliest_submit == 0 ? record->submit : std::min(m_earliest_submit, record->submit);
    m_found.push_back(std::move(*record));
    return true;
  }
  const auto limit = horizon();
  const bool old = seen && limit != 0 && seen->end != 0 && seen->end < limit - k_late;
  m_old_in_a_row = old ? m_old_in_a_row + 1 : 0;
  return m_old_in_a_row < k_convincing;
}

std::int64_t BackwardSearch::horizon() const {
  auto limit = m_selection.since;
  // All jobs have been seen: what is older than their submission belongs to namesakes.
  if (!m_selection.older_namesakes && !m_selection.jobs.empty() &&
      m_seen.size() == m_selection.jobs.size())
    limit = std::max(limit, m_earliest_submit);
  return limit;
}

std::vector<AccountingRecord> BackwardSearch::finish() && {
  std::ranges::reverse(m_found);
  return std::move(m_found);
}

std::vector<std::string> accounting_files(const EnvList& env) {
  const auto root = env.get_or("SGE_ROOT", "");
  if (root.empty()) return {};
  const auto folder = root + "/" + env.get_or("SGE_CELL", "default") + "/common";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  std::vector<File> files;
  while (dir) {
    const auto* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    if (!is_accounting(entry->d_name)) continue;
    auto path = folder + "/" + entry->d_name;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode))
      files.push_back({std::move(path), facts.st_mtim.tv_sec});
  }
  std::ranges::sort(files, [](const File& a, const File& b) {
    return a.changed != b.changed ? a.changed > b.changed : a.path < b.path;
  });
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (auto& file : files)
    paths.push_back(std::move(file.path));
  return paths;
}

Result<Accounting> read_accounting_files(const Tools& tools,
                                         const std::vector<std::string>& files,
                                         const AccountingSelection& selection,
                                         bool must_read) {
  Accounting answer;
  BackwardSearch search(selection);
  bool any = false;
  for (const auto& path : files) {
    struct stat facts {};
    const auto horizon = search.horizon();
    if (horizon != 0 && ::stat(path.c_str(), &facts) == 0 && facts.st_mtim.tv_sec < horizon) {
      any = true;
      continue; // rotated away before anything that is asked for
    }
    const auto more =
        is_packed(path) ? search_packed(tools, path, search) : search_file(path, search);
    if (!more && must_read) return tl::unexpected<Error>(more.error());
    if (!more) {
      answer.warnings.push_back(more.error().message);
      continue;
    }
    any = true;
    if (!*more) break;
  }
  if (!any && !files.empty()) return fail(ErrorKind::unavailable, answer.warnings.front());
  answer.records = std::move(search).finish();
  return answer;
}

} // namespace shim::ge
