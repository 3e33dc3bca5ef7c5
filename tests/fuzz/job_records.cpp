// The files that the parts of a job leave for each other, which any process of the user may have
// damaged.
#include "fuzz.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/records/after_note.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/records/cancel_note.h"
#include "slurm_shim/records/env_file.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/mailbox.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/submit_record.h"

using namespace shim::records;

namespace {

void files(std::string_view bytes) {
  if (const auto job = batch_job_from_json(bytes, "batch.json")) {
    const auto text = to_json(*job);
    const auto again = batch_job_from_json(text, "batch.json");
    SHIM_ASSERT(again && to_json(*again) == text);
  }
  if (const auto file = submit_file_from_json(bytes, "1.submit")) {
    const auto text = to_json(*file);
    const auto again = submit_file_from_json(text, "1.submit");
    SHIM_ASSERT(again && to_json(*again) == text);
  }
  if (const auto entries = decode_environment(bytes)) {
    const auto again = decode_environment(encode_environment(*entries));
    SHIM_ASSERT(again && *again == *entries);
  }
}

} // namespace

void fuzz(std::string_view bytes) {
  files(bytes);
  if (const auto record = SubmitRecord::decode(bytes)) {
    const auto again = SubmitRecord::decode(record->encode());
    SHIM_ASSERT(again && again->values() == record->values());
  }
  (void)parse_job_record(bytes, std::nullopt);
  (void)parse_job_record(bytes, 1700000000);
  (void)find_answer(bytes, "0123456789abcdef");
  (void)parse_cancel_notes(bytes);
  (void)parse_after_notes(bytes);
  for (const auto line : shim::split(bytes, '\n')) {
    const auto request = parse_request(line);
    if (!request) continue;
    auto text = format_request(*request);
    SHIM_ASSERT(!text.empty() && text.back() == '\n');
    text.pop_back();
    const auto again = parse_request(text);
    SHIM_ASSERT(again && again->id == request->id && again->verb == request->verb &&
                again->args == request->args);
  }
}
