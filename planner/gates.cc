#include "planner/gates.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hardware/gate_rules.h"
#include "models/trellis.h"
#include "planner/trellis_gates.h"

namespace kvfit::planner {
namespace {

void note(const models::WeightFormat& format, std::vector<std::string>& out) {
  if (models::is_plain(format)) return;
  const std::string name = models::format_name(format);
  if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
}

// Settings spell plain types shortly, the rules as the engine's flag does.
std::string cache_dtype(const Question& question, const Settings& settings) {
  if (question.serving.kv_cache_dtype != "auto") return question.serving.kv_cache_dtype;
  if (settings.kv_cache_dtype == "bf16") return "bfloat16";
  return settings.kv_cache_dtype == "fp16" ? "float16" : settings.kv_cache_dtype;
}

}  // namespace

std::vector<std::string> weight_formats(const models::Quantization& quantization) {
  std::vector<std::string> out;
  note(quantization.base, out);
  for (const models::FormatRule& rule : quantization.rules) {
    if (!rule.exempt) note(rule.format, out);
  }
  return out;
}

std::vector<hardware::Gate> gates_of(const Question& question, const Settings& settings) {
  std::vector<hardware::Gate> out;
  if (!question.gates) return out;
  const std::vector<hardware::Gpu> group(1, question.node.gpu);
  const models::Quantization& quantization = question.model.quantization;
  for (const std::string& name : weight_formats(quantization)) {
    out.push_back(hardware::gate_weights(*question.gates, group, name, quantization.method, question.allow_fallback));
  }
  if (question.inventory) {
    for (hardware::Gate& gate : trellis_gates(question, models::trellis_layout(*question.inventory), traits_of(question))) {
      out.push_back(std::move(gate));
    }
  }
  bool latent = false;
  bool sparse = false;
  for (const models::Layer& layer : question.model.layers) {
    if (!layer.attention) continue;
    latent = latent || layer.attention->kind == models::Attention::Kind::mla;
    sparse = sparse || layer.attention->indexer.has_value();
  }
  out.push_back(hardware::gate_kv_cache(*question.gates, group, cache_dtype(question, settings), latent, sparse));
  return out;
}

}  // namespace kvfit::planner
