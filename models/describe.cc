#include "models/describe.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/layer.h"
#include "models/model.h"
#include "models/quantization.h"
#include "profiles/dtype.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;

void put(std::string& out, bool when, const std::string& text) {
  if (when) out += " " + text;
}

std::string describe_indexer(const Indexer& indexer) {
  std::string out = format("index {}x{} top {}", indexer.heads, indexer.head_dim, indexer.top_k);
  put(out, indexer.pool > 1, format("pool {}", indexer.pool));
  put(out, indexer.block_size > 0, format("blocks {}", indexer.block_size));
  put(out, !indexer.owns_cache, "shared");
  return out;
}

std::string describe_attention(const Attention& a) {
  static constexpr const char* kNames[] = {"full", "sliding", "chunked", "mla"};
  std::string out = kNames[static_cast<std::size_t>(a.kind)];
  if (a.kind == Attention::Kind::mla) {
    out += format(" {} q{} kv{}+{} nope{} v{}", a.heads, a.q_lora_rank, a.kv_lora_rank, a.qk_rope_head_dim,
                  a.qk_nope_head_dim, a.head_dim_v);
  } else {
    out += format(" {}/{}x{}", a.heads, a.kv_heads, a.head_dim);
    if (a.head_dim_v != a.head_dim) out += format(":{}", a.head_dim_v);
  }
  put(out, a.window > 0, format("window {}", a.window));
  put(out, a.compress_ratio > 0, format("ratio {}", a.compress_ratio));
  put(out, a.o_lora_rank > 0, format("o {}x{}", a.o_groups, a.o_lora_rank));
  put(out, a.output_gate, "gated");
  put(out, a.head_gate, "head-gated");
  put(out, a.qk_norm, a.qk_norm_wide ? "qknorm-wide" : "qknorm");
  put(out, a.qkv_bias, "qkv-bias");
  put(out, a.o_bias, "o-bias");
  put(out, a.sinks, "sinks");
  put(out, a.k_is_v, "k=v");
  put(out, a.kv_from_layer >= 0, format("cache-of {}", a.kv_from_layer));
  if (a.indexer) out += " " + describe_indexer(*a.indexer);
  return out;
}

std::string describe_recurrent(const Recurrent& r) {
  static constexpr const char* kNames[] = {"gdn", "kda", "mamba1", "mamba2", "lightning", "conv"};
  std::string out = kNames[static_cast<std::size_t>(r.kind)];
  put(out, r.k_heads + r.v_heads > 0, format("{}/{}x{}:{}", r.k_heads, r.v_heads, r.k_dim, r.v_dim));
  put(out, r.inner > 0, format("inner {}", r.inner));
  put(out, r.conv_kernel > 0, format("kernel {}", r.conv_kernel));
  put(out, r.dt_rank > 0, format("dt {}", r.dt_rank));
  put(out, r.chunk > 0, format("chunk {}", r.chunk));
  put(out, r.conv_bias, "conv-bias");
  put(out, r.proj_bias, "proj-bias");
  if (r.state_dtype) out += format(" state {}", profiles::torch_name(*r.state_dtype));
  return out;
}

std::string describe_moe(const Moe& m) {
  std::string out = format("moe {}/{}x{}", m.top_k, m.experts, m.intermediate);
  put(out, m.shared_intermediate > 0, format("shared {}{}", m.shared_intermediate, m.shared_gate ? " gated" : ""));
  put(out, m.groups > 1, format("groups {}/{}", m.top_groups, m.groups));
  put(out, m.latent > 0, format("latent {}", m.latent));
  put(out, !m.gated, "ungated");
  put(out, m.score_correction_bias, "correction");
  put(out, m.router_bias || m.expert_bias, "bias");
  put(out, m.fused_storage, "fused");
  return out;
}

// "(3A B)x10", "2A 24B": runs, and the shortest period when the whole repeats.
std::string sequence(const std::vector<std::size_t>& order) {
  std::size_t period = 1;
  for (; period < order.size(); ++period) {
    bool fits = order.size() % period == 0;
    for (std::size_t i = period; fits && i < order.size(); ++i) fits = order[i] == order[i - period];
    if (fits) break;
  }
  std::string runs;
  for (std::size_t start = 0; start < period;) {
    std::size_t end = start;
    while (end < period && order[end] == order[start]) ++end;
    const std::string name =
        order[start] < 26 ? std::string(1, static_cast<char>('A' + order[start])) : format("L{}", order[start]);
    runs += runs.empty() ? "" : " ";
    runs += end - start > 1 ? format("{}{}", end - start, name) : name;
    start = end;
  }
  const std::size_t times = order.empty() ? 0 : order.size() / period;
  if (times == 1) return runs;
  return period == 1 ? format("{}{}", times, runs) : format("({})x{}", runs, times);
}

std::string describe_layers(const std::vector<Layer>& layers) {
  std::vector<std::string> kinds;
  std::vector<std::size_t> order;
  std::string out;
  for (const Layer& layer : layers) {
    const std::string text = describe(layer);
    std::size_t at = 0;
    while (at < kinds.size() && kinds[at] != text) ++at;
    if (at == kinds.size()) {
      kinds.push_back(text);
      out += at < 26 ? format("{}=[{}] ", static_cast<char>('A' + at), text) : format("L{}=[{}] ", at, text);
    }
    order.push_back(at);
  }
  return out + sequence(order);
}

}  // namespace

std::string describe(const Layer& layer) {
  std::string out;
  if (layer.attention) out += describe_attention(*layer.attention);
  if (layer.recurrent) out += (out.empty() ? "" : " + ") + describe_recurrent(*layer.recurrent);
  if (layer.moe) out += (out.empty() ? "" : " ") + describe_moe(*layer.moe);
  if (layer.dense) {
    out += format("{}mlp {}", out.empty() ? "" : " ", layer.dense->intermediate);
    put(out, !layer.dense->gated, "ungated");
    put(out, layer.dense->bias, "mlp-bias");
  }
  out += format("{}norms {}", out.empty() ? "" : " ", layer.norms);
  put(out, layer.extra_parameters > 0, format("extra {}", layer.extra_parameters));
  return out;
}

std::string describe(const Quantization& quantization) {
  if (quantization.method.empty()) return "plain";
  std::string out =
      format("{} base {}", quantization.method, is_plain(quantization.base) ? "plain" : format_name(quantization.base));
  std::size_t exempt = 0;
  for (const FormatRule& rule : quantization.rules) {
    if (rule.exempt) {
      ++exempt;
    } else {
      out += format(" {}:{}", rule.pattern, format_name(rule.format));
    }
  }
  put(out, exempt > 0, format("exempt {}", exempt));
  put(out, !quantization.kv_cache.empty(), "kv " + quantization.kv_cache);
  return out;
}

std::string describe(const Model& model) {
  std::string out = format("{} hidden={} vocab={} {} positions={} {}", model.family, model.hidden, model.vocab,
                           model.tied_embeddings ? "tied" : "untied", model.max_position, profiles::torch_name(model.dtype));
  put(out, model.norm_bias, "norm-bias");
  put(out, model.head_bias, "head-bias");
  put(out, model.per_layer_input > 0, format("ple={}x{}", model.per_layer_vocab, model.per_layer_input));
  put(out, model.extra_parameters > 0, format("extra={}", model.extra_parameters));
  out += " | " + describe_layers(model.layers);
  for (const Rope& rope : model.ropes) {
    out += format(" | rope {}x{}{}", rope.rows, rope.dim, rope.dtype == model.dtype ? "" : " f32");
  }
  if (model.draft) {
    out += format(" | {} {} {}{}", model.draft->method, model.draft->prefix, describe_layers(model.draft->layers),
                  model.draft->own_head ? " own-ends" : "");
  }
  if (model.vision) {
    const Vision& v = *model.vision;
    out += format(" | vision {} {}x{}/{} to {} parameters {} tokens {}", v.kind, v.layers, v.hidden, v.intermediate,
                  v.out_hidden, v.parameters, v.max_item_tokens);
  }
  if (model.audio_parameters) out += format(" | audio parameters {}", *model.audio_parameters);
  out += " | " + describe(model.quantization);
  for (const std::string& note : model.missing) out += " | assumed: " + note;
  return out;
}

}  // namespace kvfit::models
