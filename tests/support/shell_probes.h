#pragma once
// What a shell says of itself, in a way that stays true while it runs other programs: between fork
// and exec of those it holds pipes and blocks signals of its own.

namespace shim::test {

// "0 1 2 ": its open descriptors. The one by which the names are read is gone when they are tested.
constexpr const char* k_list_descriptors =
    "for f in /proc/$$/fd/*; do [ -e $f ] && printf '%s ' ${f##*/}; done";
// Lines SigBlk and SigIgn as it was started with them.
constexpr const char* k_show_signals = "(exec grep -E '^Sig(Blk|Ign)' /proc/self/status)";

} // namespace shim::test
