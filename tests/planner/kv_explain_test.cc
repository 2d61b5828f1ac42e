#include <doctest/doctest.h>

#include "planner/kv_capacity.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

// Qwen3.6-35B-A3B, fp8 KV, v0.24, align, 131,072 tokens on an RTX 5090: 299 blocks, 567,978 tokens (public boot).
TEST_CASE("a hybrid's numbers explain themselves") {
  test::Deployment how;
  how.kv_cache_dtype = "fp8";
  how.mode = MambaMode::align;
  const KvLayout layout = test::layout(test::model("35B-A3B"), how);
  CHECK(explain_block_size(layout) ==
        "block size = 16 x ceil(2,146,304 bytes of state / (16 x 1,024 bytes a token)) = 2,096 tokens; page = 2,146,304 "
        "bytes, state padded by 0.00 %");
  CHECK(explain_bytes_per_block(layout) == "bytes per block = 2,146,304 bytes a page x 10 layers = 21,463,040");
  CHECK(explain_pages(layout, 131072, 8192) == "blocks per request = 3 x 2 + ceil(131072/2096) = 69");
  CHECK(explain_tokens(layout, 299, 131072, 8192) == "tokens = floor(299 blocks / 69 a request x 131,072) = 567,978");
}

// Gemma-3-27B bf16, v0.19, H100: 15,997 blocks, 36,560 tokens (public boot).
TEST_CASE("windows and the older token count explain themselves") {
  test::Deployment how;
  how.version = "0.19";
  const KvLayout layout = test::layout(test::model("gemma-3-27b"), how);
  CHECK(explain_block_size(layout) == "block size = 16 tokens");
  CHECK(explain_pages(layout, 8192, 8192) ==
        "blocks per request = 6 x (ceil(min(1024 - 1 + 8192, 8192)/16) + 1) + ceil(8192/16) = 3,590");
  CHECK(explain_tokens(layout, 15997, 8192, 8192) == "tokens = floor(15,997 blocks / 7 groups) x 16 = 36,560");
}

}  // namespace
}  // namespace kvfit::planner
