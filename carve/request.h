// What a carve is asked to do, and the checkpoint it was asked about, read and understood.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "carve/config_binding.h"
#include "carve/json_spans.h"
#include "carve/layout.h"
#include "carve/module_lists.h"
#include "carve/output_shard.h"
#include "carve/score.h"
#include "carve/select.h"
#include "carve/source.h"
#include "carve/survivors.h"

namespace kvfit::carve {

struct Request {
  std::string source;
  std::int64_t keep = 0;  ///< experts of each block
  ScoreKind score = ScoreKind::kirigami;
  std::optional<ScoreKind> second;  ///< choose by the mean of the ranks that both give
  std::uint64_t seed = 0;           ///< of ScoreKind::random
  std::string score_file;           ///< external statistics instead of `score`
  bool fill = false;                ///< blocks that score_file does not name are scored by `score`
  DraftMode draft = DraftMode::carve;
  Padding padding = Padding::shareable;
  std::int64_t reshard = 0;  ///< most bytes of an output file; 0 = files as the source has them
  ExpertIds protect, drop;
  bool remap_tables = false;       ///< rewrite tables of token to expert
  bool drop_tr3_manifest = false;  ///< carve a rank-sliced checkpoint and leave its EXL3_MANIFEST.json behind
  std::string allow_unknown;
  bool ignore_dangling = false, include_orphans = false, force_count = false, keep_patterns = false;
};

struct Checkpoint {
  Source source;
  JsonSpan config;
  Routing routing;
  Layout layout;
  std::vector<std::string> findings;  ///< of all stages
};

/// Reads headers and config.json. Throws as open_source() and recognise() do, and when the config's expert count is not the
/// tensors'.
Checkpoint open_checkpoint(const Request& request);

/// "kirigami", "file", or "the ranks of kirigami and aimer".
std::string score_text(const Request& request);

/// What can be refused before anything is scored: the count, experts named by hand, tables of token to expert.
void check_request(const Checkpoint& checkpoint, const Request& request);

/// Scores and chooses. `progress` as in ScoreOptions.
struct Selection {
  ScoreReport scores;
  std::vector<Choice> choices;
  Kept kept() const;
};
Selection choose_experts(const Checkpoint& checkpoint, const Request& request,
                         const std::function<void(std::int64_t)>& progress);
/// The same by another score than the request's.
Selection choose_by(ScoreKind kind, const Checkpoint& checkpoint, const Request& request,
                    const std::function<void(std::int64_t)>& progress);

/// Every text file that a carve rewrites.
struct TextFile {
  std::string name, text;
};
struct Rewriting {
  std::vector<TextFile> files;  ///< config.json and quantisation files that changed
  std::vector<ValueEdit> config_edits;
  std::vector<ListEdit> list_edits;
  std::vector<std::string> findings;
};
Rewriting rewrite_texts(const Checkpoint& checkpoint, const Request& request, const Kept& kept);

}  // namespace kvfit::carve
