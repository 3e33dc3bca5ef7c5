#pragma once
// Finds, and takes out of the job's output, what its supervisor says before it starts the command
// (records::k_begun_mark). Until then nothing may be sent to the job: see Streams. Pure.

#include <string>
#include <string_view>

namespace shim::allocation {

class BegunMark {
public:
  // What is output in these bytes. A tail that could be the mark's beginning comes later.
  [[nodiscard]] std::string feed(std::string bytes);
  // At the end of the output: such a tail, which was none.
  [[nodiscard]] std::string finish();
  [[nodiscard]] bool is_found() const { return m_is_found; }

private:
  std::string m_held;
  bool m_is_found = false;
};

} // namespace shim::allocation
