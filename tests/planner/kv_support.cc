#include "tests/planner/kv_support.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "profiles/catalog.h"

namespace kvfit::planner::test {

using models::Attention;
using models::Layer;
using models::Model;
using models::Recurrent;

Rules vllm_rules(const std::string& version) {
  const profiles::Catalog catalog;
  return Rules(catalog.load(catalog.resolve("engines", "vllm")), parse_version(version));
}

std::vector<std::vector<std::string>> table(const std::string& name) {
  std::ifstream file(std::string(KVFIT_TEST_DATA) + "/" + name);
  std::vector<std::vector<std::string>> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string>& cells = out.emplace_back();
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  }
  if (out.empty()) throw std::runtime_error("no rows in " + name);
  return out;
}

Attention full(std::int64_t kv_heads, std::int64_t head_dim) {
  Attention out;
  out.kv_heads = kv_heads;
  out.head_dim = out.head_dim_v = head_dim;
  return out;
}

Attention sliding(std::int64_t kv_heads, std::int64_t head_dim, std::int64_t window) {
  Attention out = full(kv_heads, head_dim);
  out.kind = Attention::Kind::sliding;
  out.window = window;
  return out;
}

Attention latent(std::int64_t kv_lora, std::int64_t rope) {
  Attention out;
  out.kind = Attention::Kind::mla;
  out.kv_lora_rank = kv_lora;
  out.qk_rope_head_dim = rope;
  return out;
}

namespace {

Layer with(const Attention& attention) {
  Layer out;
  out.attention = attention;
  return out;
}

Layer gated_delta_net(std::int64_t v_heads) {
  Recurrent state;
  state.k_heads = 16;
  state.v_heads = v_heads;
  state.k_dim = state.v_dim = 128;
  state.conv_kernel = 4;
  state.state_dtype = profiles::DType::f32;
  Layer out;
  out.recurrent = state;
  return out;
}

// Three gated delta nets, then one full attention layer; one full attention layer to draft with.
Model qwen_hybrid(int layers, std::int64_t kv_heads, std::int64_t v_heads) {
  Model out;
  for (int i = 0; i < layers; ++i) out.layers.push_back(i % 4 == 3 ? with(full(kv_heads, 256)) : gated_delta_net(v_heads));
  out.draft = models::Draft{"mtp", "mtp.", {with(full(kv_heads, 256))}, false, false};
  return out;
}

// `every` layers: the last of them sees everything, the others a window.
Model windows(int layers, int every, const Attention& near, const Attention& far) {
  Model out;
  for (int i = 0; i < layers; ++i) out.layers.push_back(with(i % every == every - 1 ? far : near));
  return out;
}

Model alike(int layers, const Attention& attention) {
  Model out;
  out.layers.assign(static_cast<std::size_t>(layers), with(attention));
  return out;
}

// Sparse latent attention; `indexed` says which layers keep index keys.
template <typename Test>
Model sparse(int layers, Test indexed) {
  Model out = alike(layers, latent(512, 64));
  for (int i = 0; i < layers; ++i) {
    out.layers[static_cast<std::size_t>(i)].attention->indexer = models::Indexer{32, 128, 2048, indexed(i)};
  }
  return out;
}

}  // namespace

Model model(std::string_view name) {
  if (name == "35B-A3B") return qwen_hybrid(40, 2, 32);
  if (name == "27B") return qwen_hybrid(64, 4, 48);
  if (name == "qwen3-30b") return alike(48, full(4, 128));
  if (name == "gpt-oss-20b") return windows(24, 2, sliding(8, 64, 128), full(8, 64));
  if (name == "gpt-oss-120b") return windows(36, 2, sliding(8, 64, 128), full(8, 64));
  if (name == "deepseek-v3") return alike(61, latent(512, 64));
  if (name == "glm-4.5-air") return alike(46, full(8, 128));
  if (name == "glm-5") return sparse(78, [](int) { return true; });
  // index_topk_freq 4, offset 3: layers 0, 1, 2 and every fourth from there, 21 of 78
  if (name == "glm-5.2") return sparse(78, [](int i) { return i < 3 || (i - 2) % 4 == 0; });
  if (name == "gemma-3-27b") return windows(62, 6, sliding(16, 128, 1024), full(16, 128));
  if (name == "gemma-4-31b") return windows(60, 6, sliding(16, 256, 1024), full(4, 512));
  if (name == "gemma-4-26b") return windows(30, 6, sliding(8, 256, 1024), full(2, 512));
  if (name == "gemma-4-12b") return windows(48, 6, sliding(8, 256, 1024), full(1, 512));
  if (name == "minimax-m2.5") return alike(62, full(8, 128));
  throw std::runtime_error("no model " + std::string(name));
}

std::vector<KvLayout> layouts(const Model& model, const Deployment& asked) {
  Settings settings;
  settings.tp = asked.tp;
  settings.pp = asked.pp;
  settings.dcp = asked.dcp;
  settings.kv_cache_dtype = asked.kv_cache_dtype == "fp8" ? "fp8_e4m3" : asked.kv_cache_dtype;
  settings.mamba_mode = asked.mode;
  settings.block_size = asked.block_size;
  settings.speculative_tokens = asked.drafted;
  for (const Layer& layer : model.layers) {
    if (layer.recurrent && layer.recurrent->state_dtype) settings.state_dtype = *layer.recurrent->state_dtype;
  }
  const Speculative speculative{"mtp", asked.drafted, nullptr, nullptr};
  return kv_layouts(model, &speculative, settings, vllm_rules(asked.version), {});
}

}  // namespace kvfit::planner::test
