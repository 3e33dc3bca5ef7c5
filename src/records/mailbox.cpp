#include "slurm_shim/records/mailbox.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::records {

namespace {

constexpr std::string_view k_version = "v1";
constexpr std::chrono::milliseconds k_lock_patience{1000};
constexpr std::chrono::milliseconds k_lock_retry{20};
constexpr std::chrono::milliseconds k_answer_retry{200};
constexpr std::size_t k_read_chunk = 65536;

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// A second appender on another host, or a file system without locks, is no reason to give up:
// the append itself is one write.
void try_lock(int fd) {
  posix::SystemClock clock;
  for (auto left = k_lock_patience; ::flock(fd, LOCK_EX | LOCK_NB) != 0; left -= k_lock_retry) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (left.count() <= 0) return;
    clock.sleep_for(k_lock_retry);
  }
}

Error no_supervisor(const JobKey& key) {
  return Error{ErrorKind::not_found,
               "job " + key.stem() +
                   " has no supervisor (pending, ended, or not submitted by sbatch)",
               1};
}

} // namespace

std::string format_request(const MailRequest& request) {
  std::string line = std::string(k_version) + " " + request.id + " " + request.verb;
  for (const auto& arg : request.args)
    line += " " + arg;
  line += '\n';
  return line;
}

Result<MailRequest> parse_request(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() < 3) return fail(ErrorKind::malformed, "expected: v1 <id> <verb>");
  if (words[0] != k_version)
    return fail(ErrorKind::malformed, "unknown version \"" + std::string(words[0]) + "\"");
  if (!is_token(words[1])) return fail(ErrorKind::malformed, "bad request id");
  for (const auto word : words)
    if (!is_word(word)) return fail(ErrorKind::malformed, "unprintable character");
  MailRequest request{std::string(words[1]), std::string(words[2]), {}};
  request.args.assign(words.begin() + 3, words.end());
  return request;
}

Result<std::string> post_request(const StatePaths& state,
                                 const JobKey& key,
                                 std::string_view verb,
                                 const std::vector<std::string>& args) {
  auto id = append_request(state.mailbox(key), verb, args);
  if (!id && id.error().kind == ErrorKind::not_found)
    return tl::unexpected<Error>(no_supervisor(key));
  return id;
}

Result<std::string> append_request(const std::string& path,
                                   std::string_view verb,
                                   const std::vector<std::string>& args) {
  const MailRequest request{new_token(), std::string(verb), args};
  const auto line = format_request(request);
  const bool is_clean = is_word(verb) && std::all_of(args.begin(), args.end(), is_word);
  if (!is_clean || line.size() > k_max_request_bytes)
    return fail(ErrorKind::usage, "request \"" + std::string(verb) + "\" cannot be passed on");
  TRY_ASSIGN(auto fd, posix::open_file(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK));
  TRY(posix::check_trusted(fd.get(), path));
  try_lock(fd.get());
  if (const int error = posix::write_all(fd.get(), line); error != 0)
    return fail_errno(path, error);
  if (::fsync(fd.get()) != 0 || ::close(fd.release()) != 0) return fail_errno(path, errno);
  return request.id;
}

Result<RequestEvent> await_answer(const StatePaths& state,
                                  const JobKey& key,
                                  std::string_view id,
                                  posix::Clock& clock,
                                  std::chrono::milliseconds patience) {
  const auto deadline = clock.unix_ms() + patience.count();
  for (;;) {
    if (const auto text = posix::read_trusted(state.job_record(key)))
      if (auto answer = find_answer(*text, id)) return std::move(*answer);
    if (clock.unix_ms() >= deadline)
      return fail(ErrorKind::unavailable,
                  "job " + key.stem() + ": its supervisor did not answer within " +
                      std::to_string(patience.count()) + " ms");
    clock.sleep_for(k_answer_retry);
  }
}

Result<void> MailboxReader::create() {
  m_offset = 0;
  m_seen.clear();
  TRY_ASSIGN(const auto fd,
             posix::open_file(m_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK));
  return posix::check_trusted(fd.get(), m_path);
}

void MailboxReader::skip_existing() {
  const auto fd = posix::open_trusted(m_path);
  struct stat info {};
  if (fd && ::fstat(fd->get(), &info) == 0) m_offset = info.st_size;
}

std::vector<ReceivedRequest> MailboxReader::poll() {
  std::vector<ReceivedRequest> out;
  const auto fd = posix::open_trusted(m_path);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0) return out;
  if (info.st_size < m_offset) m_offset = 0; // emptied; the ids say what is old
  if (info.st_size == m_offset) return out;
  std::string bytes(k_read_chunk, '\0');
  const auto got = ::pread(fd->get(), bytes.data(), bytes.size(), m_offset);
  if (got <= 0) return out;
  bytes.resize(static_cast<std::size_t>(got));
  auto end = bytes.rfind('\n');
  if (end == std::string::npos) {
    if (bytes.size() < k_read_chunk) return out; // still being written
    end = bytes.size() - 1;                      // no request is that long: skip it
  }
  m_offset += static_cast<std::int64_t>(end) + 1;
  for (const auto line : split(std::string_view(bytes).substr(0, end), '\n')) {
    auto request = parse_request(line.substr(0, k_max_request_bytes));
    ReceivedRequest received;
    if (request) {
      received.id = request->id;
      received.request = std::move(*request);
    } else {
      const auto words = split_words(line.substr(0, k_max_request_bytes));
      if (words.size() > 1 && is_token(words[1])) received.id = words[1];
      received.problem = request.error().message;
    }
    if (received.id.empty() || m_seen.insert(received.id).second)
      out.push_back(std::move(received));
  }
  return out;
}

void MailboxReader::remove() {
  ::unlink(m_path.c_str());
}

} // namespace shim::records
