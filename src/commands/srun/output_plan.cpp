#include "output_plan.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <map>

#include <fcntl.h>

namespace shim::commands::srun {

bool is_nowhere(std::string_view word) {
  return equals_ignore_case(word, "none") || word == "/dev/null";
}

namespace {

// Where one stream of one rank goes when it is looked at alone.
Route route_of(const std::string& word,
               bool on_stdout,
               const OutputRequest& request,
               const mux::PatternFields& fields,
               int ntasks) {
  if (word.empty() || word == "all") return {Route::Kind::stream, on_stdout, {}};
  if (is_nowhere(word)) return {Route::Kind::discard, true, {}};
  if (const auto task = is_digits(word) ? parse_int<int>(word) : std::nullopt;
      task && *task < ntasks)
    return {*task == fields.rank ? Route::Kind::stream : Route::Kind::discard, on_stdout, {}};
  const bool is_tasks_own = mux::is_tasks_own_pattern(word);
  const auto path = mux::expand_pattern(word, fields);
  return {
      Route::Kind::file, true, posix::absolute(path, is_tasks_own ? request.chdir : request.cwd)};
}

RankRoutes routes_of(const OutputRequest& request, const mux::PatternFields& fields, int ntasks) {
  auto out = route_of(request.output, true, request, fields, ntasks);
  // Slurm: -o alone takes stderr along, except for "all", which leaves both where they are.
  const bool follows = request.error.empty() && !request.output.empty() && request.output != "all";
  auto err = follows ? out : route_of(request.error, false, request, fields, ntasks);
  return {out, err};
}

} // namespace

std::vector<RankRoutes> plan_output(const OutputRequest& request,
                                    const mux::PatternFields& step,
                                    const std::vector<RankPlace>& ranks) {
  std::vector<RankRoutes> out;
  std::map<std::string, std::pair<int, bool>> owner; // path -> first rank, used by others too
  for (const auto& place : ranks) {
    auto fields = step;
    fields.rank = place.rank;
    fields.node_id = place.node_id;
    fields.node_name = place.node_name;
    out.push_back(routes_of(request, fields, static_cast<int>(ranks.size())));
    for (const auto& route : out.back()) {
      if (route.kind != Route::Kind::file) continue;
      const auto [it, is_new] = owner.try_emplace(route.path, place.rank, false);
      if (!is_new && it->second.first != place.rank) it->second.second = true;
    }
  }
  for (auto& routes : out)
    for (auto& route : routes)
      if (route.kind == Route::Kind::file && (request.label || owner[route.path].second))
        route.kind = Route::Kind::shared;
  return out;
}

Result<void> open_shared_files(const std::vector<RankRoutes>& routes,
                               bool append,
                               mux::Writer& writer,
                               mux::Output& output) {
  std::map<std::string, int> sinks;
  for (std::size_t rank = 0; rank < routes.size(); ++rank) {
    for (const auto stream : {mux::Stream::out, mux::Stream::err}) {
      const auto& route = routes[rank][static_cast<std::size_t>(stream)];
      int sink = mux::Output::k_discard;
      if (route.kind == Route::Kind::stream) {
        sink = route.on_stdout ? 0 : 1;
      } else if (route.kind == Route::Kind::shared) {
        const auto it = sinks.find(route.path);
        if (it == sinks.end()) {
          auto file = posix::open_file(
              route.path, O_WRONLY | O_CREAT | O_APPEND | (append ? 0 : O_TRUNC), 0666);
          if (!file) {
            const auto& text = file.error().message;
            return fail(ErrorKind::io,
                        std::string("Could not open ") +
                            (stream == mux::Stream::out ? "stdout" : "stderr") + " file" +
                            text.substr(text.rfind(": ")));
          }
          sink = writer.add_sink(std::move(*file), route.path);
          sinks.emplace(route.path, sink);
        } else {
          sink = it->second;
        }
      }
      output.route(static_cast<int>(rank), stream, sink);
    }
  }
  return {};
}

} // namespace shim::commands::srun
