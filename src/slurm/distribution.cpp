#include "slurm_shim/slurm/distribution.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

namespace shim::slurm {

namespace {

constexpr std::string_view k_invalid = "Invalid --distribution specification";

tl::unexpected<Error> bad_distribution(std::string_view first_line = "") {
  return fail(ErrorKind::usage, std::string(first_line) + std::string(k_invalid), k_exit_usage);
}

Result<void> set_nodes(Distribution& out, const std::string& word) {
  using Nodes = Distribution::Nodes;
  if (word == "*") return {};
  if (word == "block") {
    out.nodes = Nodes::block;
  } else if (word == "cyclic") {
    out.nodes = Nodes::cyclic;
  } else if (word == "arbitrary") {
    out.nodes = Nodes::arbitrary;
  } else if (word == "plane" || word.starts_with("plane=")) {
    const auto size =
        parse_int<int>(std::string_view(word).substr(std::min<std::size_t>(6, word.size())));
    if (!size || *size < 1) return bad_distribution("Invalid plane size or size not specified\n");
    out.nodes = Nodes::plane;
    out.plane_size = *size;
  } else {
    return bad_distribution();
  }
  return {};
}

Result<std::string> inner_level(const std::string& word) {
  if (word == "*") return std::string{};
  if (word == "block" || word == "cyclic" || word == "fcyclic") return word;
  return bad_distribution();
}

} // namespace

Result<Distribution> parse_distribution(std::string_view text) {
  Distribution out;
  const auto parts = split(text, ',');
  if (parts.size() > 2) return bad_distribution();
  if (parts.size() == 2) {
    if (equals_ignore_case(parts[1], "pack"))
      out.packing = Distribution::Pack::pack;
    else if (equals_ignore_case(parts[1], "nopack"))
      out.packing = Distribution::Pack::nopack;
    else
      return bad_distribution();
  }
  const auto levels = split(parts[0], ':');
  if (levels.size() > 3) return bad_distribution();
  TRY(set_nodes(out, to_lower(levels[0])));
  if (levels.size() > 1) {
    TRY_ASSIGN(out.sockets, inner_level(to_lower(levels[1])));
  }
  if (levels.size() > 2) {
    TRY_ASSIGN(out.cores, inner_level(to_lower(levels[2])));
  }
  return out;
}

std::string format_distribution(const Distribution& distribution) {
  using Nodes = Distribution::Nodes;
  std::string out;
  switch (distribution.nodes) {
  case Nodes::unset:
    out = distribution.sockets.empty() && distribution.cores.empty() ? "" : "*";
    break;
  case Nodes::block: out = "block"; break;
  case Nodes::cyclic: out = "cyclic"; break;
  case Nodes::plane: out = "plane"; break;
  case Nodes::arbitrary: out = "arbitrary"; break;
  }
  if (!distribution.sockets.empty() || !distribution.cores.empty())
    out += ":" + (distribution.sockets.empty() ? "*" : distribution.sockets);
  if (!distribution.cores.empty()) out += ":" + distribution.cores;
  if (distribution.packing == Distribution::Pack::pack) out += ",Pack";
  if (distribution.packing == Distribution::Pack::nopack) out += ",NoPack";
  return out;
}

} // namespace shim::slurm
