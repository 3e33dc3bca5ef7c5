#pragma once
// What can be a column of squeue -s, and the order of its lines. Pure. vectors/07 sq.s*.

#include "slurm_shim/queue/steps.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::squeue {

struct Setting;

enum class StepValue : unsigned char {
  constant,
  array_job_id,
  id,
  job_id,
  name,
  node_list,
  nodes,
  partition,
  start_time,
  state,
  tasks,
  time_limit,
  time_used,
  user_id,
  user_name,
};

struct StepField {
  char letter;           // 0: -O only
  std::string_view name; // of -O
  std::string_view header;
  StepValue value;
  std::string_view text; // of values that are always the same
};

[[nodiscard]] const StepField* find_step_field(char letter);
[[nodiscard]] const StepField* find_step_field(std::string_view name); // any case
void append_value(const StepField& field,
                  const queue::Step& step,
                  const Setting& setting,
                  std::string& out);
[[nodiscard]] bool keeps_whole_value(const StepField& field);

inline constexpr std::string_view k_default_step_sort = "P,i";
// Keys are letters of -o with an optional + or -; letters without an order are passed over.
void sort_steps(std::vector<queue::Step>& steps, std::string_view keys);

} // namespace shim::commands::squeue
