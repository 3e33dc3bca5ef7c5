#include "slurm_shim/ge/reservations.h"

#include "xml.h"

#include "slurm_shim/base/strings.h"

namespace shim::ge {

Result<std::vector<Reservation>> parse_reservations(std::string_view xml) {
  pugi::xml_document document;
  TRY(load_xml(document, xml, "qrstat"));
  const auto root = document.document_element();
  if (std::string_view(root.name()) != "qrstat")
    return fail(ErrorKind::malformed,
                "qrstat: unexpected answer: <" + std::string(root.name()) + ">");
  std::vector<Reservation> found;
  for (const auto& node : root.children("ar_summary"))
    found.push_back({child_text(node, "id"), child_text(node, "name"), child_text(node, "owner")});
  return found;
}

Result<std::vector<Reservation>> list_reservations(const Tools& tools) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qrstat", .args = {"-xml", "-u", "*"}}));
  if (output.status != 0)
    return fail(ErrorKind::unavailable,
                "qrstat: " + std::string(split(trim(output.err), '\n').front()));
  return parse_reservations(output.out);
}

} // namespace shim::ge
