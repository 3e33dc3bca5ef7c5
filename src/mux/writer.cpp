#include "slurm_shim/mux/writer.h"

#include "slurm_shim/base/assert.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <limits>
#include <mutex>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace shim::mux {

namespace {

constexpr std::size_t k_stack_bytes = std::size_t{256} << 10;
// What may wait for the thread. With the loop's read buffer this keeps srun within a few MiB.
constexpr std::size_t k_max_waiting = std::size_t{512} << 10;
// Written buffers come back to be filled again: growing a fresh one costs more than its content.
constexpr std::size_t k_max_spare = 3;
constexpr std::size_t k_max_spare_bytes = std::size_t{1} << 20;
// A write of at most this size does not block on a pipe that poll calls writable.
constexpr std::size_t k_small = 4096;

struct Job {
  int sink = 0;
  std::string bytes;
};

struct Sink {
  posix::Fd owned;
  int fd = -1;
  std::string name;
  std::string buffer; // of the loop's side
  int error = 0;      // first errno; set by whoever writes, under the mutex
  bool told = false;
};

} // namespace

// Shared with the thread: everything behind `mutex`. Held by a shared_ptr so that abandon() may
// leave a blocked thread behind until the process ends.
struct Shared {
  std::mutex mutex;
  std::condition_variable work, idle;
  std::deque<Job> queue;
  std::vector<std::string> spare; // empty, with room
  std::size_t waiting = 0;        // bytes queued or being written
  bool stop = false;
  std::vector<int> errors; // per sink
  std::vector<int> fds;
  int progress = -1;
};

struct Writer::State {
  std::vector<Sink> sinks;
  std::vector<int> dirty; // sinks with something in their buffer, oldest first
  posix::Fd progress;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  pthread_t thread{};
  bool has_thread = false;
  bool abandoned = false;
};

namespace {

int write_until_done(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Somebody else made the shared description non-blocking.
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void work(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  for (;;) {
    shared.work.wait(lock, [&] { return shared.stop || !shared.queue.empty(); });
    if (shared.queue.empty()) return;
    auto job = std::move(shared.queue.front());
    shared.queue.pop_front();
    const auto index = static_cast<std::size_t>(job.sink);
    const int fd = shared.errors[index] == 0 ? shared.fds[index] : -1;
    lock.unlock();
    const int error = fd >= 0 ? write_until_done(fd, job.bytes) : 0;
    lock.lock();
    if (error != 0) shared.errors[index] = error;
    shared.waiting -= job.bytes.size();
    if (shared.waiting == 0) shared.idle.notify_all();
    if (shared.spare.size() < k_max_spare && job.bytes.capacity() <= k_max_spare_bytes) {
      job.bytes.clear();
      shared.spare.push_back(std::move(job.bytes));
    }
    const std::uint64_t one = 1;
    // The counter cannot overflow, and a lost wake-up is made up for by the next one.
    [[maybe_unused]] const auto told = ::write(shared.progress, &one, sizeof one);
  }
}

std::string take_spare(Shared& shared) {
  if (shared.spare.empty()) return {};
  auto buffer = std::move(shared.spare.back());
  shared.spare.pop_back();
  return buffer;
}

void* thread_main(void* argument) {
  const std::unique_ptr<std::shared_ptr<Shared>> shared(
      static_cast<std::shared_ptr<Shared>*>(argument));
  work(**shared);
  return nullptr;
}

} // namespace

Writer::Writer() : m_state(std::make_unique<State>()) {}

Writer::~Writer() {
  auto& s = *m_state;
  if (!s.has_thread) return;
  {
    const std::lock_guard lock(s.shared->mutex);
    s.shared->stop = true;
    s.shared->work.notify_all();
  }
  if (!s.abandoned) {
    ::pthread_join(s.thread, nullptr);
    return;
  }
  // The blocked thread still uses its descriptors: they live as long as the process.
  static_cast<void>(s.progress.release());
  for (auto& sink : s.sinks)
    static_cast<void>(sink.owned.release());
  ::pthread_detach(s.thread);
}

int Writer::add_sink(int borrowed_fd, std::string name) {
  SHIM_ASSERT(!m_state->has_thread);
  Sink sink;
  sink.fd = borrowed_fd;
  sink.name = std::move(name);
  m_state->shared->fds.push_back(borrowed_fd);
  m_state->shared->errors.push_back(0);
  m_state->sinks.push_back(std::move(sink));
  return static_cast<int>(m_state->sinks.size()) - 1;
}

int Writer::add_sink(posix::Fd fd, std::string name) {
  const int number = add_sink(fd.get(), std::move(name));
  m_state->sinks.back().owned = std::move(fd);
  return number;
}

std::string& Writer::buffer(int sink) {
  auto& s = *m_state;
  auto& buffer = s.sinks[static_cast<std::size_t>(sink)].buffer;
  if (buffer.empty() && (s.dirty.empty() || s.dirty.back() != sink)) s.dirty.push_back(sink);
  return buffer;
}

bool Writer::write_small(int number) {
  auto& s = *m_state;
  auto& sink = s.sinks[static_cast<std::size_t>(number)];
  if (sink.buffer.size() > k_small) return false;
  if (s.has_thread) {
    const std::lock_guard lock(s.shared->mutex);
    if (s.shared->waiting != 0) return false; // keep the order
  }
  pollfd ready{sink.fd, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1) return false;
  const auto error = write_until_done(sink.fd, sink.buffer);
  sink.buffer.clear();
  if (error != 0) {
    const std::lock_guard lock(s.shared->mutex);
    auto& first = s.shared->errors[static_cast<std::size_t>(number)];
    if (first == 0) first = error;
  }
  return true;
}

void Writer::start_thread() {
  auto& s = *m_state;
  s.progress.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  s.shared->progress = s.progress.get();
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, k_stack_bytes);
  // Signals are the loop's business.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto argument = std::make_unique<std::shared_ptr<Shared>>(s.shared);
  const int error = ::pthread_create(&s.thread, &attributes, thread_main, argument.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error == 0) {
    static_cast<void>(argument.release()); // the thread's now
    s.has_thread = true;
  }
}

void Writer::flush() {
  auto& s = *m_state;
  if (s.abandoned) {
    for (const int number : s.dirty)
      s.sinks[static_cast<std::size_t>(number)].buffer.clear();
    s.dirty.clear();
    return;
  }
  for (const int number : s.dirty) {
    auto& sink = s.sinks[static_cast<std::size_t>(number)];
    if (sink.buffer.empty() || write_small(number)) continue;
    if (!s.has_thread) start_thread();
    const std::lock_guard lock(s.shared->mutex);
    if (!s.has_thread) { // no thread to be had: blocking is all that is left
      s.shared->errors[static_cast<std::size_t>(number)] = write_until_done(sink.fd, sink.buffer);
      sink.buffer.clear();
      continue;
    }
    s.shared->waiting += sink.buffer.size();
    s.shared->queue.push_back({number, take_spare(*s.shared)});
    std::swap(s.shared->queue.back().bytes, sink.buffer);
    s.shared->work.notify_one();
  }
  s.dirty.clear();
}

bool Writer::is_full() const {
  if (!m_state->has_thread) return false;
  const std::lock_guard lock(m_state->shared->mutex);
  return m_state->shared->waiting > k_max_waiting;
}

bool Writer::is_idle() const {
  if (!m_state->has_thread || m_state->abandoned) return true;
  const std::lock_guard lock(m_state->shared->mutex);
  return m_state->shared->waiting == 0;
}

int Writer::progress_fd() const {
  return m_state->progress.get();
}

void Writer::acknowledge_progress() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(m_state->progress.get(), &count, sizeof count);
}

void Writer::drain() {
  flush();
  auto& s = *m_state;
  if (!s.has_thread || s.abandoned) return;
  std::unique_lock lock(s.shared->mutex);
  s.shared->idle.wait(lock, [&] { return s.shared->waiting == 0; });
}

void Writer::abandon() {
  m_state->abandoned = true;
}

std::vector<std::string> Writer::take_errors() {
  auto& s = *m_state;
  const std::lock_guard lock(s.shared->mutex);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < s.sinks.size(); ++i) {
    auto& sink = s.sinks[i];
    const int error = s.shared->errors[i];
    if (error == 0 || error == EPIPE || sink.told) continue;
    sink.told = true;
    out.push_back(fail_errno("write error: " + sink.name, error).value().message);
  }
  return out;
}

bool Writer::broken_pipe() const {
  auto& s = *m_state;
  const std::lock_guard lock(s.shared->mutex);
  return std::ranges::any_of(s.shared->errors, [](int error) { return error == EPIPE; });
}

} // namespace shim::mux
