#pragma once
// The only door to the XML library: loading with every malformation turned into an Error, and the
// engine's own encoding bug undone. Used by the parsers of qstat's output.

#include "slurm_shim/base/result.h"

#include <pugixml.hpp>

#include <string>
#include <string_view>

namespace shim::ge {

// The text from its XML declaration on: what a profile or a wrapper printed before it is no answer.
[[nodiscard]] std::string_view without_preamble(std::string_view text);
// malformed when the text is no complete XML document.
[[nodiscard]] Result<void>
load_xml(pugi::xml_document& document, std::string_view text, std::string_view what);
// The text of a child; qstat prints '<' in names as "%lt;" (decision E13).
[[nodiscard]] std::string child_text(const pugi::xml_node& node, const char* name);

} // namespace shim::ge
