// A repository of deployments to check: compose files, manifests and scripts over twelve models of the catalogue.
#pragma once

#include <string>

namespace kvfit::bench {

/// Writes `files` deployments below the directory; a third each of compose, Kubernetes and shell.
void make_deployments(const std::string& directory, int files);

}  // namespace kvfit::bench
