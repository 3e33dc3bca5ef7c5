#include "slurm_shim/app/app.h"

#include <unistd.h>

int main(int argc, char** argv) {
  const int code = shim::app::run(argc, argv);
#ifdef SHIM_STATIC_BINARY
  ::_exit(code); // everything is flushed; destructors of libraries would only cost time
#else
  return code; // sanitizers look for leaks at exit
#endif
}

#ifdef SHIM_STATIC_BINARY
namespace {
// The commands that are exec'ed per host and per rank need no stream, locale or option library:
// they are answered before the constructors of those run, which would cost more than their work.
// Only in the static binary: a shared libstdc++ is not ready at this point.
void answer_early(int argc, char** argv, char**) {
  shim::app::run_early(argc, argv);
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const k_answer_early)(int, char**, char**) = answer_early;
} // namespace
#endif
