#include "profiles/catalog.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/packed.h"
#include "profiles/spelling.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::profiles {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const Node& profile) {
  std::vector<std::string> out;
  for (const char* key : {"names", "aliases"}) {
    const Node* list = profile.find(key);
    if (!list) continue;
    for (const Node& name : list->list()) out.push_back(name.string());
  }
  return out;
}

// Every KIND/ID.yaml below a directory; files are parsed once here for their names, so a broken one is reported at once.
std::vector<ProfileFile> read_directory(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    fail_input("no such profile directory", {.file = directory, .line = 0, .column = 0, .key = {}, .excerpt = {}},
               "a profile directory holds hardware/, models/ or engines/ with .yaml files");
  }
  std::vector<ProfileFile> out;
  for (const char* kind : {"hardware", "models", "engines", "published", "defaults", "gates", "serving", "flags"}) {
    const fs::path folder = fs::path(directory) / kind;
    if (!fs::is_directory(folder, error)) continue;
    fs::directory_iterator entries(folder, error);
    if (error)
      fail_environment("cannot read the directory: " + error.message(),
                       {.file = folder.string(), .line = 0, .column = 0, .key = {}, .excerpt = {}});
    for (const fs::directory_entry& entry : entries) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string path = entry.path().string();
      const Node profile = parse_yaml(read_text_file(path), path);
      out.push_back({kind, entry.path().stem().string(), path, names_in(profile), {}});
    }
  }
  return out;
}

bool before(const ProfileFile& a, const ProfileFile& b) { return std::tie(a.kind, a.id) < std::tie(b.kind, b.id); }

}  // namespace

Catalog::Catalog(const std::vector<std::string>& directories) : files_(built_in_profiles()) {
  for (const std::string& directory : directories) {
    for (ProfileFile& file : read_directory(directory)) {
      std::erase_if(files_, [&file](const ProfileFile& old) { return old.kind == file.kind && old.id == file.id; });
      files_.push_back(std::move(file));
    }
  }
  if (!directories.empty()) std::sort(files_.begin(), files_.end(), before);  // the built-in table is sorted
}

std::vector<ProfileFile> Catalog::list(std::string_view kind) const {
  std::vector<ProfileFile> out;
  for (const ProfileFile& file : files_) {
    if (file.kind == kind) out.push_back(file);
  }
  return out;
}

const ProfileFile* Catalog::find(std::string_view kind, std::string_view id) const {
  for (const ProfileFile& file : files_) {
    if (file.kind == kind && file.id == id) return &file;
  }
  return nullptr;
}

Node Catalog::load(const ProfileFile& file) const {
  return file.packed.empty() ? parse_yaml(read_text_file(file.origin), file.origin) : unpack(file.packed, file.origin);
}

// "RTX 4090" for "rtx-4090": letters and digits alone, where they name one file only.
const ProfileFile* Catalog::loosely_named(std::string_view kind, std::string wanted) const {
  const auto bare = [](std::string text) {
    std::erase_if(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
    return text;
  };
  wanted = bare(std::move(wanted));
  const ProfileFile* out = nullptr;
  for (const ProfileFile& file : files_) {
    const bool same =
        bare(lower(file.id)) == wanted || std::any_of(file.names.begin(), file.names.end(),
                                                      [&](const std::string& name) { return bare(lower(name)) == wanted; });
    if (wanted.empty() || file.kind != kind || !same) continue;
    if (out != nullptr) return nullptr;
    out = &file;
  }
  return out;
}

const ProfileFile& Catalog::resolve(std::string_view kind, std::string_view id_or_alias) const {
  const std::string wanted = lower(id_or_alias);
  std::vector<std::string> known;
  for (const ProfileFile& file : files_) {
    if (file.kind == kind && lower(file.id) == wanted) return file;
  }
  for (const ProfileFile& file : files_) {
    if (file.kind != kind) continue;
    for (const std::string& name : file.names) {
      if (lower(name) == wanted) return file;
    }
    known.push_back(file.id);
  }
  if (const ProfileFile* loose = loosely_named(kind, wanted)) return *loose;
  const std::string ids = format("known: {}", join(known, ", "));
  for (const ProfileFile& file : files_) {
    if (file.kind != kind) continue;
    for (const std::string& name : file.names) known.push_back(name);
  }
  const std::string noun = kind == "hardware" ? "GPU" : kind == "models" ? "model" : "engine";
  std::string hint = did_you_mean(id_or_alias, known);
  const std::string listing = kind == "hardware" ? "`kvfit gpus list` shows all"
                              : kind == "models"
                                  ? "`kvfit models list` shows all; a directory, a config.json or a YAML spec will do too"
                                  : ids;
  if (hint.empty()) {
    hint = listing;
  } else if (!listing.empty()) {
    hint += " " + listing;
  }
  fail_input(format("unknown {} '{}'", noun, id_or_alias), {}, hint);
}

}  // namespace kvfit::profiles
