#include "yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace shim::config {

namespace {

constexpr std::size_t k_max_depth = 32;

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

// Builds the tree. Throws yaml-cpp's own exception for what we refuse; parse_yaml catches it.
class TreeBuilder final : public YAML::EventHandler {
public:
  YamlNode take() && { return std::move(m_root); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    add(YamlNode{YamlNode::Kind::null, place_of(mark), "", {}, {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "aliases are not supported");
  }
  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    add(YamlNode{YamlNode::Kind::scalar, place_of(mark), value, {}, {}});
  }
  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

private:
  // yaml-cpp's tags for "none": "?" (plain) and "!" (quoted).
  static void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) throw YAML::ParserException(mark, "anchors are not supported");
    if (!tag.empty() && tag != "?" && tag != "!")
      throw YAML::ParserException(mark, "tags are not supported");
  }
  void
  open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (m_open.size() >= k_max_depth) throw YAML::ParserException(mark, "nested too deeply");
    m_open.push_back(YamlNode{kind, place_of(mark), "", {}, {}});
  }
  void close() {
    YamlNode node = std::move(m_open.back());
    m_open.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (m_open.empty()) {
      m_root = std::move(node);
      return;
    }
    auto& parent = m_open.back();
    if (parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size())
      add_key(parent, std::move(node));
    else
      parent.items.push_back(std::move(node));
  }
  static void add_key(YamlNode& map, YamlNode key) {
    const YAML::Mark mark = [&] {
      YAML::Mark m;
      m.line = key.place.line - 1;
      m.column = key.place.column - 1;
      return m;
    }();
    if (key.kind != YamlNode::Kind::scalar)
      throw YAML::ParserException(mark, "a key must be a plain word");
    for (const auto& known : map.keys)
      if (known.scalar == key.scalar)
        throw YAML::ParserException(mark, "duplicate key \"" + key.scalar + "\"");
    map.keys.push_back(std::move(key));
  }

  YamlNode m_root;
  std::vector<YamlNode> m_open; // from the root down
};

} // namespace

tl::unexpected<Error> fail_at(const std::string& file, Place place, std::string_view text) {
  return fail(ErrorKind::config,
              "config: " + file + ":" + std::to_string(place.line) + ":" +
                  std::to_string(place.column) + ": " + std::string(text));
}

Result<YamlNode> parse_yaml(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos) {
    const auto before = text.substr(0, text.find('\0'));
    const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    return fail_at(file, {line, 1}, "holds a NUL byte");
  }
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    TreeBuilder second;
    if (parser.HandleNextDocument(second))
      return fail_at(file, std::move(second).take().place, "a second document is not supported");
    return std::move(builder).take();
  } catch (const YAML::Exception& e) {
    return fail_at(file, place_of(e.mark), e.msg);
  }
}

} // namespace shim::config
