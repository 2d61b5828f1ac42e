// Families with multi-head latent attention: DeepSeek, Kimi, GLM-5, GLM-4.7-Flash.
//
// Source: transformers, src/transformers/models/deepseek_v3/modeling_deepseek_v3.py;
// vllm/model_executor/models/deepseek_v2.py and deepseek_mtp.py (names of the indexer and of the draft layer).
#include <span>
#include <string_view>

#include "models/naming.h"
#include "models/naming_common.h"

namespace kvfit::models {
namespace {

constexpr std::string_view kDeepseekTypes[] = {"deepseek_v2", "mistral4", "deepseek_v3", "deepseek_v32",
                                               "kimi_k2",     "kimi_k25", "glm_moe_dsa", "glm4_moe_lite"};

constexpr Naming kNamings[] = {
    {.model_types = kDeepseekTypes,
     .root = kRoot,
     .norms = kNorms,
     .mla = kLatentAttention,
     .dense = kMlp,
     .moe = kDeepseekMoe,
     .draft = kDeepseekDraft},
};

}  // namespace

std::span<const Naming> latent_namings() { return kNamings; }

}  // namespace kvfit::models
