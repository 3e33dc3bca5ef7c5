// Where the static binary begins on x86-64 Linux. The dynamic relocations of a static-pie write to
// nearly every page of its data before main, and each of these pages would be a page fault. All of
// them are made writable in one call first; then the C library's own beginning follows.
// docs/decisions/0004.
#include <cstdint>

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

extern "C" {
// The linker's name for the first byte of the program.
[[gnu::visibility("hidden")]] extern const Elf64_Ehdr __ehdr_start;

// Nothing is set up here: no relocation, no thread pointer, no errno. A failure (kernels before
// 5.14) costs nothing but the page faults.
[[gnu::used, gnu::visibility("hidden"), gnu::optimize("no-stack-protector")]] void
shim_touch_data() noexcept {
  constexpr std::uintptr_t k_page = 4096;
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto* segment = reinterpret_cast<const Elf64_Phdr*>(base + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i, ++segment) {
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) continue;
    const auto begin = (base + segment->p_vaddr) / k_page * k_page;
    const auto end = base + segment->p_vaddr + segment->p_filesz;
    long result = SYS_madvise;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(begin),
                   "S"((end - begin + k_page - 1) / k_page * k_page),
                   "d"(long{MADV_POPULATE_WRITE})
                 : "rcx", "r11", "memory");
  }
}
}

// rdx and the stack pointer are what the C library's beginning is given.
asm(R"(
  .pushsection .text.shim_entry, "ax", @progbits
  .globl shim_entry
  .hidden shim_entry
  .type shim_entry, @function
shim_entry:
  .cfi_startproc
  .cfi_undefined rip
  push %rdx
  sub $8, %rsp
  call shim_touch_data
  add $8, %rsp
  pop %rdx
  jmp _start
  .cfi_endproc
  .size shim_entry, . - shim_entry
  .popsection
)");
