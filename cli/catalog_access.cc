#include "cli/catalog_access.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace kvfit::cli {
namespace {

std::string user_directory(const Environment& environment) {
  const std::string config = environment("XDG_CONFIG_HOME").value_or("");
  if (!config.empty()) return config + "/kvfit/profiles";
  const std::string home = environment("HOME").value_or("");
  return home.empty() ? "" : home + "/.config/kvfit/profiles";
}

}  // namespace

profiles::Catalog open_catalog(const Args& args, const Environment& environment) {
  std::vector<std::string> directories;
  const std::string user = user_directory(environment);
  std::error_code ignored;
  if (!user.empty() && std::filesystem::is_directory(user, ignored)) directories.push_back(user);
  for (const std::string& directory : args.texts("profiles")) directories.push_back(directory);
  return profiles::Catalog(directories);
}

}  // namespace kvfit::cli
