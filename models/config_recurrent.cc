// The state of a layer that does not attend. Shapes as the engine keeps them: vllm
// model_executor/layers/mamba/mamba_utils.py.
#include <cstdint>
#include <string>

#include "models/config.h"
#include "models/config_parts.h"
#include "models/layer.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

std::int64_t hidden_size(const Config& config) { return config.need({"hidden_size", "d_model"}, kWidth); }

void read_delta_net(const Config& config, Recurrent& out) {
  out.k_heads = config.need({"linear_num_key_heads"}, kHeads);
  out.v_heads = config.need({"linear_num_value_heads"}, kHeads);
  out.k_dim = config.need({"linear_key_head_dim"}, kWidth);
  out.v_dim = config.need({"linear_value_head_dim"}, kWidth);
  out.conv_kernel = config.need({"linear_conv_kernel_dim"}, {1, 64});
}

void read_kimi_delta(const Config& config, Recurrent& out) {
  out.k_heads = config.need({"linear_attn_config.num_heads"}, kHeads);
  out.v_heads = out.k_heads;
  out.k_dim = config.need({"linear_attn_config.head_dim"}, kWidth);
  out.v_dim = out.k_dim;
  out.conv_kernel = config.need({"linear_attn_config.short_conv_kernel_size"}, {1, 64});
}

void read_mamba1(const Config& config, Recurrent& out) {
  out.k_dim = config.need({"mamba_d_state", "state_size"}, kWidth);
  out.inner = hidden_size(config) * config.need({"mamba_expand", "expand"}, {1, 64});
  // Falcon-Mamba states 16 and is 2 wide: its library takes the width itself.
  if (config.family().has(kOnlyRecurrent)) out.inner = config.get({"intermediate_size", "d_inner"}, out.inner, kWidth);
  out.conv_kernel = config.need({"mamba_d_conv", "conv_kernel"}, {1, 64});
  out.dt_rank = (hidden_size(config) + 15) / 16;
  const Node* rank = config.find({"mamba_dt_rank", "time_step_rank"});
  if (rank && rank->is_number()) out.dt_rank = rank->integer(1, kWidth.hi);
  out.conv_bias = config.flag({"mamba_conv_bias", "use_conv_bias"}, true);
  out.proj_bias = config.flag({"mamba_proj_bias", "use_bias"}, false);
}

void read_mamba2(const Config& config, Recurrent& out) {
  // Where attention stands beside it, the plain words are attention's.
  const bool alone = config.family().has(kOnlyRecurrent);
  out.v_heads = alone ? config.need({"num_heads"}, kHeads) : config.need({"mamba_n_heads", "mamba_num_heads"}, kHeads);
  const Node* head = alone ? config.find({"head_dim"}) : config.find({"mamba_d_head", "mamba_head_dim"});
  const std::int64_t expanded = hidden_size(config) * config.get({"mamba_expand", "expand"}, 2, {1, 64});
  const std::int64_t head_dim = head && head->is_number() ? head->integer(1, kWidth.hi) : expanded / out.v_heads;
  out.v_dim = head_dim;
  out.inner = config.get({"mamba_d_ssm"}, out.v_heads * head_dim, kWidth);
  out.k_heads = config.get({"mamba_n_groups", "n_groups"}, 1, kHeads);
  out.k_dim = config.need({"mamba_d_state", "ssm_state_size", "state_size"}, kWidth);
  out.conv_kernel = config.need({"mamba_d_conv", "conv_kernel"}, {1, 64});
  out.chunk = config.get({"mamba_chunk_size", "chunk_size"}, 256, {1, 1 << 16});
  out.conv_bias = config.flag({"mamba_conv_bias", "use_conv_bias"}, true);
  out.proj_bias = config.flag({"mamba_proj_bias", "use_bias"}, false);
}

void read_lightning(const Config& config, Recurrent& out) {
  out.k_heads = config.need({"num_attention_heads"}, kHeads);
  out.v_heads = out.k_heads;
  out.k_dim = config.get({"head_dim"}, hidden_size(config) / out.k_heads, kWidth);
  out.v_dim = out.k_dim;
}

void read_short_conv(const Config& config, Recurrent& out) {
  out.inner = hidden_size(config);
  out.conv_kernel = config.need({"conv_L_cache"}, {1, 64});
  out.conv_bias = config.flag({"conv_bias"}, false);
  out.proj_bias = out.conv_bias;
}

}  // namespace

Recurrent read_recurrent(const Config& config) {
  Recurrent out;
  out.kind = config.family().recurrent;
  switch (out.kind) {
    case Recurrent::Kind::gated_delta_net:
      read_delta_net(config, out);
      break;
    case Recurrent::Kind::kimi_delta:
      read_kimi_delta(config, out);
      break;
    case Recurrent::Kind::mamba1:
      read_mamba1(config, out);
      break;
    case Recurrent::Kind::mamba2:
      read_mamba2(config, out);
      break;
    case Recurrent::Kind::lightning:
      read_lightning(config, out);
      break;
    case Recurrent::Kind::short_conv:
      read_short_conv(config, out);
      break;
  }
  if (const Node* dtype = config.find({"mamba_ssm_dtype", "mamba_ssm_cache_dtype"})) {
    out.state_dtype = profiles::dtype_from_torch(dtype->string());
    if (!out.state_dtype) dtype->fail(format("unknown dtype '{}'", dtype->string()), "for example: float32, bfloat16");
  }
  return out;
}

}  // namespace kvfit::models
