#include "runtime/boot_log.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

// Lines as vLLM v0.19 prints them at DEBUG (values of llm-d-incubation/llm-d-planner#205, Llama-3.1-8B on an H100).
constexpr const char* kV19 =
    R"((EngineCore_DP0 pid=214) INFO 03-30 10:00:00 [core.py:97] Initializing a V1 LLM engine (v0.19.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=None, tokenizer='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto, enable_prefix_caching=False
(EngineCore_DP0 pid=214) INFO 03-30 10:00:01 [scheduler.py:231] Chunked prefill is enabled with max_num_batched_tokens=8192.
(EngineCore_DP0 pid=214) INFO 03-30 10:00:02 [cuda.py:257] Using FLASH_ATTN attention backend out of potential backends: ['FLASH_ATTN', 'FLASHINFER'].
(EngineCore_DP0 pid=214) INFO 03-30 10:00:30 [gpu_model_runner.py:4130] Model loading took 14.99 GiB memory and 3.42 seconds
(EngineCore_DP0 pid=214) INFO 03-30 10:00:50 [gpu_model_runner.py:5210] Estimated CUDA graph memory: 0.84 GiB total
(EngineCore_DP0 pid=214) INFO 03-30 10:00:51 [gpu_worker.py:401] Available KV cache memory: 58.11 GiB
(EngineCore_DP0 pid=214) INFO 03-30 10:00:51 [kv_cache_utils.py:1307] GPU KV cache size: 476,016 tokens
(EngineCore_DP0 pid=214) INFO 03-30 10:00:51 [kv_cache_utils.py:1312] Maximum concurrency for 8,192 tokens per request: 58.11x
(EngineCore_DP0 pid=214) INFO 03-30 10:01:09 [gpu_model_runner.py:5330] Graph capturing finished in 12 secs, took 0.91 GiB
(EngineCore_DP0 pid=214) DEBUG 03-30 10:01:09 [gpu_worker.py:520] Free memory on device (78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.95, 75.23 GiB). Actual usage is 14.99 GiB for weight, 1.89 GiB for peak activation, 0.25 GiB for non-torch memory, and 0.91 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with `--kv-cache-memory=61000000000` (56.81 GiB) to fit into requested memory.
(APIServer pid=1) INFO:     Application startup complete.
)";

TEST_CASE("a v0.19 boot yields every number it prints, with its line and process") {
  const BootLog log = read_boot_log(kV19);
  CHECK(log.version->value == "0.19.0");
  CHECK(log.model->value == "meta-llama/Llama-3.1-8B-Instruct");
  CHECK(log.dtype->value == "bfloat16");
  CHECK_FALSE(log.quantization);
  CHECK_FALSE(log.speculative);
  CHECK(log.max_model_len->value == 8192);
  CHECK(log.max_num_batched_tokens->value == 8192);
  CHECK(log.prefix_caching->value == false);
  CHECK(log.attention_backend->value == "FLASH_ATTN");
  REQUIRE(log.weights.size() == 2);
  CHECK(log.weights[0].value == 14.99);
  CHECK(log.weights[0].line == 4);
  CHECK(log.weights[0].writer == "EngineCore_DP0");
  CHECK(log.available_kv[0].value == 58.11);
  CHECK(log.kv_tokens[0].value == 476016);
  CHECK(log.concurrency->value == 58.11);
  CHECK(log.concurrency_length->value == 8192);
  CHECK(log.graphs_estimated[0].value == 0.84);
  CHECK(log.graphs[0].value == 0.91);
  CHECK(log.free_at_start[0].value == 78.68);
  CHECK(log.total[0].value == 79.19);
  CHECK(log.utilization->value == 0.95);
  CHECK(log.requested[0].value == 75.23);
  CHECK(log.activation[0].value == 1.89);
  CHECK(log.non_torch[0].value == 0.25);
  CHECK(log.end == BootEnd::ready);
}

TEST_CASE("colours, container time stamps and thousands separators do not hide a number") {
  const BootLog log = read_boot_log(
      "2026-08-22T09:12:01.123Z vllm-0 | \x1b[0;36m(EngineCore pid=77)\x1b[0;0m INFO 08-22 09:12:01 "
      "[kv_cache_utils.py:1801] "
      "GPU KV cache size: 841,541 tokens, Maximum concurrency for 262,144 tokens per request: 3.21x\r\n");
  CHECK(log.kv_tokens[0].value == 841541);
  CHECK(log.concurrency->value == 3.21);
  CHECK(log.concurrency_length->value == 262144);
  CHECK(log.kv_tokens[0].writer == "EngineCore");
}

TEST_CASE("the merged breakdown of v0.26 is consumed memory, not weights") {
  const BootLog log = read_boot_log(
      "INFO 08-22 09:12:01 [gpu_worker.py:611] Free memory on device (cuda:0) (94.43/94.97 GiB) on startup. Desired GPU "
      "memory "
      "utilization is (0.92, 87.37 GiB). Actual usage is 20.41 GiB for consumed memory (weights + non-torch), 2.62 GiB for "
      "peak "
      "activation, and 0.31 GiB for CUDAGraph memory. Current kv cache memory in use is 64.34 GiB.\n");
  CHECK(log.weights.empty());
  CHECK(log.consumed[0].value == 20.41);
  CHECK(log.activation[0].value == 2.62);
  CHECK(log.non_torch.empty());
  CHECK(log.graphs[0].value == 0.31);
  CHECK(log.free_at_start[0].value == 94.43);
  CHECK(log.total[0].value == 94.97);
}

TEST_CASE("the first engine's profile line is read too") {
  const BootLog log = read_boot_log(
      "INFO 11-21 09:00:00 worker.py:237] Memory profiling takes 0.99 seconds\nthe current vLLM instance can use "
      "total_gpu_memory "
      "(23.58GiB) x gpu_memory_utilization (0.90) = 21.22GiB\nmodel weights take 14.99GiB; non_torch_memory takes 0.35GiB;\n"
      "INFO 11-21 09:00:01 gpu_executor.py:122] # GPU blocks: 1952, # CPU blocks: 2048\n");
  CHECK(log.total[0].value == 23.58);
  CHECK(log.requested[0].value == 21.22);
  CHECK(log.num_gpu_blocks[0].value == 1952);
}

// vllm-project/vllm#14447 (v0.8, each line of one call with its own prefix) and #10511 (v0.6.5, a table).
TEST_CASE("the first engine's profile is read line by line, as sentences and as a table") {
  const BootLog sentences = read_boot_log(
      "(VllmWorkerProcess pid=521) INFO 04-12 08:21:19 [worker.py:267] Memory profiling takes 17.59 seconds\n"
      "(VllmWorkerProcess pid=507) INFO 04-12 08:21:19 [worker.py:267] the current vLLM instance can use total_gpu_memory "
      "(23.58GiB) x gpu_memory_utilization (0.99) = 23.35GiB\n"
      "(VllmWorkerProcess pid=507) INFO 04-12 08:21:19 [worker.py:267] model weights take 21.21GiB; non_torch_memory takes "
      "0.20GiB; PyTorch activation peak memory takes 0.37GiB; the rest of the memory reserved for KV Cache is 1.57GiB.\n"
      "INFO 04-12 08:21:20 [executor_base.py:111] # cuda blocks: 1498, # CPU blocks: 3820\n");
  CHECK(sentences.total[0].value == 23.58);
  CHECK(sentences.utilization->value == 0.99);
  CHECK(sentences.requested[0].value == 23.35);
  CHECK(sentences.weights[0].value == 21.21);
  CHECK(sentences.weights[0].writer == "VllmWorkerProcess");
  CHECK(sentences.non_torch[0].value == 0.2);
  CHECK(sentences.activation[0].value == 0.37);
  CHECK(sentences.available_kv[0].value == 1.57);
  CHECK(sentences.num_gpu_blocks[0].value == 1498);

  const BootLog table = read_boot_log(
      "INFO 12-13 19:54:18 worker.py:243] total_gpu_memory     79.22GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] gpu_memory_utilization       0.90\n"
      "INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use    71.29GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] model weights take   14.96GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.79GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB\n"
      "INFO 12-13 19:54:19 gpu_executor.py:76] # CUDA blocks: 27284, # CPU blocks: 2048\n");
  CHECK(table.total[0].value == 79.22);
  CHECK(table.requested[0].value == 71.29);
  CHECK(table.weights[0].value == 14.96);
  CHECK(table.non_torch[0].value == 1.79);
  CHECK(table.activation[0].value == 1.26);
  CHECK(table.available_kv[0].value == 53.29);
  CHECK(table.num_gpu_blocks[0].value == 27284);
}

TEST_CASE("a refusal names need, have and the longest that fits") {
  const BootLog log = read_boot_log(
      "(EngineCore_DP0 pid=9) ERROR 06-01 10:00:00 [core.py:770] ValueError: To serve at least one request with the "
      "models's max "
      "seq len (262144), (9.29 GiB KV cache is needed, which is larger than the available KV cache memory (9.28 GiB). Based "
      "on the "
      "available memory, the estimated maximum model length is 260800. Try increasing `gpu_memory_utilization`.\n"
      "RuntimeError: Engine core initialization failed. See root cause above.\n");
  CHECK(log.end == BootEnd::kv_too_small);
  CHECK(log.needed_kv->value == 9.29);
  CHECK(log.refused_with->value == 9.28);
  CHECK(log.estimated_max_len->value == 260800);
  CHECK(log.error->line == 1);
}

TEST_CASE("each failure class is told by its own sentence") {
  CHECK(read_boot_log("ValueError: Free memory on device cuda:0 (21.9/23.89 GiB) on startup is less than desired GPU memory "
                      "utilization (0.95, 22.7 GiB).")
            .end == BootEnd::free_memory);
  CHECK(read_boot_log("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`").end ==
        BootEnd::no_blocks);
  const BootLog mamba =
      read_boot_log("max_num_seqs (1024) exceeds available Mamba cache blocks (856). Each decode sequence");
  CHECK(mamba.end == BootEnd::mamba_blocks);
  CHECK(mamba.mamba_blocks->value == 856);
  CHECK(
      read_boot_log("AssertionError: In Mamba cache align mode, block_size (2096) must be <= max_num_batched_tokens (2048).")
          .end == BootEnd::align_block);
  const BootLog oom = read_boot_log(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB. GPU 0 has a total capacity of 79.19 GiB of "
      "which "
      "552.88 MiB is free.");
  CHECK(oom.end == BootEnd::oom);
  CHECK(oom.oom_tried_gib->value == doctest::Approx(786.0 / 1024));
  CHECK(oom.oom_free_gib->value == doctest::Approx(552.88 / 1024));
}

TEST_CASE("a failure after the server was ready is the end") {
  CHECK(read_boot_log("INFO: Application startup complete.\nCUDA out of memory. Tried to allocate 96.00 MiB\n").end ==
        BootEnd::oom);
}

TEST_CASE("sglang and llama.cpp state the same facts in their words") {
  const BootLog sglang = read_boot_log(
      "[2026-01-01 TP0] Load weight end. type=Qwen3MoeForCausalLM, dtype=torch.bfloat16, avail mem=21.55 GB, mem "
      "usage=56.97 GB.\n"
      "[2026-01-01 TP0] KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB\n");
  CHECK(sglang.engine == "sglang");
  CHECK(sglang.weights[0].value == 56.97);
  CHECK(sglang.kv_tokens[0].value == 367404);
  CHECK(sglang.available_kv[0].value == doctest::Approx(16.46));
  const BootLog llama = read_boot_log(
      "llama_kv_cache: size =  448.00 MiB (  4096 cells,  28 layers,  1/1 seqs), K (f16):  224.00 MiB, V (f16):  224.00 "
      "MiB\n");
  CHECK(llama.engine == "llama.cpp");
  CHECK(llama.kv_tokens[0].value == 4096);
  CHECK(llama.available_kv[0].value == doctest::Approx(0.4375));
}

TEST_CASE("a latent cache and several streams are one pool") {
  const BootLog latent = read_boot_log("[TP0] KV Cache is allocated. #tokens: 100000, KV size: 5.79 GB\n");
  CHECK(latent.available_kv[0].value == 5.79);
  // llama.cpp prints the cells of one stream and all bytes: 2 streams of 4096 cells.
  const BootLog streams = read_boot_log(
      "llama_kv_cache: size =  896.00 MiB (  4096 cells,  28 layers,  2/2 seqs), K (f16):  448.00 MiB, V (f16):  448.00 "
      "MiB\n");
  CHECK(streams.kv_tokens[0].value == 8192);
  const BootLog small = read_boot_log(
      "llama_kv_cache: size =  287.00 MiB (  4096 cells,  28 layers,  1/1 seqs), K (q4_0):   63.00 MiB, V (f16):  224.00 "
      "MiB\n");
  CHECK(small.available_kv.empty());
  CHECK(small.unusable[0].value == "a KV cache of a type that kvfit does not plan with");
  const BootLog arguments =
      read_boot_log("server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tp_size=2, kv_cache_dtype='auto')\n");
  CHECK(arguments.engine == "sglang");
  CHECK(arguments.model->value == "Qwen/Qwen3-8B");
  CHECK(arguments.tensor_parallel_size->value == 2);
}

// 15349.76 / 1024 = 14.99; 16,095,389,777 / 2^30 = 14.9900. "GB" of the engines that print it is 2^30 bytes.
TEST_CASE("a size is read with its unit") {
  const auto weights = [](const std::string& size) {
    const BootLog log = read_boot_log("Model loading took " + size + " memory and 3.42 seconds\n");
    REQUIRE(log.weights.size() == 1);
    return log.weights[0].value;
  };
  CHECK(weights("14.99 GiB") == 14.99);
  CHECK(weights("14.99GiB") == 14.99);
  CHECK(weights("14.99 GB") == 14.99);
  CHECK(weights("14.99 MiB") == doctest::Approx(0.014639));
  CHECK(weights("15,349.76 MiB") == doctest::Approx(14.99));
  CHECK(weights("15718154.24 KiB") == doctest::Approx(14.99));
  CHECK(weights("16095389777 bytes") == doctest::Approx(14.99));
  CHECK(weights("0.25 TiB") == 256);
  const BootLog shared = read_boot_log(
      "Free memory on device cuda:0 (80568.32/81090.56 MiB) on startup. Desired GPU memory utilization is (0.95, 75.23 "
      "GiB).");
  CHECK(shared.free_at_start[0].value == doctest::Approx(78.68));
  CHECK(shared.total[0].value == doctest::Approx(79.19));
  CHECK(shared.requested[0].value == 75.23);
}

TEST_CASE("a figure that cannot be one is said, not taken") {
  for (const char* size :
       {"nan GiB", "inf GiB", "-14.99 GiB", "0 GiB", "0.00 GiB", "1e9 GiB", "14.99", "99999999999 GiB", "GiB", ""}) {
    CAPTURE(size);
    const BootLog log = read_boot_log("\nModel loading took " + std::string(size) + " memory and 3.42 seconds\n");
    CHECK(log.weights.empty());
    REQUIRE(log.unusable.size() == 1);
    CHECK(log.unusable[0].line == 2);
  }
  const BootLog negative = read_boot_log("Available KV cache memory: -0.23 GiB\n");  // there is nothing left: a fact
  CHECK(negative.available_kv[0].value == -0.23);
  CHECK(negative.unusable.empty());
  const BootLog counts = read_boot_log(
      "GPU KV cache size: nan tokens\nGPU KV cache size: -5 tokens\nGPU KV cache size: 99999999999999999999 tokens\nMaximum "
      "concurrency for 0 tokens per "
      "request: 1.00x\nMaximum concurrency for 8,192 tokens per request: infx\n");
  CHECK(counts.kv_tokens.empty());
  CHECK_FALSE(counts.concurrency);
  CHECK(counts.unusable.size() == 5);
  const BootLog share = read_boot_log("Desired GPU memory utilization is (1.95, 75.23 GiB).\n");
  CHECK_FALSE(share.utilization);
  CHECK(share.requested[0].value == 75.23);
  CHECK(share.unusable[0].value == "a utilisation that is no share of 1");
  const BootLog sizes =
      read_boot_log("LLM engine (v0.19.0) with config: model='m', max_seq_len=0, tensor_parallel_size=99999\n");
  CHECK_FALSE(sizes.max_model_len);
  CHECK_FALSE(sizes.tensor_parallel_size);
  CHECK(sizes.unusable.size() == 1);  // one remark a line
}

TEST_CASE("a line that is a JSON object is read for the text in it") {
  const BootLog docker = read_boot_log(
      R"({"log":"\u001b[36m(EngineCore_DP0 pid=7)\u001b[0m INFO Model loading took 14.99 GiB memory and 3.42 seconds\n","stream":"stderr"})");
  CHECK(docker.weights[0].value == 14.99);
  CHECK(docker.weights[0].writer == "EngineCore_DP0");
  const BootLog several = read_boot_log(
      "vllm-0 | {\"level\": \"INFO\", \"message\": \"Available KV cache memory: 58.11 GiB\\nGPU KV cache size: 476,016 "
      "tokens\"}\n");
  CHECK(several.available_kv[0].value == 58.11);
  CHECK(several.kv_tokens[0].value == 476016);
  CHECK(several.kv_tokens[0].line == 1);
  // The configuration line holds objects too: it is no JSON line.
  CHECK_FALSE(
      wrapped_text(R"(Initializing a V1 LLM engine (v0.19.0) with config: model='m', compilation_config={"mode": 3})"));
}

TEST_CASE("a file is split where the engine starts again") {
  const std::string boot = kV19;
  const std::vector<BootLog> twice = read_boot_logs(boot + "ERROR CUDA out of memory. Tried to allocate 96.00 MiB\n" + boot);
  REQUIRE(twice.size() == 2);
  CHECK(twice[0].end == BootEnd::oom);
  CHECK(twice[1].end == BootEnd::ready);
  CHECK(twice[1].first_line == 13);  // eleven lines and the error
  CHECK(twice[1].weights[0].line == 16);
  CHECK(twice[1].weights.size() == 2);
  CHECK(read_boot_logs(boot).size() == 1);
  CHECK(read_boot_logs("").size() == 1);
}

TEST_CASE("a start that failed before it loaded anything is a boot of its own") {
  const std::string first =
      "INFO vLLM API server version 0.19.0\nValueError: Free memory on device (3.1/79.19 GiB) on startup is less than "
      "desired GPU "
      "memory utilization (0.9, 71.27 GiB).\n";
  const std::vector<BootLog> boots = read_boot_logs(first + "INFO vLLM API server version 0.19.0\n" + kV19);
  REQUIRE(boots.size() == 2);
  CHECK(boots[0].end == BootEnd::free_memory);
  CHECK(boots[1].weights.size() == 2);
}

TEST_CASE("the engines of a data-parallel group are one boot") {
  const std::vector<BootLog> boots = read_boot_logs(
      "(EngineCore_DP0 pid=1) INFO Initializing a V1 LLM engine (v0.19.0) with config: model='m'\n"
      "(EngineCore_DP0 pid=1) INFO Model loading took 14.99 GiB memory and 3 seconds\n"
      "(EngineCore_DP1 pid=2) INFO Initializing a V1 LLM engine (v0.19.0) with config: model='m'\n"
      "(EngineCore_DP1 pid=2) INFO Model loading took 14.98 GiB memory and 3 seconds\n"
      "(EngineCore_DP0 pid=9) INFO Initializing a V1 LLM engine (v0.19.0) with config: model='m'\n");
  REQUIRE(boots.size() == 2);
  CHECK(boots[0].weights.size() == 2);
  CHECK(boots[1].first_line == 5);
}

TEST_CASE("numbers stop where they end") {
  Scan scan("1,774,963 tokens, 12.5.");
  CHECK(scan.integer() == 1774963);
  CHECK(scan.accept(" tokens, "));
  CHECK(scan.number() == 12.5);
  CHECK(scan.rest() == ".");
  CHECK_FALSE(number_after("Model loading took nothing", "took ").has_value());
}

}  // namespace
}  // namespace kvfit::runtime
