// config.json and a carve: where the expert count stands, what the router picks, and which bytes change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "carve/json_spans.h"
#include "carve/layout.h"

namespace kvfit::carve {

struct Routing {
  std::int64_t experts = 0;  ///< as the config states them; 0 = not stated
  std::int64_t top_k = 0;    ///< experts a token; 0 = not stated
  std::int64_t groups = 1, top_groups = 1;
  std::int64_t trunk_layers = 0;
  bool normalised = true;  ///< norm_topk_prob: the weights of the picked experts sum to one
  std::string model_type;
};

/// Reads the language model's part. Error when a count is a list (one count a sub-model) or a counting key disagrees.
Routing read_routing(const JsonSpan& config, const std::string& file);

/// One value of a JSON file that changes.
struct ValueEdit {
  std::string file;     ///< "config.json"
  std::string pointer;  ///< "/text_config/num_experts"
  std::int64_t from = 0, to = 0;
};

/// Every counting key at every level that states `from`, and the draft head's layer count when it is dropped.
/// Error when no key states `from` or one states another count.
void edit_counts(const JsonSpan& config, const std::string& file, std::int64_t from, std::int64_t to, bool drop_draft,
                 std::vector<JsonEdit>& edits, std::vector<ValueEdit>& report);

/// The hard rules of a carve to `keep` experts: more than the router picks, whole groups, a multiple of four (waived by
/// `force`). Throws Error(Fault::input).
void check_keep(const Routing& routing, std::int64_t experts, std::int64_t keep, bool force);

}  // namespace kvfit::carve
