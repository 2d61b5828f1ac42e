#include "runtime/deployment.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kvfit::runtime {

const ServeArgument* argument(const Deployment& deployment, std::string_view name) {
  const ServeArgument* out = nullptr;
  for (const ServeArgument& one : deployment.arguments) {
    if (one.name == name) out = &one;
  }
  return out;
}

const EnvironmentVariable* variable(const Deployment& deployment, std::string_view name) {
  const EnvironmentVariable* out = nullptr;
  for (const EnvironmentVariable& one : deployment.environment) {
    if (one.name == name) out = &one;
  }
  return out;
}

profiles::Where place_of(const Deployment& deployment, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const ServeArgument* stated = argument(deployment, name)) return stated->where;
  }
  return deployment.where;
}

ServeCommand serve_command(const Deployment& deployment) {
  ServeCommand out;
  if (deployment.model) out.model = deployment.model->text;
  for (const ServeArgument& one : deployment.arguments) {
    if (argument(deployment, one.name) != &one) continue;  // a later one holds
    out.flags.push_back({.name = (one.off ? "--no-" : "--") + one.name, .value = one.value});
  }
  for (const EnvironmentVariable& one : deployment.environment) {
    if (variable(deployment, one.name) == &one) out.environment.push_back(one.name + "=" + one.value);
  }
  return out;
}

}  // namespace kvfit::runtime
