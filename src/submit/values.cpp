#include "slurm_shim/submit/values.h"

#include "slurm_shim/base/strings.h"

#include <string>

namespace shim::submit {

std::vector<cli::Given> environment_values(cli::OptionTable table, const EnvList& env) {
  std::vector<cli::Given> values;
  for (const auto& option : table) {
    for (const auto name : split(option.env, ',')) {
      const auto value = name.empty() ? std::nullopt : env.get(name);
      if (!value) continue;
      cli::Given given{&option, std::nullopt, {cli::Origin::Kind::environment, std::string(name)}};
      const bool takes_value = option.arity == cli::Arity::required || option.name == "verbose" ||
                               (option.arity == cli::Arity::optional && !value->empty());
      if (takes_value) given.value = std::string(*value);
      values.push_back(std::move(given));
      break;
    }
  }
  return values;
}

} // namespace shim::submit
