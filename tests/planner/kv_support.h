// Shared by the KV tests: the built-in engine profile at a version, small models written by hand from their public
// config.json, and rows of comma-separated tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "planner/kv_groups.h"
#include "planner/rules.h"
#include "planner/settings.h"
#include "planner/traits.h"

namespace kvfit::planner::test {

Rules vllm_rules(const std::string& version);

/// Cells of each row; lines that start with '#' are left out. `name` lies in tests/data.
std::vector<std::vector<std::string>> table(const std::string& name);

models::Attention full(std::int64_t kv_heads, std::int64_t head_dim);
models::Attention sliding(std::int64_t kv_heads, std::int64_t head_dim, std::int64_t window);
models::Attention latent(std::int64_t kv_lora, std::int64_t rope);

/// Models by the short names of the tables: "35B-A3B" and "27B" (Qwen3.5/3.6/3.8 hybrids), "gpt-oss-20b", "glm-5.2" ...
models::Model model(std::string_view name);

struct Deployment {
  std::string kv_cache_dtype = "bf16";  ///< "fp8" means fp8_e4m3
  std::int64_t tp = 1, pp = 1, dcp = 1;
  int drafted = 0;
  MambaMode mode = MambaMode::none;
  std::int64_t block_size = 16;
  std::string version = "0.24";
};
std::vector<KvLayout> layouts(const models::Model& model, const Deployment& asked);
inline KvLayout layout(const models::Model& model, const Deployment& asked) { return layouts(model, asked).front(); }

}  // namespace kvfit::planner::test
