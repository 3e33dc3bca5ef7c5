#pragma once
// A strict walk over an XML text without building a tree: for qstat's list of jobs, which may have
// fifty thousand of them. A tree costs six times the text in memory and as much time as the whole
// command may take; everything else is read with the XML library (xml.h). Knows elements,
// attributes, text, comments and declarations; entities are undone by decode_text.

#include "slurm_shim/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

class XmlScanner {
public:
  // `text` must outlive the scanner and everything that it hands out.
  explicit XmlScanner(std::string_view text) : m_text(text) {}

  enum class Step { open, close, end, error };
  // Goes to the next tag. `<a/>` is an open and a close. `end` only when the document is whole.
  [[nodiscard]] Step next();

  // The tag's name.
  [[nodiscard]] std::string_view name() const { return m_name; }
  // Raw text between the tag before and this one.
  [[nodiscard]] std::string_view text() const { return m_before; }
  // Raw value of an attribute of the open tag; "" when there is none.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
  // Open elements, the present one included.
  [[nodiscard]] std::size_t depth() const { return m_open.size(); }
  // What is wrong, and where.
  [[nodiscard]] Error error(std::string_view what) const;

private:
  [[nodiscard]] Step broken(std::string_view why);
  [[nodiscard]] Step take_open(std::size_t tag);
  [[nodiscard]] Step take_close(std::size_t tag);
  // Past a comment, a declaration or a processing instruction; false: it has no end.
  [[nodiscard]] bool skip_special(std::size_t tag);

  std::string_view m_text, m_name, m_before, m_attributes, m_why;
  std::size_t m_at = 0;
  bool m_closes_itself = false, m_has_root = false;
  std::vector<std::string_view> m_open;
};

// Entities and qstat's own "%lt;" (decision E13) as characters. Unknown entities stay.
[[nodiscard]] std::string decode_text(std::string_view raw);

} // namespace shim::ge
