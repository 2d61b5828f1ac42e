// Finds profiles: built into the binary, and in directories that add to or override them by id.
//
// A profile is one YAML file `<kind>/<id>.yaml`, its kind hardware, models, engines or gates. Nothing is parsed until asked
// for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/document.h"

namespace kvfit::profiles {

struct ProfileFile {
  std::string kind;                ///< "hardware" | "models" | "engines" | "gates"
  std::string id;                  ///< file name without .yaml
  std::string origin;              ///< path of a file, or "built-in:KIND/ID.yaml"
  std::vector<std::string> names;  ///< `names:` and `aliases:` of the file: repository ids, driver names, short forms
  std::string_view packed;         ///< of a built-in profile (packed.h); empty for files on disk, which are read on demand
};

/// The embedded table, sorted by kind and id; generated at build time from profiles/*/*.yaml (profiles/embed.cc), names
/// included, so that looking up an alias parses nothing.
std::vector<ProfileFile> built_in_profiles();

class Catalog {
 public:
  /// Built-in profiles, then each directory in turn (later wins). A directory that does not exist is an Error only if
  /// the user named it; the default user directory is passed by cli/ when it exists.
  explicit Catalog(const std::vector<std::string>& directories = {});

  std::vector<ProfileFile> list(std::string_view kind) const;  ///< sorted by id
  const ProfileFile* find(std::string_view kind, std::string_view id) const;
  Node load(const ProfileFile& file) const;  ///< parsed YAML

  /// By id, else by an alias or name listed in a profile (`aliases:`, `names:`), case-insensitively, else by
  /// its letters and digits alone ("RTX 4090"); Error with did-you-mean.
  const ProfileFile& resolve(std::string_view kind, std::string_view id_or_alias) const;

 private:
  const ProfileFile* loosely_named(std::string_view kind, std::string wanted) const;

  std::vector<ProfileFile> files_;
};

}  // namespace kvfit::profiles
