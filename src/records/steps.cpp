#include "slurm_shim/records/steps.h"

#include "json_fields.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::records {

namespace {

constexpr std::size_t k_max_step_file = std::size_t{16} << 20; // 65,536 host names
constexpr std::size_t k_order_chunk = 65536;

std::string to_json(const RunningStep& step) {
  Json out{{"v", 1},
           {"step", step.step},
           {"pid", step.pid},
           {"start", static_cast<double>(step.start_ms) / 1000.0},
           {"name", exact_text(step.name)},
           {"hosts", step.hosts},
           {"ntasks", step.ntasks},
           {"cpus", step.cpus}};
  if (std::any_of(step.gpus.begin(), step.gpus.end(), [](const auto& ids) { return !ids.empty(); }))
    out["gpus"] = step.gpus;
  if (step.parent >= 0) out["parent"] = step.parent;
  return dump(out) + "\n";
}

Result<RunningStep> step_from_json(std::string_view text, const std::string& where) {
  TRY_ASSIGN(const auto object, parse_versioned(text, where));
  RunningStep step;
  Fields fields(object, where);
  fields.require("step");
  fields.read("step", step.step);
  fields.read("pid", step.pid);
  fields.read_ms("start", step.start_ms);
  fields.read("name", step.name);
  fields.read("hosts", step.hosts);
  fields.read("ntasks", step.ntasks);
  fields.read("cpus", step.cpus);
  fields.read("gpus", step.gpus);
  fields.read("parent", step.parent);
  TRY(fields.finish());
  return step;
}

// "signal <n>" or "end".
std::optional<StepRequest> parse_step_request(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() == 1 && words[0] == "end") return StepRequest{StepRequest::Kind::end, 0};
  if (words.size() != 2 || words[0] != "signal") return std::nullopt;
  const auto number = parse_int<int>(words[1]);
  if (!number || *number < 1 || *number > 64) return std::nullopt;
  return StepRequest{StepRequest::Kind::signal, *number};
}

// Numbers of the steps that have a file, whoever wrote it.
std::vector<int> step_numbers(const JobFolder& folder) {
  std::vector<int> numbers;
  DIR* directory = ::opendir(folder.steps_dir().c_str());
  if (directory == nullptr) return numbers;
  while (const auto* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(".json")) continue;
    if (const auto number = parse_int<int>(name.substr(0, name.size() - 5)))
      numbers.push_back(*number);
  }
  ::closedir(directory);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// True when nobody holds the lock. Any doubt counts as held.
bool is_unlocked(int fd) {
  return ::flock(fd, LOCK_SH | LOCK_NB) == 0;
}

std::optional<RunningStep> read_running_step(const JobFolder& folder, int number) {
  const auto path = folder.step_file(number);
  const auto fd = posix::open_trusted(path);
  if (!fd) return std::nullopt;
  if (is_unlocked(fd->get())) {
    ::unlink(path.c_str());
    ::unlink(folder.step_requests(number).c_str());
    return std::nullopt;
  }
  const auto text = posix::read_fd(fd->get(), k_max_step_file);
  if (!text) return std::nullopt;
  auto step = step_from_json(*text, path);
  if (!step) return std::nullopt;
  return std::move(*step);
}

// The steps that do not stand around the caller, whose own step is `parent`.
void for_each_beside(const std::vector<RunningStep>& steps, int parent, auto&& take) {
  std::vector<int> around;
  const auto is_around = [&](int step) {
    return std::find(around.begin(), around.end(), step) != around.end();
  };
  while (parent >= 0 && !is_around(parent)) {
    around.push_back(parent);
    const auto found = std::find_if(
        steps.begin(), steps.end(), [&](const auto& step) { return step.step == parent; });
    parent = found == steps.end() ? -1 : found->parent;
  }
  for (const auto& step : steps)
    if (!is_around(step.step)) take(step);
}

} // namespace

Result<StepRegistration> StepRegistration::create(const JobFolder& folder,
                                                  const RunningStep& step) {
  TRY(posix::make_directories(folder.steps_dir()));
  const auto path = folder.step_file(step.step);
  const auto request_path = folder.step_requests(step.step);
  ::unlink(request_path.c_str()); // a dead step's of that number
  const auto temporary =
      folder.steps_dir() + "/." + std::to_string(step.step) + ".json." + std::to_string(::getpid());
  TRY_ASSIGN(auto lock, posix::open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
  int error = ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  if (error == 0) error = posix::write_all(lock.get(), to_json(step));
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return fail_errno(path, error);
  }
  return StepRegistration(std::move(lock), path, request_path);
}

StepRegistration::~StepRegistration() {
  if (!m_lock) return; // moved from
  ::unlink(m_file.c_str());
  ::unlink(m_request_file.c_str());
}

std::vector<StepRequest> StepRegistration::poll() {
  std::vector<StepRequest> out;
  if (!m_requests) {
    auto opened = posix::open_trusted(m_request_file);
    if (!opened) return out; // nobody has asked yet
    m_requests = std::move(*opened);
  }
  struct stat info {};
  if (::fstat(m_requests.get(), &info) != 0 || info.st_size <= m_offset) return out;
  std::string bytes(k_order_chunk, '\0');
  const auto got = ::pread(m_requests.get(), bytes.data(), bytes.size(), m_offset);
  if (got <= 0) return out;
  bytes.resize(static_cast<std::size_t>(got));
  const auto end = bytes.rfind('\n');
  if (end == std::string::npos) return out;
  m_offset += static_cast<std::int64_t>(end) + 1;
  for (const auto line : split(std::string_view(bytes).substr(0, end), '\n'))
    if (const auto request = parse_step_request(line)) out.push_back(*request);
  return out;
}

std::vector<RunningStep> list_running_steps(const JobFolder& folder) {
  std::vector<RunningStep> out;
  for (const int number : step_numbers(folder))
    if (auto step = read_running_step(folder, number)) out.push_back(std::move(*step));
  return out;
}

std::map<std::string, int> slots_in_use(const std::vector<RunningStep>& steps, int parent) {
  std::map<std::string, int> out;
  for_each_beside(steps, parent, [&](const RunningStep& step) {
    for (std::size_t i = 0; i < step.hosts.size() && i < step.cpus.size(); ++i)
      out[step.hosts[i]] += step.cpus[i];
  });
  return out;
}

std::map<std::string, std::vector<std::string>>
devices_in_use(const std::vector<RunningStep>& steps, int parent) {
  std::map<std::string, std::vector<std::string>> out;
  for_each_beside(steps, parent, [&](const RunningStep& step) {
    for (std::size_t i = 0; i < step.hosts.size() && i < step.gpus.size(); ++i) {
      auto& held = out[step.hosts[i]];
      held.insert(held.end(), step.gpus[i].begin(), step.gpus[i].end());
    }
  });
  return out;
}

Result<posix::Fd> take_claim_lock(const JobFolder& folder) {
  TRY(posix::make_directories(folder.root()));
  const auto path = folder.root() + "/claim";
  TRY_ASSIGN(auto fd, posix::open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  TRY(posix::check_trusted(fd.get(), path));
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail_errno(path, errno);
  return fd;
}

std::optional<RunningStep>
find_step_on_host(const JobFolder& folder, std::string_view host, int own_step) {
  for (auto& step : list_running_steps(folder))
    if (step.step != own_step &&
        std::find(step.hosts.begin(), step.hosts.end(), host) != step.hosts.end())
      return std::move(step);
  return std::nullopt;
}

Result<void> post_step_request(const JobFolder& folder, int step, const StepRequest& request) {
  if (!read_running_step(folder, step))
    return fail(ErrorKind::not_found, "step " + std::to_string(step) + " is not running");
  const auto path = folder.step_requests(step);
  // The first request makes the file: most steps are never asked anything.
  TRY_ASSIGN(const auto fd,
             posix::open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  TRY(posix::check_trusted(fd.get(), path));
  const std::string line = request.kind == StepRequest::Kind::end
                               ? "end\n"
                               : "signal " + std::to_string(request.signal) + "\n";
  if (const int error = posix::write_all(fd.get(), line); error != 0)
    return fail_errno(path, error);
  return {};
}

Result<posix::Fd> take_supervisor_lock(const JobFolder& folder) {
  constexpr std::chrono::milliseconds k_retry_lock{10};
  constexpr int k_tries = 100; // somebody may be looking at the lock right now
  const auto path = folder.lock();
  TRY_ASSIGN(auto fd, posix::open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  TRY(posix::check_trusted(fd.get(), path));
  posix::SystemClock clock;
  for (int i = 0; ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno(path, errno);
    if (i == k_tries) return fail(ErrorKind::refused, path + ": held by another supervisor");
    clock.sleep_for(k_retry_lock);
  }
  return fd;
}

bool supervisor_is_gone(const JobFolder& folder) {
  if (!posix::exists(folder.batch_json())) return false;
  const auto fd = posix::open_trusted(folder.lock());
  return fd && is_unlocked(fd->get());
}

std::optional<std::string> read_preflight(const JobFolder& folder) {
  constexpr std::size_t k_limit = 4096;
  const auto text = posix::read_trusted(folder.preflight(), k_limit);
  if (!text) return std::nullopt;
  const auto line = trim(*text);
  if (line != "TRUE" && line != "FALSE" && line.substr(0, 7) != "unknown") return std::nullopt;
  return std::string(line);
}

Result<void> write_preflight(const JobFolder& folder, std::string_view answer) {
  std::string line(answer);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return posix::write_file_atomic(folder.preflight(), line + "\n");
}

} // namespace shim::records
