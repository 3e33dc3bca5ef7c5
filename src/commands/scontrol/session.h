#pragma once
// What the verbs that ask Grid Engine share: the configuration, the tools and the state folder.

#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/records/paths.h"

#include <optional>

namespace shim::commands::scontrol {

struct Session {
  explicit Session(context::Context& context)
      : tools(context.runner, context.env, context.config.qstat_timeout),
        source{tools, context.config, std::nullopt, context.clock.unix_ms() / 1000} {
    if (auto state = records::locate_state(context.runner, context.env, context.config.job_records))
      source.state = std::move(*state);
  }
  Session(const Session&) = delete; // source refers to tools
  Session& operator=(const Session&) = delete;

  ge::Tools tools;
  queue::Source source;
};

} // namespace shim::commands::scontrol
