// Reads files of rows (JSON Lines). Any of the four shapes, told apart by their keys; a line that cannot be read becomes a
// Rejected with the reason, so that no row is ever dropped silently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/json.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

struct Rejected {
  std::string id;  ///< the row's id, or "FILE:LINE"
  std::string why;
};

struct Rows {
  std::vector<Observation> observations;
  std::vector<Rejected> rejected;
};

/// Appends the rows of one file; throws profiles::Error when the file cannot be read.
void read_rows(const std::string& path, Rows& rows);
/// The same from text, for tests.
void read_rows_text(std::string_view text, const std::string& file, Rows& rows);

/// One reader per shape; `row` is a JSON object.
Observation read_boot(const profiles::Json& row);    ///< keys engine_version, gpu, args{}, measured{}
Observation read_layout(const profiles::Json& row);  ///< keys layers[], available_kv_gib_printed, expect{}
Observation read_bench(const profiles::Json& row);   ///< keys gpu_mem, kv_dtype, ctx, seqs, util, outcome
Observation read_engine(const profiles::Json& row);  ///< another engine's row: names only

}  // namespace kvfit::accuracy
