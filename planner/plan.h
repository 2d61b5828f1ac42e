// The answer as a value: settings, ledgers, the engine's checks in its own order, verdict, ladder, levers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/gate.h"
#include "planner/ledger.h"
#include "planner/settings.h"

namespace kvfit::planner {

enum class Verdict { fits, tight, does_not_fit, refused, unknown };
std::string_view verdict_name(Verdict v);  ///< "fits", "tight", "does-not-fit", "refused", "unknown"

struct Check {
  enum class Kind { boot, run };
  std::string id;  ///< "free_memory", "weights", "profile_run", "kv_blocks", "kv_one_request", "mamba_blocks", "run" ...
  Kind kind = Kind::boot;
  Bytes need, have;                                    ///< margin = have - need; for counts see need_count
  Bytes error;                                         ///< half width of the bar of the margin at the question's confidence
  std::optional<std::int64_t> need_count, have_count;  ///< checks that count blocks or sequences
  Verdict verdict = Verdict::fits;
  bool certain = true;  ///< does-not-fit: false when the bar reaches a fit
  std::string text;     ///< what the engine would print or do: "refuses to start: ..."
  std::string remedy;   ///< of a refusal that has nothing to do with memory; "" else
  Bytes margin() const { return have - need; }
};

struct KvCapacity {
  Bytes available;              ///< "Available KV cache memory"
  Bytes needed;                 ///< for one request of max_model_len
  std::int64_t block_size = 0;  ///< tokens a block of the first full-attention group
  std::int64_t num_gpu_blocks = 0;
  std::int64_t blocks_per_request = 0;
  std::int64_t tokens = 0;  ///< "GPU KV cache size" as this version prints it
  double max_concurrency = 0;
  std::int64_t estimated_max_len = 0;
  Bytes bytes_per_block;
  std::int64_t groups = 0, group_size = 0;
};

struct Rung {
  std::int64_t experts = 0;
  std::int64_t max_model_len = 0, max_num_seqs = 0;
  Verdict verdict = Verdict::unknown;
  std::string binding;  ///< id of the binding check
  Bytes checkpoint;     ///< bytes of the (carved) checkpoint on disk
  Bytes margin, error;
  std::string remark;  ///< kernel remark for this expert count
};

struct Lever {
  std::string id;  ///< "vision_off", "mtp_off", "kv_fp8", "fewer_sequences", "smaller_batch", "fewer_experts"
  std::string text;
  Bytes frees;                         ///< gain of the binding margin
  Verdict verdict = Verdict::unknown;  ///< with this lever alone
};

struct Finding {
  enum class Level { error, warning, note };
  std::string id;  ///< "KVF004"
  Level level = Level::note;
  std::string text;
  std::string hint;
};

struct Plan {
  Settings settings;
  std::int64_t experts = 0;     ///< routed experts of the planned model
  std::vector<Ledger> ledgers;  ///< one per distinct rank kind; see `ranks_alike`
  std::vector<Check> checks;
  KvCapacity kv;
  std::vector<hardware::Gate> gates;
  Verdict verdict = Verdict::unknown;
  std::string binding;  ///< id of the check that decides
  std::optional<double> highest_safe_utilization;
  std::vector<Rung> ladder;
  std::vector<Lever> levers;
  std::vector<Finding> findings;
  std::vector<std::string> assumptions;
};

}  // namespace kvfit::planner
