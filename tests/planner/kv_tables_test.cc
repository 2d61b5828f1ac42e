// Published tables of what vLLM allocates, row by row: hybrid block sizes, KV bytes of requests, pool sizes.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "planner/kv_capacity.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using profiles::Bytes;
using test::Deployment;
using Cells = std::vector<std::string>;

std::int64_t whole(const std::string& text) { return std::stoll(text); }
MambaMode mode_of(const std::string& text) { return text == "align" || text == "on" ? MambaMode::align : MambaMode::none; }

// A printed figure stands for everything that rounds to it.
void prints(double value, const std::string& printed) {
  const std::size_t point = printed.find('.');
  const int digits = point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
  CAPTURE(printed);
  CHECK(std::abs(value - std::stod(printed)) <= 0.5000001 * std::pow(10, -digits));
}

Deployment asked(const std::string& tp, const std::string& kv, const std::string& drafted, MambaMode mode) {
  Deployment out;
  out.tp = whole(tp);
  out.kv_cache_dtype = kv;
  out.drafted = std::stoi(drafted);
  out.mode = mode;
  return out;
}

// Every line "Setting attention block size to N tokens" and "Padding mamba page size by P %" seen in public boots.
TEST_CASE("hybrid block, padding and bytes per block are those of the boot logs") {
  int rows = 0;
  for (const Cells& c : test::table("hybrid_blocks.csv")) {
    CAPTURE(c);
    const KvLayout layout = test::layout(test::model(c[0]), asked(c[1], c[2], c[3], MambaMode::align));
    CHECK(layout.hybrid.block_size == whole(c[4]));
    CHECK(layout.block_size == whole(c[4]));
    CHECK(layout.hybrid.state_page == whole(c[5]));
    CHECK(layout.page_bytes == whole(c[6]));
    prints(layout.hybrid.padding_percent, c[7]);
    CHECK(layout.group_size == whole(c[8]));
    CHECK(layout.bytes_per_block == whole(c[9]));
    CHECK(layout.group_count == 4);  // one of attention, three of states
    ++rows;
  }
  CHECK(rows == 54);
}

TEST_CASE("states in bfloat16 and other KV formats align to the logged blocks too") {
  models::Model next = test::model("35B-A3B");  // Qwen3-Next-80B: 48 layers of the same shapes, state in the model's type
  for (models::Layer& layer : next.layers) {
    if (layer.recurrent) layer.recurrent->state_dtype = profiles::DType::bf16;
  }
  // "Setting attention block size to 544 tokens", "Padding mamba page size by 1.49%" at TP2
  const KvLayout layout = test::layout(next, asked("2", "bf16", "0", MambaMode::none));
  CHECK(layout.block_size == 544);
  prints(layout.hybrid.padding_percent, "1.49");
  // 27B at TP2: seven drafted tokens; int8 per-token-head; 3-bit TurboQuant
  CHECK(test::layout(test::model("27B"), asked("2", "fp8", "7", MambaMode::align)).block_size == 1648);
  CHECK(test::layout(test::model("27B"), asked("2", "int8_per_token_head", "3", MambaMode::align)).block_size == 1584);
  CHECK(test::layout(test::model("27B"), asked("2", "turboquant_3bit_nc", "3", MambaMode::align)).block_size == 4128);
}

// The length-proportional bytes of a token, over all layers.
std::int64_t token_bytes(const KvLayout& layout) {
  std::int64_t sum = 0;
  for (const KvGroup& group : layout.groups) {
    const bool grows = group.kind == KvKind::full || group.kind == KvKind::mla;
    if (!grows) continue;
    sum += layout.page_bytes > 0 ? layout.page_bytes / group.block_size * group.layers
                                 : layout.bytes_per_block / group.block_size;
  }
  return sum;
}

TEST_CASE("KV bytes of one request and of sixteen") {
  int rows = 0;
  for (const Cells& c : test::table("kv_bytes.csv")) {
    CAPTURE(c);
    Deployment how = asked("1", c[3], c[2], mode_of(c[1]));
    how.block_size = whole(c[5]);
    const KvLayout layout = test::layout(test::model(c[0]), how);
    const std::int64_t in_flight = whole(c[4]);
    CHECK(token_bytes(layout) == whole(c[6]));
    const std::vector<std::pair<std::int64_t, std::size_t>> lengths{{8192, 7}, {32768, 10}, {whole(c[13]), 14}};
    for (const auto& [length, column] : lengths) {
      const double gib = profiles::to_gib(kv_needed(layout, length, in_flight));
      prints(gib, c[column]);
      CHECK(pages_per_request(layout, length, in_flight) == whole(c[column + 1]));
      prints(16 * gib, c[column + 2]);
    }
    ++rows;
  }
  CHECK(rows == 44);
}

// Blocks, tokens and the pool's GiB; "-" where the log did not say.
void pool_matches(const KvLayout& layout, const Cells& c, std::size_t pages_column, std::int64_t in_flight) {
  const std::int64_t length = whole(c[1]);
  const std::int64_t blocks = whole(c[pages_column + 1]);
  CHECK(pages_per_request(layout, length, in_flight) == whole(c[pages_column]));
  if (c[pages_column + 3] != "-") CHECK(printed_tokens(layout, blocks, length, in_flight) == whole(c[pages_column + 3]));
  if (c[pages_column + 2] == "-") return;
  // The log prints one rank's memory; the pool follows the smallest rank's, which may hold a little less.
  const double logged = std::stod(c[pages_column + 2]);
  const double smallest = c[2] == "1" ? logged : logged - 0.01;
  CHECK(pool_blocks(layout, profiles::from_gib(smallest - 0.0051)) <= blocks);
  CHECK(pool_blocks(layout, profiles::from_gib(logged + 0.0051)) >= blocks);
}

TEST_CASE("published pools of gated delta net hybrids, to the integer block") {
  int rows = 0;
  for (const Cells& c : test::table("observed_hybrid_pools.csv")) {
    CAPTURE(c);
    const KvLayout layout = test::layout(test::model(c[0]), asked(c[2], c[3], c[4], mode_of(c[5])));
    CHECK(layout.block_size == whole(c[6]));
    pool_matches(layout, c, 7, 0);
    ++rows;
  }
  CHECK(rows == 29);
}

TEST_CASE("published pools of sliding-window models, to the integer block") {
  int rows = 0;
  for (const Cells& c : test::table("observed_gemma_pools.csv")) {
    CAPTURE(c);
    Deployment how = asked(c[2], c[3], "0", MambaMode::none);
    if (c[3] == "int8_per_token_head") how.version = "0.22";  // both boots; later versions pad uneven pages only
    pool_matches(test::layout(test::model(c[0]), how), c, 5, whole(c[4]));
    ++rows;
  }
  CHECK(rows == 9);
}

}  // namespace
}  // namespace kvfit::planner
