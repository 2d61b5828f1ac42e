#include "cli/flags.h"

#include <array>
#include <span>
#include <string_view>

namespace kvfit::cli {
namespace {

using enum FlagType;

constexpr std::string_view kPlan = "plan explain calibrate";
constexpr std::string_view kFit = "plan explain calibrate carve";
constexpr double kMany = 1e15;

// clang-format off: one row a flag, so that the table reads as one
constexpr std::array kFlags = {
    // --- machine
    Flag{.verbs = kFit, .name = "gpu", .type = text, .value = "ID", .group = "Machine",
         .help = "GPU: an id or name (see kvfit gpus), or a file",
         .more = "Ids, aliases and the names that drivers report are all known. A file is a hardware profile in YAML."},
    Flag{.verbs = kFit, .name = "gpus", .type = integer, .value = "N", .low = 1, .high = 4096, .aliases = "num-gpus",
         .fallback = "tp x pp x dp", .group = "Machine", .help = "how many of them"},
    Flag{.verbs = kFit, .name = "system", .type = choice, .value = "KIND", .choices = "linux|wsl2",
         .aliases = "wsl=wsl2 wsl2=wsl2", .fallback = "linux", .group = "Machine",
         .help = "linux or wsl2; --wsl for short",
         .more = "Under WSL2 the host keeps part of the memory that CUDA reports as present."},
    Flag{.verbs = kPlan, .name = "link", .type = choice, .value = "KIND", .choices = "none|pcie|nvlink|network",
         .fallback = "the GPU's own", .group = "Machine", .help = "between the GPUs of one group"},
    Flag{.verbs = kPlan, .name = "used-elsewhere", .type = size, .value = "SIZE", .fallback = "0", .group = "Machine",
         .common = false, .help = "memory that other programs hold on each GPU",
         .more = "On top of what the profile says an idle machine uses: a desktop, another server. Example: 1.5GiB."},
    // --- model
    Flag{.verbs = kPlan, .name = "model", .type = text, .value = "MODEL", .fallback = "Qwen3.6-35B-A3B NVFP4 (unsloth)",
         .group = "Model", .help = "catalogue id, Hugging Face id, directory or file",
         .more = "A directory holds config.json and, for exact bytes, *.safetensors; a file is a config.json or a YAML "
           "spec; - reads either from stdin. Without --model kvfit plans the default model with fp8 KV cache, 16 "
           "sequences and vision off."},
    Flag{.verbs = kPlan, .name = "experts", .type = integer, .value = "N", .low = 1, .high = 65536, .fallback = "searched",
         .group = "Model", .help = "keep this many routed experts in each layer"},
    Flag{.verbs = kPlan, .name = "vision", .type = choice, .value = "on|off", .choices = "on|off",
         .aliases = "language-model-only=off", .fallback = "off for the default model, else on", .group = "Model",
         .help = "load the vision tower"},
    Flag{.verbs = kPlan, .name = "mtp", .type = integer, .value = "N", .low = 0, .high = 64, .fallback = "0",
         .group = "Model", .help = "draft tokens by the model's own MTP head"},
    Flag{.verbs = kPlan, .name = "speculative-config", .type = text, .value = "JSON", .group = "Model", .common = false,
         .help = "vLLM's own: method, num_speculative_tokens, model"},
    Flag{.verbs = kPlan, .name = "dtype", .type = choice, .value = "TYPE",
         .choices = "auto|bfloat16|float16|half|float32|float", .fallback = "auto", .group = "Model", .common = false,
         .help = "compute type of weights that are not quantised"},
    Flag{.verbs = kPlan, .name = "limit-mm-per-prompt", .type = text, .value = "JSON", .group = "Model", .common = false,
         .help = "vLLM's own; all zero means --vision off"},
    // --- engine
    Flag{.verbs = kFit, .name = "engine", .type = text, .value = "NAME", .fallback = "vllm", .group = "Engine",
         .help = "serving engine"},
    Flag{.verbs = kFit, .name = "engine-version", .type = text, .value = "VERSION", .fallback = "0.24", .group = "Engine",
         .help = "its release; every rule is versioned"},
    // --- serving
    Flag{.verbs = kFit, .name = "util", .type = number, .value = "FRACTION", .low = 0.01, .high = 1,
         .aliases = "gpu-memory-utilization", .fallback = "0.94", .group = "Serving",
         .help = "share of the GPU the engine may budget"},
    Flag{.verbs = kFit, .name = "max-model-len", .type = tokens, .value = "TOKENS", .aliases = "context",
         .fallback = "searched", .group = "Serving", .help = "context: 8192, 32K, 32k or auto",
         .more = "As vLLM reads it: 32k is 32,000 and 32K is 32,768 tokens. Given, it is fixed and the search varies only "
           "what is left open. auto is the engine's own fit."},
    Flag{.verbs = kFit, .name = "max-num-seqs", .type = integer, .value = "N", .low = 1, .high = 1e6, .aliases = "seqs",
         .fallback = "16 for the default model, else the engine's", .group = "Serving", .help = "sequences served at once"},
    Flag{.verbs = kPlan, .name = "max-num-batched-tokens", .type = tokens, .value = "TOKENS", .fallback = "the engine's",
         .group = "Serving", .help = "tokens of one step"},
    Flag{.verbs = kFit, .name = "kv-cache-dtype", .type = text, .value = "TYPE",
         .fallback = "fp8 for the default model, else auto", .group = "Serving", .help = "auto, bfloat16, fp8, nvfp4 and so on"},
    Flag{.verbs = kFit, .name = "tp", .type = integer, .value = "N", .low = 1, .high = 1024,
         .aliases = "tensor-parallel-size -tp", .fallback = "1", .group = "Serving", .help = "tensor parallel size"},
    Flag{.verbs = kPlan, .name = "pp", .type = integer, .value = "N", .low = 1, .high = 1024,
         .aliases = "pipeline-parallel-size -pp", .fallback = "1", .group = "Serving", .help = "pipeline parallel size"},
    Flag{.verbs = kPlan, .name = "dp", .type = integer, .value = "N", .low = 1, .high = 4096,
         .aliases = "data-parallel-size -dp", .fallback = "1", .group = "Serving", .help = "data parallel size"},
    Flag{.verbs = kPlan, .name = "dcp", .type = integer, .value = "N", .low = 1, .high = 1024,
         .aliases = "decode-context-parallel-size -dcp", .fallback = "1", .group = "Serving", .common = false,
         .help = "decode context parallel size"},
    Flag{.verbs = kPlan, .name = "ep", .aliases = "enable-expert-parallel -ep", .fallback = "off", .group = "Serving",
         .help = "whole experts on each GPU (expert parallel)"},
    Flag{.verbs = kPlan, .name = "prefix-caching", .type = choice, .value = "on|off", .choices = "on|off",
         .aliases = "enable-prefix-caching=on no-enable-prefix-caching=off", .fallback = "the engine's",
         .group = "Serving", .help = "reuse the cache of equal prefixes"},
    Flag{.verbs = kPlan, .name = "enforce-eager", .fallback = "off", .group = "Serving", .help = "no CUDA graphs"},
    Flag{.verbs = kPlan, .name = "enable-chunked-prefill", .fallback = "the engine's", .group = "Serving", .common = false,
         .help = "prefill in pieces of one step"},
    Flag{.verbs = kPlan, .name = "async-scheduling", .fallback = "the engine's", .group = "Serving", .common = false,
         .help = "schedule one step ahead"},
    Flag{.verbs = kPlan, .name = "kv-cache-memory-bytes", .type = size, .value = "SIZE", .group = "Serving",
         .common = false, .help = "pool size itself; --util then has no say"},
    Flag{.verbs = kPlan, .name = "num-gpu-blocks-override", .type = integer, .value = "N", .low = 1, .high = kMany,
         .group = "Serving", .common = false, .help = "number of cache blocks itself"},
    Flag{.verbs = kPlan, .name = "block-size", .type = integer, .value = "TOKENS", .low = 1, .high = 65536,
         .fallback = "the engine's", .group = "Serving", .common = false, .help = "tokens a cache block holds"},
    Flag{.verbs = kPlan, .name = "max-cudagraph-capture-size", .type = integer, .value = "N", .low = 0, .high = 1e6,
         .fallback = "the engine's", .group = "Serving", .common = false, .help = "largest batch captured as a graph"},
    Flag{.verbs = kPlan, .name = "mamba-cache-mode", .type = choice, .value = "MODE", .choices = "none|align|all",
         .fallback = "the engine's", .group = "Serving", .common = false, .help = "how recurrent state is cached"},
    Flag{.verbs = kPlan, .name = "mamba-ssm-cache-dtype", .type = choice, .value = "TYPE",
         .choices = "auto|float32|float16|bfloat16", .fallback = "auto", .group = "Serving", .common = false,
         .help = "type of recurrent state"},
    Flag{.verbs = kPlan, .name = "attention-backend", .type = text, .value = "NAME", .fallback = "the engine's",
         .group = "Serving", .common = false, .help = "attention kernels"},
    Flag{.verbs = kPlan, .name = "moe-backend", .type = text, .value = "NAME", .fallback = "the engine's",
         .group = "Serving", .common = false, .help = "expert kernels"},
    Flag{.verbs = kPlan, .name = "cpu-offload-gb", .type = number, .value = "GIB", .low = 0, .high = 1e5, .fallback = "0",
         .group = "Serving", .common = false, .help = "weights kept in host memory, GiB a GPU"},
    Flag{.verbs = kPlan, .name = "skip-mm-profiling", .fallback = "off", .group = "Serving", .common = false,
         .help = "leave images out of the profile run"},
    Flag{.verbs = kPlan, .name = "enable-eplb", .fallback = "off", .group = "Serving", .common = false,
         .help = "balance experts between GPUs"},
    Flag{.verbs = kPlan, .name = "num-redundant-experts", .type = integer, .value = "N", .low = 0, .high = 65536,
         .fallback = "0", .group = "Serving", .common = false, .help = "experts held twice for balance"},
    Flag{.verbs = kPlan, .name = "enable-lora", .fallback = "off", .group = "Serving", .common = false,
         .help = "room for LoRA adapters"},
    Flag{.verbs = kPlan, .name = "max-loras", .type = integer, .value = "N", .low = 1, .high = 4096, .fallback = "1",
         .group = "Serving", .common = false, .help = "adapters in one batch"},
    Flag{.verbs = kPlan, .name = "max-lora-rank", .type = integer, .value = "N", .low = 1, .high = 4096, .fallback = "16",
         .group = "Serving", .common = false, .help = "largest adapter rank"},
    Flag{.verbs = kPlan, .name = "enable-sleep-mode", .fallback = "off", .group = "Serving", .common = false,
         .help = "memory pool that can be put to sleep"},
    Flag{.verbs = kPlan, .name = "disable-hybrid-kv-cache-manager", .fallback = "off", .group = "Serving", .common = false,
         .help = "one kind of cache for all layers"},
    // --- search
    Flag{.verbs = "plan explain", .name = "prefer", .type = text, .value = "ORDER", .fallback = "experts,context,sequences",
         .group = "Search", .help = "what to keep first",
         .more = "The words experts, context and sequences, most precious first; what is left out comes last."},
    Flag{.verbs = "plan explain", .name = "experts-step", .type = integer, .value = "N", .low = 1, .high = 65536, .fallback = "32",
         .group = "Search", .common = false, .help = "expert counts to try: multiples of N"},
    Flag{.verbs = kPlan, .name = "confidence", .type = choice, .value = "PERCENT", .choices = "50|90|95", .fallback = "90",
         .group = "Search", .common = false, .help = "width of the error bars that decide TIGHT"},
    Flag{.verbs = "plan", .name = "margin", .type = text, .value = "SIZE|N%", .group = "Search",
         .help = "answer no (exit 1) below this headroom",
         .more = "A size (512MiB) or a share of the GPU (5%). The binding check must keep at least this margin."},
    Flag{.verbs = kPlan, .name = "allow-fallback", .fallback = "off", .group = "Search",
         .help = "run formats refused by policy, weight-only"},
    Flag{.verbs = "plan", .name = "exit-zero", .fallback = "off", .group = "Search", .common = false,
         .help = "exit 0 whatever the verdict; errors still count"},
    Flag{.verbs = "plan", .name = "carve-to", .type = text, .value = "DIR", .group = "Search", .common = false,
         .help = "then write the checkpoint with the planned experts",
         .more = "As kvfit carve run does, when the answer is yes and --model is a directory. DIR must not exist."},
    // --- corrections
    Flag{.verbs = "calibrate", .name = "keep", .fallback = "off", .group = "Corrections",
         .help = "keep what the log teaches for later plans",
         .more = "Differences are stored on this machine, keyed by GPU, model, engine version and tensor parallel size; "
           "plans of the same key then use them and say so. Nothing leaves the machine."},
    Flag{.verbs = "calibrate", .name = "forget", .fallback = "off", .group = "Corrections",
         .help = "forget what was kept for this configuration"},
    Flag{.verbs = "plan explain", .name = "corrections", .type = choice, .value = "on|off", .choices = "on|off",
         .fallback = "on", .group = "Search", .common = false, .help = "use what kvfit calibrate kept on this machine"},
    // --- carve
    Flag{.verbs = "carve", .name = "keep", .type = text, .value = "N|N%|auto", .group = "Carve",
         .help = "experts of each block that stay",
         .more = "A count, a share of all (rounded down to a multiple of 4), or auto: the largest power of two below all, of "
           "which every engine has a fused kernel. --fit and --gpu choose the count instead."},
    Flag{.verbs = "carve", .name = "fit", .type = size, .value = "SIZE", .group = "Carve",
         .help = "as many experts as fit that size"},
    Flag{.verbs = "carve", .name = "ep-size", .type = integer, .value = "N", .low = 1, .high = 4096, .fallback = "1",
         .group = "Carve", .common = false, .help = "the count must divide over N expert-parallel ranks"},
    Flag{.verbs = "carve", .name = "score", .type = text, .value = "NAME", .fallback = "kirigami", .group = "Carve",
         .help = "what makes an expert worth keeping",
         .more = "kirigami (router norm x mean weight scale), kirigami-eff (scales times global scales), router-norm, scale, "
           "aimer, frob (both read all weights), sim (alike router rows go), bias (score corrections), hash-freq (tables of "
           "token to expert), file (--score-file) or random, the control. compare and --combine take two: kirigami,random."},
    Flag{.verbs = "carve", .name = "combine", .type = choice, .value = "HOW", .choices = "rank-sum", .group = "Carve",
         .common = false, .help = "choose by two scores: the mean of their ranks"},
    Flag{.verbs = "carve", .name = "score-file", .type = text, .value = "FILE", .group = "Carve",
         .help = "scores that something else computed",
         .more = "JSON of kvfit, a report of llm-compressor's REAP, pruned_experts.json or calib_free_scores.csv of AIMER, or an "
           "imatrix in GGUF."},
    Flag{.verbs = "carve", .name = "fill", .fallback = "off", .group = "Carve", .common = false,
         .help = "blocks the file does not name are scored by --score"},
    Flag{.verbs = "carve", .name = "seed", .type = integer, .value = "N", .low = 0, .high = kMany, .fallback = "0",
         .group = "Carve", .common = false, .help = "of --score random"},
    Flag{.verbs = "carve", .name = "mtp", .type = choice, .value = "WHAT", .choices = "carve|drop|keep", .fallback = "carve",
         .group = "Carve", .help = "draft head: carve, drop or keep it whole"},
    Flag{.verbs = "carve", .name = "protect", .type = text, .value = "IDS|FILE", .group = "Carve",
         .common = false, .help = "experts that stay in every block: 3,17",
         .more = "Or a JSON file with a list for each block: {\"model.layers.3.mlp\": [3, 17]}."},
    Flag{.verbs = "carve", .name = "drop", .type = text, .value = "IDS|FILE", .group = "Carve",
         .common = false, .help = "experts that go in every block; or a file as for --protect"},
    Flag{.verbs = "carve", .name = "hash-remap", .type = choice, .value = "HOW", .choices = "refuse|nearest",
         .fallback = "refuse", .group = "Carve", .common = false, .help = "tables of token to expert (DeepSeek-V4)",
         .more = "nearest: where a table names an expert that goes, the kept expert with the most similar router row takes "
           "its place."},
    Flag{.verbs = "carve", .name = "tr3-drop-manifest", .fallback = "off", .group = "Carve", .common = false,
         .help = "carve rank-sliced EXL3 without its manifest of hashes"},
    Flag{.verbs = "carve", .name = "force-count", .fallback = "off", .group = "Carve", .common = false,
         .help = "allow a count that is no multiple of 4"},
    Flag{.verbs = "carve", .name = "allow-unknown", .type = text, .value = "REGEX", .group = "Carve", .common = false,
         .help = "names carried unchanged though they look like experts"},
    Flag{.verbs = "carve", .name = "keep-patterns", .fallback = "off", .group = "Carve", .common = false,
         .help = "leave patterns that name an expert's number"},
    Flag{.verbs = "carve", .name = "include-orphans", .fallback = "off", .group = "Carve", .common = false,
         .help = "carve files that the index does not name"},
    Flag{.verbs = "carve", .name = "ignore-dangling", .fallback = "off", .group = "Carve", .common = false,
         .help = "the index may name tensors that are not there"},
    Flag{.verbs = "carve", .name = "dry-run", .fallback = "off", .group = "Writing", .help = "say what would be written"},
    Flag{.verbs = "carve", .name = "restart", .fallback = "off", .group = "Writing",
         .help = "wipe what an interrupted run left"},
    Flag{.verbs = "carve", .name = "full", .fallback = "off", .group = "Writing",
         .help = "compare every byte with the source"},
    Flag{.verbs = "carve", .name = "hash", .fallback = "off", .group = "Writing", .common = false,
         .help = "SHA-256 of each file into the manifest"},
    Flag{.verbs = "carve", .name = "reflink", .type = choice, .value = "WHEN", .choices = "auto|always|never",
         .fallback = "auto", .group = "Writing", .common = false, .help = "share bytes with the source where the disk can"},
    Flag{.verbs = "carve", .name = "threads", .type = integer, .value = "N", .low = 1, .high = 64, .fallback = "2 to 4",
         .group = "Writing", .common = false, .help = "copying at once"},
    Flag{.verbs = "carve", .name = "canonical-pad", .fallback = "off", .group = "Writing", .common = false,
         .help = "headers padded to 8 bytes, not to shareable places"},
    Flag{.verbs = "carve", .name = "timestamp", .aliases = "reproducible=off", .fallback = "off", .group = "Writing",
         .common = false, .help = "the time into the manifest"},
    Flag{.verbs = "carve", .name = "progress", .fallback = "on", .group = "Writing", .common = false,
         .help = "how far it is, on stderr"},
    Flag{.verbs = "carve", .name = "job", .type = text, .value = "FILE", .group = "Parts", .common = false,
         .help = "run a part of that job; merge or launch it"},
    Flag{.verbs = "carve", .name = "part", .type = text, .value = "K/N|auto", .fallback = "auto", .group = "Parts",
         .common = false, .help = "which part, from 0",
         .more = "auto takes the first that is set of KVFIT_PART, SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
           "OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_PROCID."},
    Flag{.verbs = "carve", .name = "parts", .type = integer, .value = "N", .low = 1, .high = 100000, .fallback = "4",
         .group = "Parts", .common = false, .help = "parts of a job, at most one a file"},
    Flag{.verbs = "carve", .name = "with", .type = choice, .value = "ENGINE", .choices = "parallel|slurm|kubernetes",
         .fallback = "parallel", .group = "Parts", .common = false, .help = "what launch writes for"},
    Flag{.verbs = "carve", .name = "at-once", .type = integer, .value = "N", .low = 1, .high = 100000, .fallback = "4",
         .group = "Parts", .common = false, .help = "parts side by side; disks bound it, not cores"},
    Flag{.verbs = "carve", .name = "program", .type = text, .value = "PATH", .fallback = "kvfit", .group = "Parts",
         .common = false, .help = "how the engine calls kvfit"},
    Flag{.verbs = "carve", .name = "image", .type = text, .value = "IMAGE", .group = "Parts", .common = false,
         .help = "container image that holds kvfit (kubernetes)"},
    Flag{.verbs = "carve", .name = "claim", .type = text, .value = "NAME", .group = "Parts", .common = false,
         .help = "PersistentVolumeClaim of the files (kubernetes)"},
    Flag{.verbs = "carve", .name = "mount", .type = text, .value = "PATH", .fallback = "/data", .group = "Parts",
         .common = false, .help = "where the claim is mounted (kubernetes)"},
    // --- output
    Flag{.verbs = "plan", .name = "format", .letter = 'f', .type = choice, .value = "FORMAT",
         .choices = "table|json|yaml|markdown", .fallback = "table", .group = "Output",
         .help = "table, json, yaml or markdown",
         .more = "The table is for people and may change in any release; json and yaml keep their keys (kvfit schema)."},
    Flag{.verbs = "explain gpus models calibrate carve", .name = "format", .letter = 'f', .type = choice, .value = "FORMAT",
         .choices = "table|json|yaml", .fallback = "table", .group = "Output", .help = "table, json or yaml"},
    Flag{.verbs = "plan explain gpus models schema calibrate carve", .name = "output", .letter = 'o', .type = text, .value = "FILE",
         .group = "Output", .repeats = true, .help = "write there instead of stdout; FORMAT=FILE adds",
         .more = "`-o FILE` takes the report; `-o FORMAT=FILE` writes that format as well and may be repeated. - is "
           "stdout. A file appears whole or not at all."},
    Flag{.verbs = "plan explain gpus models calibrate carve", .name = "profiles", .type = text, .value = "DIR", .group = "Output",
         .repeats = true, .help = "profiles that add to or replace built-in ones",
         .more = "DIR holds hardware/, models/ and engines/ with YAML files. $XDG_CONFIG_HOME/kvfit/profiles is read "
           "first when it is there."},
    Flag{.verbs = "*", .name = "quiet", .letter = 'q', .fallback = "off", .group = "Output", .help = "no notes on stderr"},
    Flag{.verbs = "*", .name = "color", .type = choice, .value = "WHEN", .choices = "auto|always|never",
         .aliases = "colour", .fallback = "auto", .group = "Output", .help = "auto, always or never",
         .more = "auto follows FORCE_COLOR, NO_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM=dumb and whether stdout is a "
           "terminal, in that order."},
    Flag{.verbs = "*", .name = "help", .letter = 'h', .group = "Output", .help = "-h in short, --help in full"},
    Flag{.verbs = "*", .name = "version", .group = "Output", .common = false, .help = "version of kvfit"},
};
// clang-format on

}  // namespace

std::span<const Flag> flags() { return kFlags; }

bool belongs(const Flag& flag, std::string_view verb) {
  if (flag.verbs == "*") return true;
  for (std::string_view rest = flag.verbs; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    if (rest.substr(0, blank) == verb) return true;
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return false;
}

}  // namespace kvfit::cli
