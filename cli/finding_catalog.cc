#include "cli/finding_catalog.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "cli/check_case.h"
#include "cli/terminal.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using Level = planner::Finding::Level;

// clang-format off: one row a finding
constexpr std::array kPages = {
    FindingPage{"KVF000", Level::error, "the question could not be answered",
      "The file or the call cannot be used: a model, GPU or value is not known, or a variable is not set where kvfit can see it. It is no verdict, and it always counts: a gate that cannot tell must not say yes.",
      "Mend what the message names, or say it: --gpu, --model, --engine-version, or `deployments:` in kvfit.yaml.", ""},
    FindingPage{"KVF001", Level::error, "does not fit",
      "One of the engine's own checks fails (it will not start), or what escapes its budget does not fit beside it (it dies under load). The binding check is named with need, have and error bar.",
      "Take the smallest concession listed, or fewer experts: kvfit plan with the same flags shows the ladder.",
      "vllm/v1/core/kv_cache_utils.py, vllm/v1/worker/utils.py; run check: kvfit's own"},
    FindingPage{"KVF002", Level::warning, "fits within the error bar only",
      "The estimate fits, but its 90 % error bar reaches past the limit: it may fail on this machine.",
      "Leave more room, or boot it once and keep what the log teaches: kvfit calibrate --keep LOG.", ""},
    FindingPage{"KVF003", Level::error, "refused format",
      "This GPU has no kernel for a weight or cache format of this deployment, or kvfit's policy refuses it.",
      "Take another checkpoint or GPU. A policy refusal can be lifted: --allow-fallback.",
      "profiles/gates/vllm.yaml"},
    FindingPage{"KVF004", Level::error, "more sequences than state blocks",
      "A model with recurrent states needs one block for each sequence. With fewer blocks than max_num_seqs the engine refuses to start (CUDA graphs).",
      "Lower --max-num-seqs to the number of blocks, or leave more memory for the cache.",
      "vllm/v1/worker/gpu_model_runner.py (max_num_seqs exceeds available Mamba cache blocks)"},
    FindingPage{"KVF005", Level::error, "batch below the aligned block",
      "Hybrid models align their blocks to the state's page; the engine asserts that one aligned block fits into a batch.",
      "Raise --max-num-batched-tokens to the block size.",
      "vllm/model_executor/models/config.py (block_size must be <= max_num_batched_tokens)"},
    FindingPage{"KVF006", Level::note, "default of sequences costs memory",
      "Without --max-num-seqs large GPUs serve up to 1024 sequences; the sampler's buffers (sequences x vocabulary) are then taken from the cache, and again after it was sized.",
      "State --max-num-seqs as high as you need.",
      "vllm/engine/arg_utils.py (default_max_num_seqs); measured: tests/data/truth"},
    FindingPage{"KVF007", Level::note, "16-bit cache where fp8 holds twice as much",
      "kv-cache-dtype is left on auto and the cache is kept in 16 bit, while this GPU reads an fp8 cache natively.",
      "--kv-cache-dtype fp8, after checking the quality on your own task.", "vllm/config/cache.py (CacheDType)"},
    FindingPage{"KVF008", Level::warning, "utilisation above what stays safe",
      "At this utilisation the engine starts, but what it allocates beside its budget (graphs, warm-up, scratch; under WSL2 also the host's share) may not fit under load.",
      "Lower --gpu-memory-utilization to the value named.", "the run check; profiles/hardware (wsl2_hidden)"},
    FindingPage{"KVF009", Level::warning, "Triton experts with NVFP4",
      "moe_backend=triton does not take NVFP4 experts.",
      "Leave --moe-backend on auto, or take cutlass or flashinfer.",
      "vllm/model_executor/layers/fused_moe/oracle/nvfp4.py"},
    FindingPage{"KVF010", Level::note, "graph estimate known to be inflated",
      "This release sets memory aside for CUDA graphs by an estimate that is far above what capturing takes for this configuration; the cache is smaller for it.",
      "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0 gives it back; check run-fit again with it.",
      "vllm-project/vllm#27951, #53013, #45178"},
    FindingPage{"KVF011", Level::note, "vision tower loaded, no sign of images",
      "The model carries a vision tower, which is loaded and profiled, and nothing in the deployment says that images are served.",
      "If only text is served: --limit-mm-per-prompt '{\"image\":0,\"video\":0}'.",
      "vllm/config/multimodal.py"},
    FindingPage{"KVF012", Level::error, "speculation without draft weights",
      "The method needs a draft head or model, and the checkpoint has none: the engine refuses to start.",
      "Name a draft checkpoint in --speculative-config, take a checkpoint that keeps its MTP layers, or leave speculation out.",
      "vllm/config/speculative.py"},
    FindingPage{"KVF013", Level::error, "draft head kept the old width",
      "The checkpoint's trunk has fewer experts than its draft head: a carve that left the draft alone. The configuration states one count, so the draft fails to load.",
      "Carve both (kvfit carve run --mtp carve), or serve without speculation.",
      "vllm/model_executor/models/qwen3_5_mtp.py (num_experts of the one configuration)"},
    FindingPage{"KVF014", Level::error, "longer than the model",
      "max_model_len is above what the model's configuration allows: the engine refuses to start.",
      "Lower --max-model-len; or, where the model supports it, --hf-overrides, or VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
      "vllm/config/model.py (_get_and_verify_max_len)"},
    FindingPage{"KVF015", Level::warning, "configuration key without effect",
      "Up to 0.25 the engine's reader of --config files leaves out every `key: false`: what is on by default stays on.",
      "Write `no-KEY: true`.", "vllm-project/vllm#51401, PR#51573"},
    FindingPage{"KVF016", Level::error, "unknown flag",
      "No release of the engine known to kvfit has this flag, and the engine does not start with a flag it does not know. A warning only where kvfit cannot tell: the release is newer than the parsers that were read, or the image is another build than the released one, which may have flags of its own.",
      "See the suggestion; flags of a fork or a plugin can be allowed in kvfit.yaml.",
      "profiles/flags/vllm.yaml"},
    FindingPage{"KVF017", Level::error, "configuration file never read",
      "`--config=FILE` passes the parser, but the engine looks for --config as a word of its own: nothing in the file takes effect.",
      "Write `--config FILE`.", "vllm/utils/argparse_utils.py (parse_args)"},
    FindingPage{"KVF018", Level::warning, "null becomes the text \"None\"",
      "A key without a value in a --config file is handed over as the text \"None\". An error where the flag takes no such word: the engine refuses to start.",
      "Remove the key.", "vllm/utils/argparse_utils.py (load_config_file)"},
    FindingPage{"KVF019", Level::error, "GPUs asked for and needed differ",
      "tensor x pipeline x data parallel size is what the engine needs; the platform is asked for another number.",
      "Make the two agree.", "vllm/config/parallel.py"},
    FindingPage{"KVF020", Level::error, "flag of another release",
      "The release of this deployment does not know the flag (yet, or any more) and refuses to start. A warning only where nobody states the release, or it cannot be read.",
      "Write what took its place, or another release.", "profiles/flags/vllm.yaml"},
    FindingPage{"KVF021", Level::note, "flag stands twice", "The last one holds; the engine only warns.", "Remove one of them.",
      "vllm/utils/argparse_utils.py"},
    FindingPage{"KVF022", Level::warning, "value not known here",
      "A value holds a variable that nothing at hand sets, or what a command prints when it runs, so it is not known. Where the plan depends on it there is no answer (KVF000).",
      "Set it (.env, Environment=, the script), or check the file as it is rendered.", ""},
    FindingPage{"KVF023", Level::note, "image without a release",
      "The image's tag names no release of the engine (latest, nightly, a date), so kvfit's default release is assumed.",
      "Pin the image, or say --engine-version.", ""},
    FindingPage{"KVF024", Level::note, "effect on memory not computed",
      "The flag changes memory in a way that kvfit does not compute: the answer leaves it out.",
      "Hold the answer against a boot: kvfit calibrate.", "profiles/flags/vllm.yaml (unpriced)"},
    FindingPage{"KVF025", Level::note, "format runs as a fallback",
      "The GPU has no native kernels for the format: weights are computed weight-only or emulated. It saves memory, not time.",
      "Nothing, or another checkpoint.", "profiles/gates/vllm.yaml"},
    FindingPage{"KVF026", Level::note, "utilisation has no say",
      "kv-cache-memory-bytes is stated, so the engine ignores gpu-memory-utilization for the cache.",
      "Keep one of the two.", "vllm/config/cache.py (kv_cache_memory_bytes)"},
    FindingPage{"KVF027", Level::warning, "configuration file not usable",
      "The file behind --config is not at hand, or not named .yaml or .yml (the engine refuses it: an error): its values are not part of the answer.",
      "Run kvfit where the file is, or put the values on the command line.", "vllm/utils/argparse_utils.py"},
    FindingPage{"KVF028", Level::error, "word that the engine refuses",
      "A word belongs to no flag, a switch got a value, or a short name stands as a key: argparse ends the start.",
      "See the hint.", "vllm/utils/argparse_utils.py"},
    FindingPage{"KVF029", Level::note, "--model is deprecated",
      "`vllm serve` wants the model as its first word. Images and the Python module take --model as ever.",
      "vllm serve MODEL ...", "vllm/utils/argparse_utils.py"},
    FindingPage{"KVF030", Level::error, "headroom below --margin",
      "It fits, but with less room than the policy asks for.", "Leave more room, or lower the margin.", ""},
    FindingPage{"KVF031", Level::warning, "suppression has run out",
      "An entry of kvfit.yaml is past its `until`, so the finding counts again.", "Mend the finding, or renew the entry.", ""},
    FindingPage{"KVF032", Level::note, "suppression matches nothing",
      "An entry of kvfit.yaml matches no finding, though this run read every file that it speaks of.", "Remove it.", ""},
    FindingPage{"KVF033", Level::note, "command line and deployment disagree",
      "A flag of kvfit, or kvfit.yaml, names another GPU, model or release than the deployment itself. The flag holds; what kvfit.yaml says holds only where the deployment is silent.",
      "Leave the flag out to check the deployment as it stands, or mend the deployment.", ""},
    FindingPage{"KVF034", Level::warning, "headers and config disagree",
      "The checkpoint's safetensors headers lack tensors that its config implies, or hold others: a download that broke off, a "
      "config of another checkpoint, or a layout that kvfit does not know. The headers were priced.",
      "kvfit models inspect DIRECTORY shows all of them.", ""},
};
// clang-format on

std::string paragraph(std::string_view head, std::string_view text, int width) {
  if (text.empty()) return "";
  return profiles::format("{:<9}{}\n", head, wrap(text, width, 9));
}

}  // namespace

std::span<const FindingPage> finding_pages() { return kPages; }

const FindingPage* find_page(std::string_view id) {
  const auto same = [id](const FindingPage& page) {
    return std::equal(page.id.begin(), page.id.end(), id.begin(), id.end(),
                      [](char a, char b) { return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b))); });
  };
  const auto* const found = std::find_if(kPages.begin(), kPages.end(), same);
  return found == kPages.end() ? nullptr : found;
}

std::string page_text(const FindingPage& page, int width) {
  return profiles::format("{} ({}): {}\n", page.id, level_name(page.level), page.title) +
         paragraph("  what", page.about, width) + paragraph("  mend", page.remedy, width) +
         paragraph("  source", page.source, width);
}

}  // namespace kvfit::cli
