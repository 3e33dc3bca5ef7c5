#include "xml.h"

namespace shim::ge {

std::string_view without_preamble(std::string_view text) {
  const auto begin = text.find("<?xml");
  return begin == std::string_view::npos ? text : text.substr(begin);
}

Result<void> load_xml(pugi::xml_document& document, std::string_view text, std::string_view what) {
  text = without_preamble(text);
  const auto loaded =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!loaded)
    return fail(ErrorKind::malformed,
                std::string(what) + ": unexpected answer: " + loaded.description() + " at byte " +
                    std::to_string(loaded.offset));
  return {};
}

std::string child_text(const pugi::xml_node& node, const char* name) {
  constexpr std::string_view k_bug = "%lt;";
  std::string text = node.child_value(name);
  for (auto at = text.find(k_bug); at != std::string::npos; at = text.find(k_bug, at + 1))
    text.replace(at, k_bug.size(), "<");
  return text;
}

} // namespace shim::ge
