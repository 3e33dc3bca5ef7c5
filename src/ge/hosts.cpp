#include "slurm_shim/ge/hosts.h"

#include "xml.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <charconv>

namespace shim::ge {

namespace {

template <class Number> std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

void set_host_value(std::string_view name, std::string_view text, ExecHost& host) {
  if (name == "arch_string" && text != "-")
    host.arch = text;
  else if (name == "num_proc")
    host.processors = number_in<int>(text);
  else if (name == "m_socket")
    host.sockets = number_in<int>(text);
  else if (name == "m_core")
    host.cores = number_in<int>(text);
  else if (name == "m_thread")
    host.threads = number_in<int>(text);
  else if (name == "load_avg")
    host.load = number_in<double>(text);
  else if (name == "mem_total")
    host.mem_total = parse_host_memory(text);
  else if (name == "mem_used")
    host.mem_used = parse_host_memory(text);
}

QueueInstance parse_queue(const pugi::xml_node& node) {
  QueueInstance queue;
  queue.queue = node.attribute("name").value();
  for (const auto& value : node.children("queuevalue")) {
    const std::string_view name = value.attribute("name").value();
    const std::string_view text = value.child_value();
    if (name == "qtype_string")
      queue.type = text;
    else if (name == "slots_used")
      queue.used = number_in<int>(text).value_or(0);
    else if (name == "slots")
      queue.total = number_in<int>(text).value_or(0);
    else if (name == "slots_resv")
      queue.reserved = number_in<int>(text).value_or(0);
    else if (name == "state_string")
      queue.state = text;
  }
  return queue;
}

ExecHost parse_host(const pugi::xml_node& node) {
  ExecHost host;
  host.name = node.attribute("name").value();
  for (const auto& value : node.children("hostvalue"))
    set_host_value(value.attribute("name").value(), trim(value.child_value()), host);
  for (const auto& value : node.children("resourcevalue"))
    host.resources.push_back({value.attribute("name").value(),
                              value.attribute("dominance").value(),
                              value.child_value()});
  for (const auto& queue : node.children("queue"))
    host.queues.push_back(parse_queue(queue));
  return host;
}

} // namespace

const HostResource* ExecHost::resource(std::string_view complex) const {
  const auto it = std::ranges::find(resources, complex, &HostResource::name);
  return it == resources.end() ? nullptr : &*it;
}

std::optional<std::uint64_t> parse_host_memory(std::string_view text) {
  double factor = 1;
  constexpr std::string_view k_units = "KMGTP";
  if (const auto unit = text.empty() ? std::string_view::npos : k_units.find(text.back());
      unit != std::string_view::npos) {
    for (std::size_t power = 0; power <= unit; ++power)
      factor *= 1024;
    text.remove_suffix(1);
  }
  const auto value = number_in<double>(text);
  if (!value || !(*value >= 0) || *value * factor >= 1e19) return std::nullopt;
  return static_cast<std::uint64_t>(*value * factor);
}

Result<HostList> parse_host_list(std::string_view xml) {
  pugi::xml_document document;
  TRY(load_xml(document, xml, "qhost"));
  const auto root = document.document_element();
  if (std::string_view(root.name()) != "qhost")
    return fail(ErrorKind::malformed,
                "qhost: unexpected answer: <" + std::string(root.name()) + ">");
  HostList list;
  for (const auto& node : root.children("host")) {
    auto host = parse_host(node);
    if (host.name.empty())
      return fail(ErrorKind::malformed, "qhost: a host without a name in the answer");
    if (host.name == "global")
      list.global = std::move(host.resources);
    else
      list.hosts.push_back(std::move(host));
  }
  return list;
}

Result<HostList> list_hosts(const Tools& tools) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qhost", .args = {"-q", "-F", "-xml"}}));
  if (output.status != 0) {
    const auto said = trim(output.err.empty() ? output.out : output.err);
    return fail(ErrorKind::unavailable,
                "qhost: " + (said.empty() ? "exit status " + std::to_string(output.status)
                                          : std::string(said.substr(0, said.find('\n')))));
  }
  return parse_host_list(output.out);
}

} // namespace shim::ge
