// What a row leaves unsaid. "Fully stated" is a rule over what is written, never a list of rows: the row names version, KV
// dtype, prefix mode where the model keeps recurrent states, batch where a window counts; has no drafter of unknown shape;
// and prints the smallest rank's figure.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

struct Statement {
  bool version = false, kv_dtype = false, prefix_mode = false, batch = false, drafter = false, smallest_rank = false;
  bool full() const { return version && kv_dtype && prefix_mode && batch && drafter && smallest_rank; }
  std::vector<std::string> missing() const;  ///< in words
};

/// `unified`: several unified-memory machines print the first one's figure, the pool is the smallest one's.
Statement statement_of(const Observation& row, const models::Model& model, bool unified);
/// Of a row that gives its cache layout.
Statement statement_of_layout(const Observation& row);

bool keeps_states(const models::Model& model);  ///< some layers carry a recurrent state
bool has_windows(const models::Model& model);   ///< some layers see a window or a chunk only

}  // namespace kvfit::accuracy
