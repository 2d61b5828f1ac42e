// Which catalogue entry a model text means. A text ("Inferact/Qwen3.8-27B-NVFP4", "qwen2-5-vl-7b-instruct-awq",
// "GLM-5.2 NVFP4, pruned to 172 experts") is split into what names the architecture (family, version, size), words about
// its format, and remarks (instruct, dates). Two texts mean the same architecture when their first parts agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::accuracy {

struct ModelText {
  std::string repository;               ///< lower case, "org/name" when the text has that form, else the name
  std::vector<std::string> essential;   ///< letters and digits apart: qwen 3 8 27 b
  std::vector<std::string> formats;     ///< nvfp4, awq, w4a16 ...
  std::vector<std::string> remarks;     ///< instruct, it, 2507 ...
  std::optional<std::int64_t> experts;  ///< "pruned to 172 experts", "REAP k160": routed experts left
};
ModelText read_model_text(std::string_view text);

struct NamedEntry {
  std::string id;
  std::vector<std::string> names;  ///< repository ids and short forms
};

struct Match {
  std::string id;
  bool exact = false;  ///< the very checkpoint; false: the architecture, in another format perhaps
};

/// Entries of the architecture, closest name first. `wanted` are format words beside the model text (the row's
/// quantisation).
std::vector<Match> find_models(const std::vector<NamedEntry>& entries, std::string_view text, std::string_view wanted);
/// The first of them.
std::optional<Match> find_model(const std::vector<NamedEntry>& entries, std::string_view text, std::string_view wanted);

}  // namespace kvfit::accuracy
