#include "tests/accuracy/spelling.h"

#include <doctest/doctest.h>

namespace kvfit::accuracy {
namespace {

std::string release(std::string_view text) { return read_version(text).release.value_or("-"); }

TEST_CASE("a version text gives the release, and how sure that is") {
  CHECK(release("0.26.1rc1.dev608+g99a10304d") == "0.26.1rc1.dev608+g99a10304d");
  CHECK(release("vllm v0.24.0") == "0.24.0");
  CHECK(release("0.23.1 (ROCm 7.14)") == "0.23.1");
  CHECK(read_version("v0.20 + Genesis").basis == VersionText::Basis::exact);
  CHECK(release("~0.9.x (V1, June 2025; not printed in excerpt)") == "0.9");
  CHECK(release("0.20+ (not the 0.17-0.19 ones, which fail otherwise)") == "0.20");
  CHECK(read_version("0.20+ (not the 0.17-0.19 ones, which fail otherwise)").basis == VersionText::Basis::range);
  CHECK(release(">=0.21 (July 2026)") == "0.21");
}

TEST_CASE("a month reads as the release main was about to become") {
  CHECK(release("V1, June 2025") == "0.9.2");  // 15 June 2025: 0.9.1 was cut on the 9th, 0.9.2 on 6 July
  CHECK(release("branch on main of early May 2026") == "0.22.0");
  CHECK(release("2026-09 build with a sm_75 attention bridge") == "0.30.0");
}

TEST_CASE("a fork's own numbering says nothing about vLLM's") {
  CHECK(release("vllm-radiance 0.9.3") == "-");
  CHECK(release("0.1.dev1+g36fc04825") == "-");
  CHECK(release("nightly 1acd67a7") == "-");
  CHECK(release("jasl/vllm @dda4668b5") == "-");
  CHECK(read_version("jasl/vllm @dda4668b5").patched);
  CHECK(read_version("v0.20 + Genesis").patched);
  CHECK(read_version("patched (sm120 FP4 KV)").patched);
  CHECK_FALSE(read_version("0.26.1rc1.dev608+g99a10304d").patched);
}

TEST_CASE("cache types: 16-bit spellings are one, a second word is the state's") {
  CHECK(read_cache_types("auto (bf16)").kv == "bfloat16");
  CHECK(read_cache_types("auto").kv == "auto");
  CHECK(read_cache_types("fp8_e5m2").kv == "fp8_e5m2");
  CHECK(read_cache_types("int8_per_token_head").kv == "int8_per_token_head");
  const CacheTypes both = read_cache_types("fp8_e4m3 + fp16 ssm");
  CHECK(both.kv == "fp8_e4m3");
  CHECK(both.state == "float16");
  CHECK_FALSE(read_cache_types("?").kv.has_value());
}

TEST_CASE("speculation: method and token count from free text") {
  CHECK(read_speculation("MTP k=3")->tokens == 3);
  CHECK(read_speculation("MTP 2")->tokens == 2);
  CHECK(read_speculation("MTP n=4")->method == "mtp");
  CHECK_FALSE(read_speculation("MTP head")->tokens.has_value());
  CHECK_FALSE(read_speculation("MTP draft ~0.8 GB")->tokens.has_value());
  CHECK(read_speculation("DFlash2 k=7")->tokens == 7);
  CHECK_FALSE(read_speculation("DFlash2 drafter")->drafter_known);
  CHECK_FALSE(read_speculation("DFlash2 drafter")->tokens.has_value());
  CHECK(read_speculation("5 tokens")->tokens == 5);
  CHECK_FALSE(read_speculation("none").has_value());
}

}  // namespace
}  // namespace kvfit::accuracy
