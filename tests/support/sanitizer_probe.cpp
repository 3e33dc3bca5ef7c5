// A program with the faults that the sanitizers are there to find, each in a child of whose end
// nobody hears: it has no stderr, no environment, and its exit code is dropped. With a second word
// the fault is its own. contract/sanitized_check.py runs it.
//
// usage: sanitizer-probe none|heap|overflow|assert|wait [quiet]

#include <climits>

#include <cstdlib>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

int misbehave(std::string_view how, int one) {
  if (how == "heap") return *(std::vector<int>(4).data() + 4 + one);
  if (how == "overflow") return INT_MAX + one;
  if (how == "assert") return std::vector<int>()[static_cast<std::size_t>(one)];
  if (how == "wait") ::pause();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 2) return misbehave(argv[1], argc - 2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(2);
    char quiet[] = "quiet";
    char* words[] = {argv[0], argv[1], quiet, nullptr};
    char* environment[] = {nullptr};
    ::execve(argv[0], words, environment);
    ::_exit(99);
  }
  ::waitpid(child, nullptr, 0);
  return 0;
}
