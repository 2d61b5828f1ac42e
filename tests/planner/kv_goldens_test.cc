// Public boots whose KV configuration is fully known: given the available KV memory that was printed, blocks, tokens and
// concurrency come out as printed. One line of tests/data/kv_goldens.jsonl a boot; `source` says where it was published,
// `rules_of` which release's rules its build followed.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "planner/kv_capacity.h"
#include "profiles/json.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using profiles::Bytes;
using profiles::Json;

std::int64_t whole(const Json& row, const char* key, std::int64_t fallback) {
  return row.contains(key) && row[key].is_number() ? row[key].get<std::int64_t>() : fallback;
}

KvSpec spec_of(const Json& layer, Settings& settings) {
  KvSpec spec;
  const std::string kind = layer["kind"];
  spec.block_size = whole(layer, "block_size", 16);
  spec.token_bytes = whole(layer, "bytes_per_token", 0);
  if (kind == "sliding_window") {
    spec.kind = KvKind::sliding;
    spec.window = layer["window"];
  } else if (kind == "chunked_local") {
    spec.kind = KvKind::chunked;
    spec.window = layer["chunk"];
  } else if (kind == "mamba") {
    spec.kind = KvKind::state;
    spec.state_bytes = layer["page_bytes"];
    spec.block_size = 0;
    const std::string mode = layer["mode"];
    spec.fixed_pages = (mode == "align" ? 2 : 1) + layer["num_spec_blocks"].get<std::int64_t>();
    settings.mamba_mode = mode == "align" ? MambaMode::align : MambaMode::none;
  }
  CHECK(spec.page() == layer["page_bytes"].get<std::int64_t>());
  return spec;
}

KvLayout layout_of(const Json& row) {
  Settings settings;
  std::vector<KvSpec> specs;
  for (const Json& layer : row["layers"]) {
    specs.insert(specs.end(), layer["layers"].get<std::size_t>(), spec_of(layer, settings));
  }
  const Rules rules = test::vllm_rules(row["rules_of"].get<std::string>());
  return group_layers(specs, settings, rules, {}).front();
}

// What the engine prints is rounded: any pool whose GiB round to the printed figure may be the one that booted.
struct Pool {
  Bytes low, high;
};
Pool pool_of(const Json& row) {
  const double printed = row["available_kv_gib_printed"];
  return {profiles::from_gib(printed - 0.005), profiles::from_gib(printed + 0.005)};
}

bool prints(double value, const Json& expect, const char* key) {
  return !expect.contains(key) || std::abs(value - expect[key].get<double>()) <= 0.00501;
}

// True when one number of blocks within the rounding gives everything that was printed.
bool reproduced(const KvLayout& layout, const Json& row) {
  const Json& expect = row["expect"];
  const Pool pool = pool_of(row);
  const std::int64_t length = row["max_model_len"];
  const std::int64_t in_flight = whole(row, "in_flight_tokens", 8192);
  if (!prints(profiles::to_gib(kv_needed(layout, length, in_flight)), expect, "needed_kv_gib")) return false;
  if (expect.contains("est_max_len")) {
    const std::int64_t printed = expect["est_max_len"];
    if (estimated_max_len(layout, pool.low, length, in_flight) > printed) return false;
    if (estimated_max_len(layout, pool.high, length, in_flight) < printed) return false;
  }
  for (std::int64_t blocks = pool_blocks(layout, pool.low); blocks <= pool_blocks(layout, pool.high); ++blocks) {
    const bool same_blocks = whole(expect, "num_gpu_blocks", blocks) == blocks;
    const std::int64_t tokens = printed_tokens(layout, blocks, length, in_flight);
    const bool same_tokens = whole(expect, "kv_tokens", tokens) == tokens;
    if (same_blocks && same_tokens &&
        prints(max_concurrency(layout, blocks, length, in_flight), expect, "max_concurrency")) {
      return true;
    }
  }
  return false;
}

TEST_CASE("every boot with a known KV configuration is reproduced to print rounding") {
  std::ifstream file(std::string(KVFIT_TEST_DATA) + "/kv_goldens.jsonl");
  std::string line;
  int rows = 0;
  while (std::getline(file, line)) {
    const Json row = Json::parse(line);
    CAPTURE(row["id"].get<std::string>());
    const KvLayout layout = layout_of(row);
    CHECK(layout.group_count == row["groups"].get<std::int64_t>());
    CHECK(layout.bytes_per_block == row["bytes_per_block"].get<std::int64_t>());
    const std::int64_t pages = pages_per_request(layout, row["max_model_len"], whole(row, "in_flight_tokens", 8192));
    CHECK(pages == row["blocks_per_request"].get<std::int64_t>());
    CHECK(reproduced(layout, row));
    ++rows;
  }
  CHECK(rows == 95);
}

}  // namespace
}  // namespace kvfit::planner
