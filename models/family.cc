#include "models/family.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/family_table.h"

namespace kvfit::models {
namespace {

// Wrappers and renamed copies: a config whose text model is described by another row.
struct Alias {
  std::string_view alias, type;
};
constexpr std::array kAliases = {
    Alias{"deepseek_ref", "deepseek_v4"},   Alias{"gemma3", "gemma3_text"},
    Alias{"gemma3n", "gemma3n_text"},       Alias{"gemma4", "gemma4_text"},
    Alias{"gemma4_unified", "gemma4_text"}, Alias{"gemma4_unified_text", "gemma4_text"},
    Alias{"glm4v", "glm4v_text"},           Alias{"glm4v_moe", "glm4v_moe_text"},
    Alias{"glm5_next", "glm5_next_text"},   Alias{"hunyuan_v1_moe", "hunyuan"},
    Alias{"kimi_k25", "kimi_k2"},           Alias{"kimi_k3", "kimi_linear"},
    Alias{"llama4", "llama4_text"},         Alias{"minimax", "minimax_m1"},
    Alias{"minimax_text_01", "minimax_m1"}, Alias{"mistral3", "mistral"},
    Alias{"qwen2_5_vl_text", "qwen2_5_vl"}, Alias{"qwen2_vl_text", "qwen2_vl"},
    Alias{"qwen3_5", "qwen3_5_text"},       Alias{"qwen3_5_moe", "qwen3_5_moe_text"},
    Alias{"qwen3_vl", "qwen3_vl_text"},     Alias{"qwen3_vl_moe", "qwen3_vl_moe_text"},
    Alias{"qwen4_exp", "qwen4_exp_text"},
};

}  // namespace

std::optional<Family::Fallback> Family::fallback(std::string_view key) const {
  for (std::size_t at = defaults.find(key); at != std::string_view::npos; at = defaults.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    if ((at != 0 && defaults[at - 1] != ' ') || end >= defaults.size()) continue;
    if (defaults[end] != '=' && defaults[end] != '~') continue;
    Fallback out{.value = 0, .doubtful = defaults[end] == '~'};
    const std::string_view text = defaults.substr(end + 1);
    if (std::from_chars(text.data(), text.data() + text.size(), out.value).ec == std::errc()) return out;
  }
  return std::nullopt;
}

const Family* find_family(std::string_view model_type) {
  for (const Alias& alias : kAliases) {
    if (alias.alias == model_type) return find_family(alias.type);
  }
  for (const Family& family : family_table()) {
    if (family.type == model_type) return &family;
  }
  return nullptr;
}

std::vector<std::string> known_families() {
  std::vector<std::string> out;
  for (const Alias& alias : kAliases) out.emplace_back(alias.alias);
  for (const Family& family : family_table()) out.emplace_back(family.type);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kvfit::models
