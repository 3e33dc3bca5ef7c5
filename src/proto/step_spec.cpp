#include "slurm_shim/proto/step_spec.h"

#include "slurm_shim/base/base64.h"
#include "slurm_shim/base/plain_number.h"
#include "slurm_shim/base/strings.h"

#include <nlohmann/json.hpp>

namespace shim::proto {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json text_to_json(const std::string& text) {
  if (is_valid_utf8(text)) return text;
  return ordered_json{{"b64", base64_encode(text)}};
}

ordered_json texts_to_json(const std::vector<std::string>& texts) {
  auto out = ordered_json::array();
  for (const auto& text : texts)
    out.push_back(text_to_json(text));
  return out;
}

ordered_json devices_to_json(const std::vector<std::string>& ids) {
  auto out = ordered_json::array();
  for (const auto& id : ids)
    if (const auto number = plain_number(id))
      out.push_back(*number);
    else
      out.push_back(text_to_json(id));
  return out;
}

ordered_json rank_to_json(const RankSpec& rank) {
  ordered_json out = {{"rank", rank.rank},
                      {"local", rank.local},
                      {"node_id", rank.node_id},
                      {"cpuset", text_to_json(rank.cpuset)},
                      {"gpus", devices_to_json(rank.gpus)},
                      {"env_delta", texts_to_json(rank.env_delta)},
                      {"stdout_file", text_to_json(rank.stdout_file)},
                      {"stderr_file", text_to_json(rank.stderr_file)},
                      {"reads_stdin", rank.reads_stdin},
                      {"stdin_file", text_to_json(rank.stdin_file)},
                      {"on_terminal", rank.on_terminal}};
  if (rank.cpuset_if_limited) out["cpuset_if_limited"] = true;
  if (!rank.command.empty()) out["command"] = texts_to_json(rank.command);
  return out;
}

ordered_json terminal_to_json(const posix::TerminalState& terminal) {
  const auto& [size, modes] = terminal;
  return {{"size", {size.rows, size.columns, size.x_pixels, size.y_pixels}},
          {"modes", {modes.input, modes.output, modes.control, modes.local}},
          {"characters", base64_encode(modes.characters)}};
}

// Reads the members of one JSON object. Absent and null leave the default; the first wrong type is
// kept as the error, so that callers check once at the end.
class ObjectReader {
public:
  explicit ObjectReader(const json& object) : m_object(object) {
    if (!object.is_object()) m_error = "not an object";
  }

  void read(const char* key, bool& out) {
    if (const auto* v = member(key)) v->is_boolean() ? void(out = v->get<bool>()) : wrong(key);
  }
  template <std::integral T> void read(const char* key, T& out) {
    if (const auto* v = member(key)) integer(key, *v, out);
  }
  void read(const char* key, std::string& out) {
    if (const auto* v = member(key)) text(key, *v, out);
  }
  void read(const char* key, std::vector<std::string>& out) {
    each(key, [&](const json& item) { text(key, item, out.emplace_back()); });
  }
  template <std::integral T> void read(const char* key, std::vector<T>& out) {
    each(key, [&](const json& item) { integer(key, item, out.emplace_back()); });
  }
  void read_devices(const char* key, std::vector<std::string>& out) {
    each(key, [&](const json& item) {
      if (!item.is_number()) return text(key, item, out.emplace_back());
      int number = 0;
      integer(key, item, number);
      out.push_back(std::to_string(number));
    });
  }
  template <class F> void each(const char* key, F&& take) {
    const auto* v = member(key);
    if (v == nullptr) return;
    if (!v->is_array()) return wrong(key);
    for (const auto& item : *v)
      take(item);
  }
  template <class F> void with(const char* key, F&& take) {
    if (const auto* v = member(key)) take(*v);
  }
  void wrong(const char* key) {
    if (m_error.empty()) m_error = std::string("bad value of \"") + key + "\"";
  }
  [[nodiscard]] Result<void> done() const {
    if (!m_error.empty()) return fail(ErrorKind::malformed, m_error);
    return {};
  }

private:
  const json* member(const char* key) const {
    if (!m_object.is_object()) return nullptr;
    const auto it = m_object.find(key);
    return it == m_object.end() || it->is_null() ? nullptr : &*it;
  }
  template <std::integral T> void integer(const char* key, const json& v, T& out) {
    if (!v.is_number_integer()) return wrong(key);
    const auto value = v.get<std::int64_t>();
    if (!std::in_range<T>(value)) return wrong(key);
    out = static_cast<T>(value);
  }
  void text(const char* key, const json& v, std::string& out) {
    if (v.is_string()) {
      out = v.get_ref<const std::string&>();
    } else {
      const auto b64 = v.is_object() ? v.find("b64") : v.end();
      if (!v.is_object() || b64 == v.end() || !b64->is_string()) return wrong(key);
      auto bytes = base64_decode(b64->get_ref<const std::string&>());
      if (!bytes) return wrong(key);
      out = std::move(*bytes);
    }
    // Goes to execve and open: a NUL would silently cut it.
    if (out.find('\0') != std::string::npos) wrong(key);
  }

  const json& m_object;
  std::string m_error;
};

Result<json> parse_json(std::string_view text) {
  auto parsed = json::parse(text.begin(), text.end(), nullptr, false);
  if (parsed.is_discarded()) return fail(ErrorKind::malformed, "not JSON");
  return parsed;
}

Result<RankSpec> decode_rank(const json& object) {
  RankSpec rank;
  ObjectReader reader(object);
  reader.read("rank", rank.rank);
  reader.read("local", rank.local);
  reader.read("node_id", rank.node_id);
  reader.read("cpuset", rank.cpuset);
  reader.read("cpuset_if_limited", rank.cpuset_if_limited);
  reader.read_devices("gpus", rank.gpus);
  reader.read("env_delta", rank.env_delta);
  reader.read("command", rank.command);
  reader.read("stdout_file", rank.stdout_file);
  reader.read("stderr_file", rank.stderr_file);
  reader.read("reads_stdin", rank.reads_stdin);
  reader.read("stdin_file", rank.stdin_file);
  reader.read("on_terminal", rank.on_terminal);
  TRY(reader.done());
  if (rank.rank < 0) return fail(ErrorKind::malformed, "negative rank");
  return rank;
}

Result<posix::TerminalState> decode_terminal(const json& object) {
  std::vector<std::uint16_t> size;
  std::vector<std::uint32_t> modes;
  std::string characters;
  ObjectReader reader(object);
  reader.read("size", size);
  reader.read("modes", modes);
  reader.read("characters", characters);
  TRY(reader.done());
  auto bytes = base64_decode(characters);
  if (size.size() != 4 || modes.size() != 4 || !bytes)
    return fail(ErrorKind::malformed, "bad value of \"terminal\"");
  return posix::TerminalState{{size[0], size[1], size[2], size[3]},
                              {modes[0], modes[1], modes[2], modes[3], std::move(*bytes)}};
}

} // namespace

StepSpecEncoder::StepSpecEncoder(const StepSpec& common) {
  ordered_json head = {{"env", texts_to_json(common.env)},
                       {"command", texts_to_json(common.command)},
                       {"chdir", text_to_json(common.chdir)},
                       {"chdir_explicit", common.chdir_explicit},
                       {"label", common.label},
                       {"unbuffered", common.unbuffered},
                       {"open_append", common.open_append},
                       {"export_none", common.export_none},
                       {"task_prolog", text_to_json(common.task_prolog)},
                       {"task_epilog", text_to_json(common.task_epilog)},
                       {"gpu_env_var", text_to_json(common.gpu_env_var)},
                       {"umask", common.umask},
                       {"limits", common.limits},
                       {"host_env", common.host_env},
                       {"kill_wait_ms", common.kill_wait_ms},
                       {"ping_interval_ms", common.ping_interval_ms},
                       {"ping_deadline_ms", common.ping_deadline_ms},
                       {"mailbox", text_to_json(common.mailbox)},
                       {"master_host", text_to_json(common.master_host)},
                       {"is_relay", common.is_relay}};
  if (common.terminal) head["terminal"] = terminal_to_json(*common.terminal);
  auto text = head.dump();
  text.back() = ',';
  text += "\"ranks\":";
  m_head = std::make_shared<const std::string>(std::move(text));
}

std::string StepSpecEncoder::tail(const std::vector<RankSpec>& ranks) {
  auto array = ordered_json::array();
  for (const auto& rank : ranks)
    array.push_back(rank_to_json(rank));
  return array.dump() + '}';
}

Result<StepSpec> decode_step_spec(std::string_view json_text) {
  TRY_ASSIGN(const auto object, parse_json(json_text));
  StepSpec spec;
  ObjectReader reader(object);
  reader.read("env", spec.env);
  reader.read("command", spec.command);
  reader.read("chdir", spec.chdir);
  reader.read("chdir_explicit", spec.chdir_explicit);
  reader.read("label", spec.label);
  reader.read("unbuffered", spec.unbuffered);
  reader.read("open_append", spec.open_append);
  reader.read("export_none", spec.export_none);
  reader.read("task_prolog", spec.task_prolog);
  reader.read("task_epilog", spec.task_epilog);
  reader.read("gpu_env_var", spec.gpu_env_var);
  reader.read("umask", spec.umask);
  reader.read("limits", spec.limits);
  reader.read("host_env", spec.host_env);
  reader.read("kill_wait_ms", spec.kill_wait_ms);
  reader.read("ping_interval_ms", spec.ping_interval_ms);
  reader.read("ping_deadline_ms", spec.ping_deadline_ms);
  reader.read("mailbox", spec.mailbox);
  reader.read("master_host", spec.master_host);
  reader.read("is_relay", spec.is_relay);
  reader.each("ranks", [&](const json& item) {
    auto rank = decode_rank(item);
    if (!rank) return reader.wrong("ranks");
    spec.ranks.push_back(std::move(*rank));
  });
  reader.with("terminal", [&](const json& item) {
    auto terminal = decode_terminal(item);
    if (!terminal) return reader.wrong("terminal");
    spec.terminal = std::move(*terminal);
  });
  TRY(reader.done());
  return spec;
}

std::string encode_envelope(const Envelope& envelope) {
  ordered_json object = {{"job_id", envelope.job_id},
                         {"step_id", envelope.step_id},
                         {"host", text_to_json(envelope.host)},
                         {"node_id", envelope.node_id},
                         {"dial", envelope.dial}};
  if (!envelope.dial_alt.empty()) object["dial_alt"] = envelope.dial_alt;
  return base64_encode(object.dump());
}

Result<Envelope> decode_envelope(std::string_view token) {
  const auto text = base64_decode(token);
  if (!text) return fail(ErrorKind::malformed, "bad envelope: not base64");
  const auto object = parse_json(*text);
  if (!object) return fail(ErrorKind::malformed, "bad envelope: " + object.error().message);
  Envelope envelope;
  ObjectReader reader(*object);
  reader.read("job_id", envelope.job_id);
  reader.read("step_id", envelope.step_id);
  reader.read("host", envelope.host);
  reader.read("node_id", envelope.node_id);
  reader.read("dial", envelope.dial);
  reader.read("dial_alt", envelope.dial_alt);
  if (auto done = reader.done(); !done)
    return tl::unexpected<Error>(std::move(done).error().context("bad envelope"));
  return envelope;
}

} // namespace shim::proto
