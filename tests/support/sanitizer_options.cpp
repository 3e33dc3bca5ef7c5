// Where the sanitizers write and what they look for, in the binary that the tests run. Compiled
// into it, for many processes get no environment of the test's: ranks, hooks, jobs. A report is a
// file in reports/ beside the binary's own folder when there is such a folder
// (tests/support/sanitized.py makes it and looks into it), otherwise it goes to stderr. Either way
// the process ends with exit code 86.
//
// The runtimes ask before they are set up and before constructors run: system calls and plain loops
// only, and this file itself is compiled without sanitizers.

#include <climits>

#include <cstddef>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Text {
  char bytes[PATH_MAX + 256] = {};
  std::size_t size = 0;

  void add(const char* more) {
    for (; *more != '\0' && size + 1 < sizeof bytes; ++more)
      bytes[size++] = *more;
    bytes[size] = '\0';
  }
};

// "/x/reports" for the binary /x/bin/slurm-shim.
void add_reports_folder(Text& text) {
  char self[PATH_MAX] = {};
  const long length = ::syscall(SYS_readlink, "/proc/self/exe", self, sizeof self - 1);
  int folders = 0;
  for (long i = length - 1; i >= 0 && folders < 2; --i) {
    if (self[i] == '/') ++folders;
    self[i] = '\0';
  }
  text.add(self);
  text.add("/reports");
}

const char* with_reports(Text& text, const char* options) {
  if (text.size != 0) return text.bytes;
  Text folder;
  add_reports_folder(folder);
  text.add(options);
  if (::syscall(SYS_faccessat, AT_FDCWD, folder.bytes, W_OK) == 0) {
    text.add(":log_path=");
    text.add(folder.bytes);
    text.add("/report");
  }
  return text.bytes;
}

Text g_asan;  // NOLINT(*-avoid-non-const-global-variables): the runtimes keep the pointers
Text g_ubsan; // NOLINT(*-avoid-non-const-global-variables)

} // namespace

// The limit of core files is the user's and travels with a step: hands off. SIGABRT is how a broken
// assertion ends. Leaks and the edges of globals are left to the unit tests: they take nine tenths
// of a start, and there are tens of thousands of starts.
extern "C" const char* __asan_default_options() { // NOLINT(*-reserved-identifier)
  return with_reports(g_asan,
                      "exitcode=86:detect_leaks=0:report_globals=0:disable_coredump=0:"
                      "handle_abort=1:strict_string_checks=1:detect_stack_use_after_return=1");
}

extern "C" const char* __ubsan_default_options() { // NOLINT(*-reserved-identifier)
  return with_reports(g_ubsan, "exitcode=86:print_stacktrace=1");
}
