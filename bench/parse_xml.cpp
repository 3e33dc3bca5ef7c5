// CPU time of the XML library's parse of a file, in microseconds: what squeue's own time is set
// against (bench/queries.py). One parse in a fresh process, as squeue's is.
#include <pugixml.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>

namespace {

long cpu_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const long before = cpu_us();
  pugi::xml_document document;
  if (!document.load_buffer(text.data(), text.size())) return 1;
  std::printf("%ld\n", cpu_us() - before);
  return 0;
}
