// What must hold for every layout: more memory never holds less, longer requests never need less, and the estimate is the
// edge of the fit check.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "planner/kv_capacity.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using profiles::Bytes;

const std::vector<std::string> kModels{"35B-A3B", "27B",     "qwen3-30b",   "gpt-oss-20b", "deepseek-v3",
                                       "glm-5",   "glm-5.2", "gemma-3-27b", "gemma-4-31b", "gemma-4-12b"};

std::vector<KvLayout> every_layout() {
  std::vector<KvLayout> out;
  for (const std::string& model : kModels) {
    for (const std::string version : {"0.8.5", "0.15", "0.20", "0.24", "0.31"}) {
      for (const std::int64_t tp : {1, 4}) {
        test::Deployment how;
        how.version = version;
        how.tp = tp;
        how.drafted = 2;
        how.mode = MambaMode::align;
        out.push_back(test::layout(test::model(model), how));
      }
    }
  }
  return out;
}

TEST_CASE("a longer request never needs less, and more in flight never needs less") {
  for (const KvLayout& layout : every_layout()) {
    Bytes before;
    for (std::int64_t length = 1; length < 300000; length = length * 3 / 2 + 7) {
      const Bytes need = kv_needed(layout, length, 8192);
      CHECK(need >= before);
      CHECK(kv_needed(layout, length, 16384) >= need);
      CHECK(pages_per_request(layout, length + 1, 8192) >= pages_per_request(layout, length, 8192));
      before = need;
    }
  }
}

TEST_CASE("more memory never gives fewer blocks, tokens or a shorter estimate") {
  for (const KvLayout& layout : every_layout()) {
    KvCapacity before = kv_capacity(layout, Bytes(0), 65536, 8192);
    for (std::int64_t mib = 1; mib < 200000; mib = mib * 5 / 3 + 11) {
      const KvCapacity now = kv_capacity(layout, profiles::mib(mib), 65536, 8192);
      CHECK(now.num_gpu_blocks >= before.num_gpu_blocks);
      CHECK(now.tokens >= before.tokens);
      CHECK(now.estimated_max_len >= before.estimated_max_len);
      CHECK(now.bytes_per_block.count * now.num_gpu_blocks <= profiles::mib(mib).count);
      before = now;
    }
  }
}

TEST_CASE("the estimated length is the longest that passes the check") {
  for (const KvLayout& layout : every_layout()) {
    for (const std::int64_t mib : {10, 700, 5000, 60000}) {
      const std::int64_t longest = estimated_max_len(layout, profiles::mib(mib), 1 << 20, 8192);
      const Bytes have = kv_checked(layout, profiles::mib(mib));
      if (longest > 0) CHECK(kv_needed(layout, longest, 8192) <= have);
      if (longest < (1 << 20)) CHECK(kv_needed(layout, longest + 1, 8192) > have);
      if (longest > 0) CHECK(least_pool(layout, longest, 8192) <= profiles::mib(mib));
    }
  }
}

TEST_CASE("a negative or empty pool holds nothing") {
  for (const KvLayout& layout : every_layout()) {
    const KvCapacity none = kv_capacity(layout, profiles::mib(-500), 8192, 8192);
    CHECK(none.num_gpu_blocks == 0);
    CHECK(none.tokens == 0);
    CHECK(none.estimated_max_len == 0);
    CHECK(none.needed > Bytes(0));
  }
}

}  // namespace
}  // namespace kvfit::planner
