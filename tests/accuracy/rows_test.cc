#include "tests/accuracy/rows.h"

#include <doctest/doctest.h>

namespace kvfit::accuracy {
namespace {

Rows read(std::string_view text) {
  Rows rows;
  read_rows_text(text, "test.jsonl", rows);
  return rows;
}

TEST_CASE("a general row: arguments, measured sizes with their rounding, and how the start ended") {
  const Rows rows = read(
      R"j({"id":"a","engine":"vllm","engine_version":"0.19.0","gpu":"H100","gpu_mem_gib":79.19,"gpu_count":2,"tp":null,)j"
      R"j("model":"m","args":{"max_model_len":8192,"tensor_parallel_size":"4 on the command line shown",)j"
      R"j("kv_cache_dtype":"auto (bf16)","speculative":"MTP k=3","x_y":1},)j"
      R"j("measured":{"available_kv_gib":4.9,"weights_gib":14.9888,"kv_tokens":100,"error":null}})j");
  REQUIRE(rows.observations.size() == 1);
  const Observation& o = rows.observations.front();
  CHECK(o.tp == 2);  // a remark beside the number: the count of cards stands
  CHECK(o.arguments.kv_cache_dtype == "bfloat16");
  CHECK(o.arguments.speculative->tokens == 3);
  CHECK(o.arguments.unread == std::vector<std::string>{"x_y=1"});
  CHECK(o.measured.available_kv->half_step == doctest::Approx(0.005));  // "4.90" printed: JSON drops the zero
  CHECK(o.measured.weights->half_step == doctest::Approx(0.00005));
  CHECK(o.outcome == Outcome::good);
}

TEST_CASE("arguments are read from an object, a command line, a list and pairs alike") {
  for (
      const char* args : {
          R"j({"--max-model-len":8192,"util":"0.8","kv-cache-dtype":"fp8","enable_prefix_caching":false,"tp":2})j",
          R"j("vllm serve org/m --max-model-len 8192 --gpu-memory-utilization=0.8 \\ --kv-cache-dtype 'fp8' --no-enable-prefix-caching -tp 2")j",
          R"j(["--max-model-len","8k","--gpu-memory-utilization",".8","--kv-cache-dtype","fp8","--no-enable-prefix-caching","-tp","2"])j",
          R"j("max_model_len=8192, gpu_memory_utilization=0.8, kv_cache_dtype=fp8, enable_prefix_caching=False, tp=2")j",
      }) {
    INFO(args);
    const Rows rows = read(R"j({"id":"a","engine":"vllm","model":"m","measured":{},"args":)j" + std::string(args) + "}");
    REQUIRE(rows.observations.size() == 1);
    const Observation& o = rows.observations.front();
    CHECK(o.arguments.max_model_len == 8192);
    CHECK(*o.arguments.gpu_memory_utilization == doctest::Approx(0.8));
    CHECK(o.arguments.kv_cache_dtype == "fp8");
    CHECK(o.arguments.enable_prefix_caching == false);
    CHECK(o.tp == 2);
    CHECK(o.arguments.unread.empty());
  }
  const Rows speculating = read(
      R"j({"id":"a","engine":"vllm","model":"m","measured":{},"args":"--speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'"})j");
  CHECK(speculating.observations.front().arguments.speculative->tokens == 3);
}

TEST_CASE("a bench row of a mixed pair is sized by the smaller card") {
  const Rows rows = read(
      R"j({"id":"b","gpu":"RTX 5090 + RTX 3090 Ti","gpu_mem":"32607+24564","tp":2,"model":"m","quant":"int4 + DFlash n5",)j"
      R"j("kv_dtype":"fp8_e4m3","ctx":262144,"seqs":2,"util":0.92,"mtp":0,"vision":true,"engine":"vllm v0.24.0",)j"
      R"j("outcome":"boot-refused-kv","measured":{"need_kv_gib":3.31,"avail_kv_gib":2.19}})j");
  REQUIRE(rows.observations.size() == 1);
  const Observation& o = rows.observations.front();
  CHECK(o.smallest_gpu == "RTX 3090 Ti");
  CHECK(*o.nvml_mib == doctest::Approx(24564));
  CHECK(o.quant == "int4");
  CHECK(o.arguments.speculative->tokens == 5);
  CHECK(o.outcome == Outcome::kv_too_small);
  CHECK(o.engine == "vllm");
  CHECK(o.engine_version == "v0.24.0");
}

TEST_CASE("a layout row carries its layers; another engine's row keeps its engine") {
  const Rows rows = read(
      R"j({"id":"c","vllm_version":"0.11.0","tp":1,"max_model_len":4096,"layers":[{"kind":"full","layers":10,"page_bytes":131072,)j"
      R"j("bytes_per_token":8192,"block_size":16}],"groups":7,"available_kv_gib_printed":109.86,"expect":{"kv_tokens":205696}})j"
      "\n"
      R"j({"id":"d","engine":"llama.cpp","args":{},"measured":{"kv_mib":448.0}})j");
  REQUIRE(rows.observations.size() == 2);
  CHECK(rows.observations[0].layout->layers.front().page_bytes == 131072);
  CHECK(rows.observations[0].measured.kv_tokens == 205696);
  CHECK(rows.observations[1].engine == "llama.cpp");
}

TEST_CASE("sizes may carry the unit a log prints behind them") {
  Rows rows;
  read_rows_text(R"({"id":"u","gpu_mem_gib":"79.19 GiB","tp":"2","measured":{"available_kv_gib":"58.10 GiB",)"
                 R"("kv_tokens":"476,016 tokens","max_concurrency":"58.1x"}})",
                 "f", rows);
  REQUIRE(rows.observations.size() == 1);
  const Observation& row = rows.observations[0];
  CHECK(row.total_gib == 79.19);
  CHECK(row.total_printed);
  CHECK(row.tp == 2);
  CHECK(row.measured.available_kv->value == 58.1);
  CHECK(row.measured.available_kv->half_step == doctest::Approx(0.005));
  CHECK(row.measured.kv_tokens == 476016);
  CHECK(row.measured.concurrency->value == 58.1);
}

TEST_CASE("no line is dropped: what cannot be read is rejected with its place") {
  const Rows rows = read("{\"id\":\n\n[1]\n");
  CHECK(rows.observations.empty());
  REQUIRE(rows.rejected.size() == 2);
  CHECK(rows.rejected[0].id == "test.jsonl:1");
  CHECK(rows.rejected[1].why == "not a JSON object");
}

TEST_CASE("values no engine takes are as good as unstated") {
  const Rows rows = read(
      R"j({"id":"e","gpu":"H100","gpu_mem_gib":-3,"tp":0,"model":"m","args":{"max_model_len":-1,"gpu_memory_utilization":7,)j"
      R"j("max_num_seqs":null},"measured":{"available_kv_gib":1e18}})j");
  REQUIRE(rows.observations.size() == 1);
  const Observation& o = rows.observations.front();
  CHECK_FALSE(o.tp.has_value());
  CHECK_FALSE(o.total_gib.has_value());
  CHECK_FALSE(o.arguments.max_model_len.has_value());
  CHECK_FALSE(o.arguments.gpu_memory_utilization.has_value());
  CHECK_FALSE(o.measured.available_kv.has_value());
  CHECK(o.arguments.unknown == std::vector<std::string>{"max_num_seqs"});  // named without a value: not the default
}

}  // namespace
}  // namespace kvfit::accuracy
