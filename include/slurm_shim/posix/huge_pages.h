#pragma once
// A hint for memory that will be written from end to end. Callers: what holds all jobs of a
// cluster.

#include <cstddef>

namespace shim::posix {

// Asks the kernel to back [begin, begin + bytes) with huge pages where whole ones fit: a fault per
// 4 KiB costs as much as reading a large answer does. Never fails: it is a hint.
void expect_to_fill(void* begin, std::size_t bytes) noexcept;

} // namespace shim::posix
