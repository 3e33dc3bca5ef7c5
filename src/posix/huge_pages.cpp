#include "slurm_shim/posix/huge_pages.h"

#include <cstdint>

#include <sys/mman.h>

namespace shim::posix {

void expect_to_fill(void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t k_huge_page = std::uintptr_t{2} << 20;
  const auto start = reinterpret_cast<std::uintptr_t>(begin);
  const auto first = (start + k_huge_page - 1) / k_huge_page * k_huge_page;
  const auto last = (start + bytes) / k_huge_page * k_huge_page;
  if (first < last)
    static_cast<void>(
        ::madvise(static_cast<char*>(begin) + (first - start), last - first, MADV_HUGEPAGE));
}

} // namespace shim::posix
