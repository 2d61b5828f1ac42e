// The files of a checkpoint beside its weights: carried as they are, rewritten, or left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "carve/output_files.h"
#include "carve/record.h"
#include "carve/request.h"

namespace kvfit::carve {

struct SideFile {
  std::string source;  ///< full path
  std::string name;    ///< in the output, may hold '/'
};

/// Regular files (links to files count as files) that go along, sorted by name: not weights of any format, not what a carve
/// rewrites, no caches or version control. README.md becomes README.orig.md. Links to directories are left out.
std::vector<SideFile> side_files(const Source& source, const Rewriting& rewriting);

/// The new model card: what was kept, by what score, from which checkpoint; "derived, not evaluated".
std::string model_card(const Checkpoint& checkpoint, const Request& request, const Record& record);

/// model.safetensors.index.json of the output, as the reference library writes it: names sorted, two blanks of indent;
/// `metadata` is the inside of its first object.
std::string index_text(const Survivors& survivors, const std::vector<OutputFile>& files, const std::string& metadata);

}  // namespace kvfit::carve
