#include "planner/traits.h"

#include <algorithm>
#include <array>
#include <string>

#include "hardware/node.h"
#include "models/model.h"
#include "models/quantization.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using models::Layer;
using models::Model;
using models::Recurrent;

constexpr TraitKind kWord = TraitKind::word;
constexpr TraitKind kNumber = TraitKind::number;
constexpr std::array kTraits{
    TraitName{"architecture", kWord, "architectures[0] of the config"},
    TraitName{"async", kWord, "yes: the scheduler works one step ahead"},
    TraitName{"backend", kWord, "attention backend, e.g. FLASH_ATTN"},
    TraitName{"capability", kNumber, "compute capability times ten, e.g. 120"},
    TraitName{"chunked", kWord, "yes: some layers attend within chunks (Llama-4)"},
    TraitName{"compressed", kWord, "yes: some layers keep compressed entries (DeepSeek-V4)"},
    TraitName{"compute_dtype", kWord, "bfloat16, float16 or float32"},
    TraitName{"dcp", kNumber, "decode context parallel size"},
    TraitName{"dp", kNumber, "data parallel size"},
    TraitName{"draft", kWord, "yes: the drafter is a checkpoint of its own"},
    TraitName{"eager", kWord, "yes: no CUDA graphs"},
    TraitName{"ep", kNumber, "ranks that share the experts, 1 = tensor-sharded"},
    TraitName{"expert_format", kWord, "format_name of the routed experts, none when dense"},
    TraitName{"experts", kNumber, "routed experts of a layer"},
    TraitName{"family", kWord, "model_type of the text model"},
    TraitName{"format", kWord, "format_name of most linear weights"},
    TraitName{"hidden", kNumber, "hidden size"},
    TraitName{"hybrid", kWord, "yes: some layers carry a recurrent state"},
    TraitName{"kv_cache_dtype", kWord, "as resolved, e.g. fp8_e4m3"},
    TraitName{"layers", kNumber, "layers of the trunk"},
    TraitName{"link", kWord, "none, pcie, nvlink or network between the GPUs of a tensor-parallel group"},
    TraitName{"lora", kWord, "yes: --enable-lora"},
    TraitName{"max_model_len", kNumber, "tokens"},
    TraitName{"max_num_batched_tokens", kNumber, "tokens"},
    TraitName{"max_num_seqs", kNumber, "sequences"},
    TraitName{"memory_gib", kNumber, "GiB that CUDA reports for one GPU"},
    TraitName{"method", kWord, "quant_method of the checkpoint, none when plain"},
    TraitName{"mla", kWord, "yes: multi-head latent attention"},
    TraitName{"moe", kWord, "yes: some layers have routed experts"},
    TraitName{"platform", kWord, "cuda, rocm or xpu"},
    TraitName{"pp", kNumber, "pipeline parallel size"},
    TraitName{"prefix_caching", kWord, "yes or no, as resolved"},
    TraitName{"recurrent", kWord,
              "kind of the recurrent layers: gated_delta_net, kimi_delta, mamba1, mamba2, lightning, short_conv, none"},
    TraitName{"runner", kWord, "v1 or v2 model runner"},
    TraitName{"sliding", kWord, "yes: some layers have a sliding window"},
    TraitName{"sleep", kWord, "yes: --enable-sleep-mode"},
    TraitName{"sparse", kWord, "yes: a sparse indexer beside latent attention"},
    TraitName{"speculative", kWord, "method of --speculative-config, none without"},
    TraitName{"speculative_tokens", kNumber, "drafted tokens a step"},
    TraitName{"stated_kv_cache_dtype", kWord, "--kv-cache-dtype as given"},
    TraitName{"stated_quantization", kWord, "--quantization as given, none without"},
    TraitName{"symptom", kWord, "what a boot log shows against its plan (kvfit calibrate), none while planning"},
    TraitName{"system", kWord, "linux_native or wsl2"},
    TraitName{"top_k", kNumber, "experts the router picks"},
    TraitName{"tp", kNumber, "tensor parallel size"},
    TraitName{"unified", kWord, "yes: CPU and GPU share one memory"},
    TraitName{"vision", kWord, "yes: a vision tower is loaded"},
    TraitName{"vocab", kNumber, "vocabulary size"},
};

std::string yes(bool value) { return value ? "yes" : "no"; }

std::string recurrent_word(const Model& model) {
  for (const Layer& layer : model.layers) {
    if (!layer.recurrent) continue;
    switch (layer.recurrent->kind) {
      case Recurrent::Kind::gated_delta_net:
        return "gated_delta_net";
      case Recurrent::Kind::kimi_delta:
        return "kimi_delta";
      case Recurrent::Kind::mamba1:
        return "mamba1";
      case Recurrent::Kind::mamba2:
        return "mamba2";
      case Recurrent::Kind::lightning:
        return "lightning";
      case Recurrent::Kind::short_conv:
        return "short_conv";
    }
  }
  return "none";
}

std::string link_word(hardware::Link link) {
  switch (link) {
    case hardware::Link::none:
      return "none";
    case hardware::Link::pcie:
      return "pcie";
    case hardware::Link::nvlink:
      return "nvlink";
    case hardware::Link::network:
      return "network";
  }
  return "none";
}

template <typename Test>
std::string any_attention(const Model& model, Test test) {
  return yes(std::any_of(model.layers.begin(), model.layers.end(),
                         [&](const Layer& layer) { return layer.attention && test(*layer.attention); }));
}

// How the routed experts, and most of the linear weights, are stored: that of the last layer, which no recipe exempts.
void add_formats(Traits& traits, const Model& model) {
  std::string experts = "none";
  std::string dense = "none";
  for (std::size_t i = model.layers.size(); i-- > 0 && dense == "none" && experts == "none";) {
    const std::string at = profiles::format("{}layers.{}.", model.name_prefix, i);
    const auto name = [&](const char* module) {
      return models::format_name(models::format_of(model.quantization, at + module, model.dtype));
    };
    if (model.layers[i].moe) experts = name("mlp.experts.0.down_proj");
    if (model.layers[i].dense) dense = name("mlp.down_proj");
  }
  traits["expert_format"] = experts;
  traits["format"] = experts == "none" ? dense : experts;
}

void add_model(Traits& traits, const Model& model) {
  add_formats(traits, model);
  traits["architecture"] = model.architecture;
  traits["family"] = model.family;
  traits["vocab"] = static_cast<double>(model.vocab);
  traits["layers"] = static_cast<double>(model.layers.size());
  traits["hidden"] = static_cast<double>(model.hidden);
  traits["method"] = model.quantization.method.empty() ? "none" : model.quantization.method;
  traits["mla"] = any_attention(model, [](const Attention& a) { return a.kind == Attention::Kind::mla; });
  traits["symptom"] = "none";
  traits["sparse"] = any_attention(model, [](const Attention& a) { return a.indexer.has_value(); });
  traits["sliding"] = any_attention(model, [](const Attention& a) { return a.kind == Attention::Kind::sliding; });
  traits["chunked"] = any_attention(model, [](const Attention& a) { return a.kind == Attention::Kind::chunked; });
  traits["compressed"] = any_attention(model, [](const Attention& a) { return a.compress_ratio > 0; });
  traits["recurrent"] = recurrent_word(model);
  traits["hybrid"] = yes(recurrent_word(model) != "none");
  const auto moe = std::find_if(model.layers.begin(), model.layers.end(), [](const Layer& l) { return l.moe.has_value(); });
  traits["moe"] = yes(moe != model.layers.end());
  traits["experts"] = moe == model.layers.end() ? 0.0 : static_cast<double>(moe->moe->experts);
  traits["top_k"] = moe == model.layers.end() ? 0.0 : static_cast<double>(moe->moe->top_k);
}

}  // namespace

std::span<const TraitName> trait_names() { return kTraits; }

Traits stated_traits(const Question& question) {
  Traits traits;
  const hardware::Node& node = question.node;
  const Serving& serving = question.serving;
  add_model(traits, question.model);
  traits["platform"] = node.gpu.platform;
  traits["capability"] = static_cast<double>(node.gpu.capability.number());
  traits["memory_gib"] = profiles::to_gib(hardware::total_memory(node).likely);
  traits["link"] = link_word(node.link);
  traits["system"] = node.system == hardware::System::wsl2 ? "wsl2" : "linux_native";
  traits["unified"] = yes(node.gpu.unified);
  traits["tp"] = static_cast<double>(serving.tensor_parallel_size);
  traits["pp"] = static_cast<double>(serving.pipeline_parallel_size);
  traits["dp"] = static_cast<double>(serving.data_parallel_size);
  traits["dcp"] = static_cast<double>(serving.decode_context_parallel_size);
  traits["lora"] = yes(serving.enable_lora);
  traits["sleep"] = yes(serving.enable_sleep_mode);
  traits["eager"] = yes(serving.enforce_eager.value_or(false));
  traits["speculative"] = serving.speculative ? serving.speculative->method : "none";
  traits["speculative_tokens"] = serving.speculative ? static_cast<double>(serving.speculative->tokens) : 0.0;
  traits["draft"] = yes(serving.speculative && serving.speculative->draft != nullptr);
  traits["stated_kv_cache_dtype"] = serving.kv_cache_dtype;
  traits["stated_quantization"] = serving.quantization.empty() ? "none" : serving.quantization;
  return traits;
}

void add_settings(Traits& traits, const Settings& settings) {
  traits["runner"] = settings.runner == Runner::v2 ? "v2" : "v1";
  traits["prefix_caching"] = yes(settings.prefix_caching);
  traits["kv_cache_dtype"] = settings.kv_cache_dtype;
  traits["backend"] = settings.attention_backend;
  traits["compute_dtype"] = std::string(profiles::torch_name(settings.dtype));
  traits["async"] = yes(settings.async_scheduling);
  traits["eager"] = yes(settings.eager);
  traits["vision"] = yes(settings.vision);
  traits["ep"] = static_cast<double>(settings.expert_parallel);
  traits["max_model_len"] = static_cast<double>(settings.max_model_len);
  traits["max_num_seqs"] = static_cast<double>(settings.max_num_seqs);
  traits["max_num_batched_tokens"] = static_cast<double>(settings.max_num_batched_tokens);
}

}  // namespace kvfit::planner
