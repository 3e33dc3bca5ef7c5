#include "slurm_shim/proto/channel.h"

#include "slurm_shim/base/assert.h"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>

namespace shim::proto {

namespace asio = boost::asio;

namespace {
// One read. Larger ones gain nothing and cost resident memory.
constexpr std::size_t k_read_bytes = std::size_t{256} << 10;
constexpr std::size_t k_max_iov = 64;
} // namespace

std::shared_ptr<Channel>
Channel::create(asio::io_context& loop, posix::Fd socket, std::span<char> receive_buffer) {
  SHIM_ASSERT(receive_buffer.size() >= k_receive_buffer);
  return std::shared_ptr<Channel>(new Channel(loop, std::move(socket), receive_buffer));
}

Channel::Channel(asio::io_context& loop, posix::Fd socket, std::span<char> receive_buffer)
    : m_socket(loop, socket.release()), m_buffer(receive_buffer) {}

void Channel::start(Events events, std::size_t max_payload) {
  hand_over(std::move(events), max_payload);
  wait_readable();
}

void Channel::hand_over(Events events, std::size_t max_payload) {
  m_events = std::move(events);
  m_max_payload = max_payload;
}

void Channel::wait_readable() {
  if (!m_open || m_paused || m_read_pending) return;
  m_read_pending = true;
  m_socket.async_wait(asio::posix::descriptor_base::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        self->m_read_pending = false;
                        if (!error && self->m_open && !self->m_paused) self->on_readable();
                      });
}

void Channel::on_readable() {
  const auto kept = m_stream.begin(m_buffer);
  // A frame longer than one read must still fit behind what was kept.
  const auto room = std::min(m_buffer.size() - kept, k_read_bytes);
  const auto got = ::recv(m_socket.native_handle(), m_buffer.data() + kept, room, 0);
  const int error = errno;
  const auto have = kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  if (got > 0) m_last_heard = Clock::now();
  const auto parsed = m_stream.finish(
      {m_buffer.data(), have},
      [this](const FrameView& frame) -> Result<void> {
        if (!m_open) return {}; // closed by an earlier frame of this batch
        return m_events.on_frame(frame);
      },
      m_max_payload);
  if (!m_open) return;
  if (!parsed) return fail_with(parsed.error().message);
  if (m_events.on_batch_done) m_events.on_batch_done();
  if (!m_open) return;
  if (got == 0)
    return fail_with(m_stream.holds_partial_frame() ? "connection ended within a frame" : "");
  if (got < 0 && error != EAGAIN && error != EINTR)
    return fail_with(fail_errno("receive", error).value().message);
  wait_readable();
}

void Channel::fail_with(const std::string& reason) {
  const auto on_closed = std::move(m_events.on_closed);
  close();
  if (on_closed) on_closed(reason);
}

void Channel::send(FrameType type,
                   std::uint8_t flags,
                   std::uint32_t rank,
                   std::string_view payload) {
  std::string frame;
  append_frame(frame, type, flags, rank, payload);
  queue(std::move(frame));
  flush();
}

void Channel::send_shared(std::shared_ptr<const std::string> frames) {
  const auto size = frames->size();
  queue_shared(std::move(frames), 0, size);
  flush();
}

void Channel::send_spec(const std::shared_ptr<const std::string>& head, std::string tail) {
  const auto total = head->size() + tail.size();
  const auto shared_tail = std::make_shared<const std::string>(std::move(tail));
  for (std::size_t begin = 0; begin < total; begin += k_max_payload) {
    const auto end = std::min(begin + k_max_payload, total);
    unsigned char header[k_header_bytes];
    encode_header({static_cast<std::uint8_t>(FrameType::spec),
                   end < total ? k_spec_more : std::uint8_t{0},
                   0,
                   static_cast<std::uint32_t>(end - begin)},
                  header);
    queue(std::string(reinterpret_cast<const char*>(header), k_header_bytes));
    const auto in_head = std::min(end, head->size());
    if (begin < in_head) queue_shared(head, begin, in_head);
    const auto from = std::max(begin, head->size());
    if (from < end) queue_shared(shared_tail, from - head->size(), end - head->size());
  }
  flush();
}

void Channel::queue(std::string bytes) {
  if (!m_open) return;
  const auto size = bytes.size();
  m_queue.push_back({std::move(bytes), nullptr, 0, size});
}

void Channel::queue_shared(std::shared_ptr<const std::string> bytes,
                           std::size_t begin,
                           std::size_t end) {
  if (m_open) m_queue.push_back({{}, std::move(bytes), begin, end});
}

bool Channel::write_some() {
  iovec parts[k_max_iov];
  std::size_t count = 0;
  for (const auto& chunk : m_queue) {
    if (count == k_max_iov) break;
    const auto rest = chunk.rest();
    parts[count++] = {const_cast<char*>(rest.data()), rest.size()}; // NOLINT: sendmsg only reads
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const auto sent = ::sendmsg(m_socket.native_handle(), &message, MSG_NOSIGNAL);
  if (sent < 0) {
    // A broken connection shows at the reading side, which also delivers what is still in there.
    if (errno != EAGAIN && errno != EINTR) m_queue.clear();
    return errno == EINTR;
  }
  auto left = static_cast<std::size_t>(sent);
  while (left > 0) {
    auto& front = m_queue.front();
    const auto taken = std::min(left, front.end - front.offset);
    front.offset += taken;
    left -= taken;
    if (front.offset == front.end) m_queue.pop_front();
  }
  return true;
}

void Channel::flush() {
  if (m_write_pending) return;
  while (m_open && !m_queue.empty() && write_some()) {
  }
  if (!m_open || m_queue.empty()) return;
  m_write_pending = true;
  m_socket.async_wait(asio::posix::descriptor_base::wait_write,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        self->m_write_pending = false;
                        if (!error && self->m_open) self->flush();
                      });
}

void Channel::pause_reading() {
  m_paused = true;
}

void Channel::resume_reading() {
  if (!m_paused) return;
  m_paused = false;
  wait_readable();
}

void Channel::close() {
  if (!m_open) return;
  m_open = false;
  m_queue.clear();
  boost::system::error_code ignored;
  m_socket.close(ignored);
}

} // namespace shim::proto
