#pragma once
// srun's side of one stepper, for tests: a listener on the loopback, a real stepper (a fork of the
// test that runs stepper_main), the handshake, and everything the stepper says, sorted by rank.

#include "slurm_shim/posix/fd.h"
#include "slurm_shim/proto/frame.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/proto/step_spec.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace shim::stepper::test {

using namespace std::chrono_literals;

// True as soon as `condition` holds; false when it does not within `limit`.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 20s);

// A spec whose `count` ranks run `sh -c script`.
proto::StepSpec shell_spec(const std::string& script, int count = 1);

class Step {
public:
  struct RankLog {
    std::string out, err;
    std::vector<std::string> chunks; // OUT payloads in order, "\n" behind those with end of line
    std::optional<proto::RankExit> exit;
    std::optional<proto::RankFail> fail;
    bool output_after_end = false;
  };

  // Starts the stepper and takes its HELLO. The ranks' environment gets a mark of this step.
  Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step(); // kills whatever the step left

  void send_spec(proto::StepSpec spec, std::size_t piece = proto::k_max_payload);
  void send(proto::FrameType type,
            std::string_view payload,
            std::uint8_t flags = 0,
            std::uint32_t rank = 0);
  void send_signal(int number) { send(proto::FrameType::sig, proto::encode_i32(number)); }
  void hang_up() { m_socket.reset(); }

  // Reads frames until `condition` holds; false at the limit or the end of the connection.
  bool read_until(const std::function<bool()>& condition, std::chrono::milliseconds limit = 30s);
  bool read_to_end() {
    return !read_until([] { return false; }) && m_ended;
  }
  // The stepper's wait status, -1 when it does not end.
  int wait_stepper(std::chrono::milliseconds limit = 30s);
  // Everything at once for steps that end by themselves; the stepper's exit code, or -1.
  int run(proto::StepSpec spec);

  [[nodiscard]] RankLog& rank(int number) { return m_ranks[number]; }
  [[nodiscard]] std::size_t credit() const { return m_credit; } // of all IN_ACK
  [[nodiscard]] bool saw(proto::FrameType type) const { return m_types.contains(type); }
  [[nodiscard]] const std::string& hello() const { return m_hello; }
  [[nodiscard]] pid_t front() const { return m_front; }
  [[nodiscard]] pid_t guardian() const;                    // -1 before SPEC
  [[nodiscard]] std::vector<pid_t> rank_processes() const; // all that carry the mark

private:
  void on_frame(const proto::FrameView& frame);

  std::string m_mark;
  posix::Fd m_socket;
  pid_t m_front = -1;
  std::string m_bytes;
  std::string m_hello;
  bool m_ended = false;
  bool m_reaped = false;
  int m_status = -1;
  std::map<int, RankLog> m_ranks;
  std::size_t m_credit = 0;
  std::map<proto::FrameType, int> m_types;
};

inline constexpr const char* k_test_token =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

} // namespace shim::stepper::test
