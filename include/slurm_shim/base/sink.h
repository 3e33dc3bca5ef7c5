#pragma once
// Where a command's text goes. Commands never touch std streams: they get Sinks from the Context,
// so that tests read what was written and a failed write is seen (flush() tells).

#include <string>
#include <string_view>

namespace shim {

class Sink {
public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual void write(std::string_view text) = 0;
  // 0, or the errno of the first write that failed (EPIPE, ENOSPC, ...); sticky.
  virtual int flush() = 0;
};

class StringSink final : public Sink {
public:
  void write(std::string_view text) override { m_text += text; }
  int flush() override { return 0; }
  [[nodiscard]] const std::string& text() const { return m_text; }

private:
  std::string m_text;
};

} // namespace shim
