// What `kvfit check` is to read: files as named, directories searched, stdin.
#pragma once

#include <string>
#include <vector>

namespace kvfit::cli {

struct Target {
  std::string path;    ///< "-" = stdin
  bool found = false;  ///< in a directory: a file that holds no deployment is passed over
};

/// Words that are directories are searched for *.yaml, *.yml, *.json, *.sh, *.service and *.container, names that begin with
/// a dot and node_modules left out, in the order of their paths; 20,000 files at most. Throws Error when a word names
/// nothing.
std::vector<Target> targets_of(const std::vector<std::string>& words);

}  // namespace kvfit::cli
