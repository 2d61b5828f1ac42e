// Every serving file against tests/golden/emit-*. KVFIT_UPDATE_GOLDEN=1 rewrites them; read the difference.
#include "runtime/emit.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "tests/support/golden.h"

namespace kvfit::runtime {
namespace {

using tests::check_golden;

// The published serve line of the 192-expert carve of Qwen3.6-35B-A3B on a 24 GB laptop 5090.
ServingUnit carved() {
  ServingUnit unit;
  unit.name = "qwen3-6-35b-a3b-nvfp4-192e";
  unit.command.model = "./Qwen3.6-35B-A3B-NVFP4-192e";
  unit.command.flags = {{"--max-model-len", "8192"},
                        {"--max-num-seqs", "16"},
                        {"--gpu-memory-utilization", "0.94"},
                        {"--kv-cache-dtype", "fp8"},
                        {"--limit-mm-per-prompt", R"({"image":0,"video":0})"},
                        {"--speculative-config", R"({"method":"qwen3_5_mtp","num_speculative_tokens":4})"},
                        {"--no-enable-prefix-caching", ""},
                        {"--enforce-eager", ""}};
  unit.command.environment = {"VLLM_USE_V2_MODEL_RUNNER=1"};
  unit.engine_version = "0.24.0";
  unit.image = "vllm/vllm-openai:v0.24.0";
  unit.program = "/opt/vllm/bin/vllm";
  unit.model_is_directory = true;
  unit.port = unit.default_port = 8000;
  unit.rpc_port = 13345;
  unit.ray_port = 6379;
  unit.health = "/health";
  unit.gpu_product = "NVIDIA-GeForce-RTX-5090-Laptop-GPU";
  unit.checkpoint = profiles::gib(20);
  unit.shared_memory = profiles::gib(2);
  unit.host_memory = profiles::gib(20);
  // 20 GiB at 200 MiB/s are 102.4 s, up to 103; twice (103 + 1500) is 3206, up to 3210.
  unit.start = {.read_seconds = 103, .compile_seconds = 1500, .wait_seconds = 3210};
  unit.settings.max_model_len = 8192;
  unit.settings.max_num_seqs = 16;
  unit.settings.max_num_batched_tokens = 2048;
  unit.settings.kv_cache_dtype = "fp8_e4m3";
  unit.settings.prefix_caching = false;
  unit.settings.eager = true;
  unit.static_memory = profiles::gib(18);
  unit.device_memory = profiles::gib(24);
  unit.kv_tokens = 841541;
  unit.header = {"kvfit 0.1.0, plan 0123456789abcdef", "verdict: fits"};
  return unit;
}

// Two machines of eight GPUs, from the hub, on another port.
ServingUnit two_nodes() {
  ServingUnit unit = carved();
  unit.name = "deepseek-v3-2";
  unit.command = {.model = "deepseek-ai/DeepSeek-V3.2",
                  .flags = {{"--max-model-len", "65536"},
                            {"--tensor-parallel-size", "8"},
                            {"--pipeline-parallel-size", "2"},
                            {"--hf-overrides", R"-({"a":"$(HOME)"})-"}},
                  .environment = {}};
  unit.model_is_directory = false;
  unit.gpu_product = "NVIDIA-H100-80GB-HBM3";
  unit.port = 9000;
  unit.gpus = 16;
  unit.nodes = 2;
  unit.shared_memory = profiles::gib(16);
  unit.host_memory = profiles::gib(160);
  unit.settings.tp = 8;
  unit.settings.pp = 2;
  unit.ranks = {"rank  stage  free", "   0      0  1.25", "   8      1  2.50"};
  return unit;
}

OtherEngine engine(const std::string& id) {
  const profiles::Catalog catalog;
  return read_other_engine(catalog.load(catalog.resolve("serving", id)));
}

TEST_CASE("a carved model on one GPU, in every file for one machine") {
  const ServingUnit unit = carved();
  check_golden("emit-command.sh", command_file(unit));
  check_golden("emit-vllm-config.yaml", vllm_config_file(unit));
  check_golden("emit-compose.yaml", compose_file(unit));
  check_golden("emit-quadlet.container", quadlet_file(unit));
  check_golden("emit-systemd.service", systemd_file(unit));
  check_golden("emit-kubernetes.yaml", kubernetes_file(unit));
  check_golden("emit-kserve.yaml", kserve_file(unit));
  check_golden("emit-ray-serve.yaml", ray_serve_file(unit));
}

TEST_CASE("two machines: LeaderWorkerSet and Ray, with the memory of each kind of rank in comments") {
  check_golden("emit-leaderworkerset.yaml", leaderworkerset_file(two_nodes()));
  check_golden("emit-ray.sh", ray_file(two_nodes()));
}

TEST_CASE("engines that are not vLLM get the plan in their own words") {
  ServingUnit unit = carved();
  unit.other = engine("sglang");
  check_golden("emit-sglang.sh", sglang_file(unit));
  unit.other = engine("llama-server");
  unit.gguf = "unsloth/Qwen3.6-35B-A3B-GGUF:Q4_K_M";
  check_golden("emit-llama-server.sh", llama_server_file(unit));
}

std::string message(std::string (*write)(const ServingUnit&), const ServingUnit& unit) {
  try {
    (void)write(unit);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "";
}

TEST_CASE("what an engine cannot serve is an error, not a guess") {
  ServingUnit unit = carved();
  unit.other = engine("llama-server");
  CHECK(message(llama_server_file, unit) ==
        "error: llama-server reads GGUF, which this model is not\n"
        "  help: name the same model as GGUF: --gguf FILE.gguf or --gguf ORG/REPOSITORY:QUANT");
  unit.settings.kv_cache_dtype = "nvfp4";
  unit.other = engine("sglang");
  CHECK(message(sglang_file, unit) ==
        "error: sglang has no KV cache of type nvfp4\n"
        "  help: plan with another one: --kv-cache-dtype auto or fp8");
}

TEST_CASE("a build between releases has no image of its own, and files that need none are written all the same") {
  ServingUnit unit = carved();
  unit.engine_version = "0.26.1rc1.dev608";
  unit.image.clear();
  CHECK(message(compose_file, unit) ==
        "error: no published image belongs to version '0.26.1rc1.dev608'\n"
        "  help: name one: --image REPOSITORY:TAG");
  CHECK(message(command_file, unit).empty());
}

TEST_CASE("data parallel replicas over nodes: each node starts its share and finds the leader") {
  ServingUnit unit = two_nodes();
  unit.data_parallel = 2;
  CHECK(leaderworkerset_file(unit).find("\"--data-parallel-start-rank=$(LWS_WORKER_INDEX)\"") != std::string::npos);
  // Four replicas on two nodes: a node's first rank is twice its index, which only a shell can work out.
  unit.data_parallel = 4;
  const std::string text = leaderworkerset_file(unit);
  CHECK(text.find("--data-parallel-start-rank=$((LWS_WORKER_INDEX * 2))") != std::string::npos);
  CHECK(text.find("\"--data-parallel-size-local=2\"") != std::string::npos);
  unit.data_parallel = 3;
  CHECK(message(leaderworkerset_file, unit) ==
        "error: data parallel size 3 cannot be spread evenly over 2 nodes\n"
        "  help: change --dp or --nodes");
}

TEST_CASE("names become DNS labels") {
  CHECK(dns_label("unsloth/Qwen3.6-35B-A3B-NVFP4") == "qwen3-6-35b-a3b-nvfp4");
  CHECK(dns_label("./a__b..c-") == "a-b-c");
  CHECK(dns_label("7B") == "m-7b");
  CHECK(dns_label("") == "m");
  CHECK(dns_label(std::string(80, 'x')).size() == 45);
}

TEST_CASE("a start is waited for twice as long as the profile expects it to take") {
  const profiles::Catalog catalog;
  const ServingFacts facts = read_serving_facts(catalog.load(catalog.resolve("serving", "vllm")));
  // 20 GiB at 200 MiB/s: 102.4 s, up to 103. 2 x (103 + 1500) = 3206, up to the probe's period of 10 s.
  CHECK(start_time(profiles::gib(20), facts, profiles::Bytes(0)).wait_seconds == 3210);
  // At 1 GiB/s: 20 s, 3040.
  CHECK(start_time(profiles::gib(20), facts, profiles::gib(1)).wait_seconds == 3040);
}

TEST_CASE("flags as a map are typed as the engine reads them, and off is not lost") {
  ServingUnit unit;
  unit.command.flags = {{"--seed", "7"},      {"--revision", "010"}, {"--util", "0.9"}, {"--json", R"({"a":1})"},
                        {"--no-chunked", ""}, {"--eager", ""},       {"--name", "on"},  {"--sizes", "1 2 4"}};
  unit.lists = {"--sizes"};
  CHECK(
      flag_map(unit, false).dump() ==
      R"({"seed":7,"revision":"010","util":0.9,"json":{"a":1},"no-chunked":true,"eager":true,"name":"on","sizes":[1,2,4]})");
  CHECK(flag_map(unit, true)["chunked"] == false);
}

TEST_CASE("a list of words stays several words, and values are quoted for a shell") {
  ServingUnit unit;
  unit.command = {.model = "m", .flags = {{"--sizes", "1 2 4"}, {"--json", "{}"}}, .environment = {"A=x y"}};
  unit.lists = {"--sizes"};
  unit.port = 9000;
  unit.default_port = 8000;
  CHECK(serve_text(unit) == "A='x y' vllm serve m \\\n  --sizes 1 2 4 \\\n  --json '{}' \\\n  --port 9000");
  CHECK(flag_words(unit) == std::vector<std::string>{"--sizes", "1", "2", "4", "--json={}", "--port=9000"});
}

}  // namespace
}  // namespace kvfit::runtime
