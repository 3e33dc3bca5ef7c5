#include "xml_scanner.h"

#include "slurm_shim/base/strings.h"

namespace shim::ge {

namespace {

constexpr std::string_view k_blanks = " \t\r\n";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The '>' that ends a tag, past those in quoted values. By hand: find_first_of looks each byte up.
std::size_t end_of_tag(std::string_view text, std::size_t from) {
  char quote = 0;
  for (auto at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (c == '>')
      return at;
  }
  return std::string_view::npos;
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// "#65", "#x41"; nothing for what is no character.
std::optional<std::uint32_t> character_of(std::string_view entity) {
  if (!entity.starts_with('#')) return std::nullopt;
  entity.remove_prefix(1);
  const int base = entity.starts_with('x') ? 16 : 10;
  if (base == 16) entity.remove_prefix(1);
  std::uint32_t code = 0;
  const auto parsed = std::from_chars(entity.data(), entity.data() + entity.size(), code, base);
  if (parsed.ec != std::errc{} || parsed.ptr != entity.data() + entity.size()) return std::nullopt;
  return code > 0 && code < 0x110000 ? std::optional(code) : std::nullopt;
}

// Appends what the reference at the beginning of `rest` means and gives its length; 0: it is none.
std::size_t take_reference(std::string_view rest, std::string& out) {
  struct Named {
    std::string_view text;
    char means;
  };
  constexpr Named k_named[] = {{"&lt;", '<'},
                               {"&gt;", '>'},
                               {"&amp;", '&'},
                               {"&quot;", '"'},
                               {"&apos;", '\''},
                               {"%lt;", '<'}};
  for (const auto& [text, means] : k_named)
    if (rest.starts_with(text)) {
      out += means;
      return text.size();
    }
  const auto end = rest.substr(0, 12).find(';');
  if (rest.front() != '&' || end == std::string_view::npos) return 0;
  const auto code = character_of(rest.substr(1, end - 1));
  if (!code) return 0;
  append_utf8(*code, out);
  return end + 1;
}

} // namespace

std::string decode_text(std::string_view raw) {
  if (raw.find('&') == std::string_view::npos && raw.find('%') == std::string_view::npos)
    return std::string(raw);
  std::string out;
  for (auto at = raw.find_first_of("&%"); at != std::string_view::npos;
       at = raw.find_first_of("&%")) {
    out += raw.substr(0, at);
    raw.remove_prefix(at);
    auto length = take_reference(raw, out);
    if (length == 0) {
      out += raw.front();
      length = 1;
    }
    raw.remove_prefix(length);
  }
  return out += raw;
}

XmlScanner::Step XmlScanner::broken(std::string_view why) {
  m_why = why;
  return Step::error;
}

Error XmlScanner::error(std::string_view what) const {
  return {ErrorKind::malformed,
          std::string(what) + ": unexpected answer: " + std::string(m_why) + " at byte " +
              std::to_string(m_at),
          1};
}

bool XmlScanner::skip_special(std::size_t tag) {
  const auto rest = m_text.substr(tag);
  std::string_view end = ">";
  if (rest.starts_with("<!--"))
    end = "-->";
  else if (rest.starts_with("<?"))
    end = "?>";
  const auto found = m_text.find(end, tag + 2);
  if (found == std::string_view::npos) return false;
  m_at = found + end.size();
  return true;
}

XmlScanner::Step XmlScanner::next() {
  if (m_closes_itself) {
    m_closes_itself = false;
    m_name = m_open.back();
    m_before = {};
    m_open.pop_back();
    return Step::close;
  }
  for (;;) {
    const auto tag = m_text.find('<', m_at);
    if (tag == std::string_view::npos) {
      if (!m_has_root) return broken("no document");
      return m_open.empty() ? Step::end : broken("it is cut off");
    }
    m_before = m_text.substr(m_at, tag - m_at);
    if (tag + 1 >= m_text.size()) return broken("it is cut off");
    if (m_text[tag + 1] == '/') return take_close(tag);
    if (m_text[tag + 1] != '?' && m_text[tag + 1] != '!') return take_open(tag);
    if (!skip_special(tag)) return broken("it is cut off");
  }
}

XmlScanner::Step XmlScanner::take_open(std::size_t tag) {
  if (m_open.empty() && m_has_root) return broken("a second document");
  auto name_end = tag + 1;
  while (name_end < m_text.size() && m_text[name_end] != '>' && !is_blank(m_text[name_end]))
    ++name_end;
  const auto end = end_of_tag(m_text, name_end);
  if (end == std::string_view::npos) return broken("it is cut off");
  auto inside = m_text.substr(tag + 1, end - tag - 1);
  m_at = tag;
  if (inside.ends_with('/')) {
    m_closes_itself = true;
    inside.remove_suffix(1);
  }
  m_name = inside.substr(0, name_end - tag - 1);
  if (m_name.empty()) return broken("a tag without a name");
  m_attributes = inside.substr(m_name.size());
  m_open.push_back(m_name);
  m_has_root = true;
  m_at = end + 1;
  return Step::open;
}

XmlScanner::Step XmlScanner::take_close(std::size_t tag) {
  m_at = tag;
  const auto end = m_text.find('>', tag);
  if (end == std::string_view::npos) return broken("it is cut off");
  m_name = m_text.substr(tag + 2, end - tag - 2);
  while (!m_name.empty() && is_blank(m_name.back()))
    m_name.remove_suffix(1);
  if (m_open.empty() || m_open.back() != m_name) return broken("an end without its beginning");
  m_open.pop_back();
  m_at = end + 1;
  return Step::close;
}

std::string_view XmlScanner::attribute(std::string_view key) const {
  auto rest = m_attributes;
  for (;;) {
    const auto begin = rest.find_first_not_of(k_blanks);
    if (begin == std::string_view::npos) return {};
    rest.remove_prefix(begin);
    const auto equals = rest.find('=');
    if (equals == std::string_view::npos) return {};
    const auto name = trim(rest.substr(0, equals));
    const auto quote = rest.find_first_of("'\"", equals);
    if (quote == std::string_view::npos) return {};
    const auto closing = rest.find(rest[quote], quote + 1);
    if (closing == std::string_view::npos) return {};
    if (name == key) return rest.substr(quote + 1, closing - quote - 1);
    rest.remove_prefix(closing + 1);
  }
}

} // namespace shim::ge
