// sbcast: a file to a file of that name on every host of a job. The bytes travel as the standard
// input of a step with one task on each host, whose program is sbcast itself with --receive.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/probes.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/job_id.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shim::commands {

namespace {

constexpr cli::HelpFrame k_help{
    .synopsis = "sbcast [OPTIONS...] SOURCE DEST",
    .description =
        "Copies a file to DEST on every host of a job, by a step of the job. DEST may be\n"
        "a directory that is there.",
};

// What the receivers are told of the file, in one word of their command line.
struct Parcel {
  std::uint64_t size = 0;
  unsigned mode = 0600;
  std::int64_t modified_s = 0, modified_ns = 0;
  bool force = false, preserve = false;
};

std::string to_word(const Parcel& parcel) {
  return fmt::format("{},{},{},{},{:d},{:d}",
                     parcel.size,
                     parcel.mode,
                     parcel.modified_s,
                     parcel.modified_ns,
                     parcel.force,
                     parcel.preserve);
}

std::optional<Parcel> parcel_of(std::string_view word) {
  const auto parts = split(word, ',');
  if (parts.size() != 6) return std::nullopt;
  const auto size = parse_int<std::uint64_t>(parts[0]);
  const auto mode = parse_int<unsigned>(parts[1]);
  const auto seconds = parse_int<std::int64_t>(parts[2]);
  const auto nanoseconds = parse_int<std::int64_t>(parts[3]);
  if (!size || !mode || *mode > 07777 || !seconds || !nanoseconds) return std::nullopt;
  return Parcel{*size, *mode, *seconds, *nanoseconds, parts[4] == "1", parts[5] == "1"};
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

// The file while it comes; removed unless it has been put in its place.
class Arrival {
public:
  explicit Arrival(const std::string& target)
      : m_target(target),
        m_path(posix::dir_name(target) + "/." + std::string(posix::base_name(target)) + ".sbcast-" +
               posix::random_hex(8)) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() {
    if (m_file) ::unlink(m_path.c_str());
  }

  Result<void> take(int from, std::uint64_t size) {
    TRY_ASSIGN(m_file, posix::open_file(m_path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    std::uint64_t total = 0;
    std::array<char, 65536> buffer{};
    while (true) {
      const auto got = ::read(from, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail_errno("read", errno);
      if (got == 0) break;
      total += static_cast<std::uint64_t>(got);
      if (const int error =
              posix::write_all(m_file.get(), {buffer.data(), static_cast<std::size_t>(got)});
          error != 0)
        return fail_errno("write " + m_path, error);
    }
    if (total != size)
      return fail(ErrorKind::io, fmt::format("only {} of {} bytes came", total, size));
    return {};
  }

  Result<void> dress(const Parcel& parcel) {
    const auto mask = ::umask(0); // it can only be read by setting it
    ::umask(mask);
    const auto mode = parcel.preserve ? parcel.mode : parcel.mode & 0777 & ~mask;
    if (::fchmod(m_file.get(), mode) != 0) return fail_errno("chmod " + m_path, errno);
    const timespec modified{static_cast<std::time_t>(parcel.modified_s),
                            static_cast<long>(parcel.modified_ns)};
    const std::array times{modified, modified};
    if (parcel.preserve && ::futimens(m_file.get(), times.data()) != 0)
      return fail_errno("touch " + m_path, errno);
    return {};
  }

  // Whole or not at all. Without force a file that is there stays.
  Result<void> settle(bool force) {
    if (force) {
      if (::rename(m_path.c_str(), m_target.c_str()) != 0) return fail_errno(m_target, errno);
      m_file.reset();
      return {};
    }
    if (::link(m_path.c_str(), m_target.c_str()) != 0) return fail_errno(m_target, errno);
    return {};
  }

private:
  std::string m_target, m_path;
  posix::Fd m_file;
};

Result<void> receive(const Parcel& parcel, std::string target, std::string_view name) {
  struct stat facts {};
  if (::stat(target.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
    target += "/" + std::string(name);
  if (!parcel.force && ::lstat(target.c_str(), &facts) == 0) return fail_errno(target, EEXIST);
  Arrival arrival(target);
  TRY(arrival.take(STDIN_FILENO, parcel.size));
  TRY(arrival.dress(parcel));
  return arrival.settle(parcel.force);
}

int run_receiver(const context::Context& ctx, const cli::Parsed& parsed) {
  const auto parcel = parcel_of(parsed.last("receive")->value.value_or(""));
  if (!parcel || parsed.rest.size() != 2)
    return ctx.refuse("--receive: only sbcast itself starts sbcast with it");
  const auto done = receive(*parcel, parsed.rest[0], parsed.rest[1]);
  if (done) return slurm::k_exit_ok;
  return ctx.refuse(posix::host_name() + ": " + done.error().message);
}

// Variables by which srun would be asked for another step than this one; the job's own stay.
bool is_of_another_step(std::string_view name) {
  constexpr std::array<std::string_view, 15> k_names{"SLURM_NTASKS",
                                                     "SLURM_NPROCS",
                                                     "SLURM_NTASKS_PER_NODE",
                                                     "SLURM_CPUS_PER_TASK",
                                                     "SRUN_CPUS_PER_TASK",
                                                     "SLURM_DISTRIBUTION",
                                                     "SLURM_DIST_PLANESIZE",
                                                     "SLURM_EXCLUSIVE",
                                                     "SLURM_EXACT",
                                                     "SLURM_LABELIO",
                                                     "SLURM_MULTI_PROG",
                                                     "SLURM_KILL_BAD_EXIT",
                                                     "SLURM_WAIT",
                                                     "SLURM_TASK_PROLOG",
                                                     "SLURM_TASK_EPILOG"};
  for (const auto known : k_names)
    if (name == known) return true;
  return name.starts_with("SLURM_STD") || name.starts_with("SLURM_SRUN_") ||
         name.starts_with("SLURM_GPUS") || name.starts_with("SLURM_GRES");
}

struct Source {
  posix::Fd file;
  Parcel parcel;
};

Result<Source> open_source(const std::string& path) {
  Source source;
  source.file.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!source.file) return fail(ErrorKind::io, "Can't open `" + path + "`: " + reason(errno));
  struct stat facts {};
  if (::fstat(source.file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(ErrorKind::io, "Can't open `" + path + "`: not a regular file");
  source.parcel.size = static_cast<std::uint64_t>(facts.st_size);
  source.parcel.mode = facts.st_mode & 07777;
  source.parcel.modified_s = facts.st_mtim.tv_sec;
  source.parcel.modified_ns = facts.st_mtim.tv_nsec;
  return source;
}

std::vector<std::string> srun_words(const context::Context& ctx, const std::string& job) {
  std::vector<std::string> words{
      "srun", "--quiet", "--job-name=sbcast", "--overlap", "--input=all"};
  const auto nodes = ctx.env.get_or("SLURM_JOB_NUM_NODES", "");
  if (!job.empty() && job != ctx.env.get_or("SLURM_JOB_ID", "")) {
    words.push_back("--jobid=" + job);
  } else if (is_digits(nodes)) {
    words.push_back("--nodes=" + nodes);
    words.push_back("--ntasks=" + nodes);
  }
  words.emplace_back("--ntasks-per-node=1");
  return words;
}

int send(const context::Context& ctx,
         const Source& source,
         std::vector<std::string> words,
         const std::vector<std::string>& names) {
  const auto self = posix::self_path();
  const auto here = posix::current_directory();
  if (!self) return ctx.fail(self.error());
  if (!here) return ctx.fail(here.error());
  words.insert(words.end(), {*self, "sbcast", "--receive=" + to_word(source.parcel), "--"});
  words.push_back(posix::absolute(names[1], *here));
  words.emplace_back(posix::base_name(names[0]));
  auto env = ctx.env;
  env.unset_if(is_of_another_step);
  posix::SpawnRequest request;
  request.argv = std::move(words);
  request.program = *self;
  request.env = env.entries();
  request.stdin_fd = source.file.get();
  request.parent_death_signal = SIGTERM;
  // Keys of the terminal reach srun as well: how it ends is what is told.
  (void)::signal(SIGINT, SIG_IGN);
  (void)::signal(SIGQUIT, SIG_IGN);
  const auto child = posix::spawn(request);
  if (!child) return ctx.refuse(child.error().message());
  int status = 0;
  while (::waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return ctx.refuse(fmt::format("srun was ended by signal {}", WTERMSIG(status)));
}

} // namespace

int run_sbcast(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, sbcast_options(), k_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  if (parsed.has("receive")) return run_receiver(ctx, parsed);
  if (parsed.rest.size() != 2) {
    ctx.say(fmt::format(
        "Need two file names, have {} names\nTry \"sbcast --help\" for more information\n",
        parsed.rest.size()));
    return slurm::k_exit_failure;
  }
  const auto* given = parsed.last("jobid");
  const auto job =
      given != nullptr ? given->value.value_or("") : ctx.env.get_or("SLURM_JOB_ID", "");
  if (job.empty())
    return ctx.refuse("Need a job id to run this command.  Run from within a Slurm job or use the "
                      "--jobid option.");
  const auto ref = slurm::parse_job_id(job);
  if (!ref || !ref->step.empty() || !ref->indices.empty())
    return ctx.refuse("Invalid job id specified: " + job);
  auto source = open_source(parsed.rest[0]);
  if (!source) return ctx.fail(source.error());
  source->parcel.force = parsed.has("force") || ctx.env.has("SBCAST_FORCE");
  source->parcel.preserve = parsed.has("preserve") || ctx.env.has("SBCAST_PRESERVE");
  return send(ctx, *source, srun_words(ctx, given != nullptr ? job : ""), parsed.rest);
}

} // namespace shim::commands
