// The lines of accounting files, in both formats, and the text of qacct.
#include "slurm_shim/ge/accounting.h"

#include "fuzz.h"

#include "slurm_shim/base/strings.h"

using namespace shim::ge;

void fuzz(std::string_view bytes) {
  for (const auto line : shim::split(bytes, '\n')) {
    if (const auto record = parse_accounting_line(line)) SHIM_ASSERT(record->job > 0);
    if (const auto record = parse_accounting_json(line)) SHIM_ASSERT(record->job > 0);
  }
  (void)parse_qacct(bytes);
}
