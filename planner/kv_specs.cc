#include "planner/kv_specs.h"

#include <algorithm>
#include <cstddef>

#include "planner/rank.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using models::Indexer;
using models::Layer;
using models::Model;
using models::Recurrent;
using profiles::cdiv;
using profiles::checked_mul;
using profiles::DType;
using profiles::format;
using profiles::round_up;

// A state in another format than the model's: `kv_cache_dtype` of a row is matched against what was resolved.
Traits with_kv_dtype(const Traits& traits, const Settings& settings) {
  Traits out = traits;
  out["kv_cache_dtype"] = settings.kv_cache_dtype;
  return out;
}

// `elements` of `bits` each, a scale of `scale_bytes` for every `group` of them.
std::int64_t packed_bytes(std::int64_t elements, std::int64_t bits, std::int64_t group, std::int64_t scale_bytes) {
  const std::int64_t scales = group > 0 ? cdiv(elements, group) * scale_bytes : 0;
  return cdiv(checked_mul(elements, bits), 8) + scales;
}

std::int64_t latent_bytes(const Attention& attention, const Rules& rules, const Traits& traits) {
  const Row& row = rules.pick("kv_latent", traits);
  return packed_bytes(attention.kv_lora_rank, row.count("latent_bits"), row.count("scale_group"), row.count("scale_bytes")) +
         packed_bytes(attention.qk_rope_head_dim, row.count("rope_bits"), 0, 0);
}

std::int64_t head_bytes(const Attention& attention, const Rules& rules, const Traits& traits) {
  const Row& row = rules.pick("kv_dtype", traits);
  const std::int64_t group = row.count("scale_group");
  const std::int64_t v_dim = attention.head_dim_v > 0 ? attention.head_dim_v : attention.head_dim;
  const std::int64_t k = packed_bytes(attention.head_dim, row.count("k_bits"), group, 1) + row.count("k_extra");
  const std::int64_t v = packed_bytes(v_dim, row.count("v_bits"), group, 1) + row.count("v_extra");
  return round_up(k + v, row.count("round_to"));
}

// `traits` name the KV dtype that `settings` do.
std::int64_t layer_bytes(const Attention& attention, const Settings& settings, const Rules& rules, const Traits& traits) {
  if (attention.kind == Attention::Kind::mla) return latent_bytes(attention, rules, traits);
  const std::int64_t heads = std::max<std::int64_t>(1, attention.kv_heads / settings.tp);
  return checked_mul(heads, head_bytes(attention, rules, traits));
}

// Builds the list; knows the settings and rules that every layer needs.
struct Builder {
  const Settings& settings;
  const Rules& rules;
  Traits traits;
  std::vector<KvSpec> out;

  void attention(const Attention& attention, const KvSpec& place, bool own_indexer, bool plain) {
    if (attention.kv_from_layer >= 0) return;
    if (attention.compress_ratio > 0 || compressed()) return compressed_layer(attention, place);
    KvSpec spec = place;
    spec.block_size = settings.block_size;
    spec.token_bytes =
        plain ? entry_bytes(attention, unquantised(), rules, traits) : layer_bytes(attention, settings, rules, traits);
    switch (attention.kind) {
      case Attention::Kind::full:
        break;
      case Attention::Kind::sliding:
      case Attention::Kind::chunked:
        spec.kind = attention.kind == Attention::Kind::sliding ? KvKind::sliding : KvKind::chunked;
        spec.window = attention.window;
        break;
      case Attention::Kind::mla:
        spec.kind = KvKind::mla;
        break;
    }
    out.push_back(spec);
    if (attention.indexer && (own_indexer || attention.indexer->owns_cache)) index_keys(*attention.indexer, place);
  }

  Settings unquantised() const {
    Settings own = settings;
    own.kv_cache_dtype = settings.dtype == DType::f32 ? "f32" : "bf16";
    return own;
  }

  // Some formats leave the first and last layers of a model in its own type.
  bool skipped(std::size_t layer, std::size_t layers) const {
    const Row* row = rules.find("kv_plain_layers", traits);
    if (row == nullptr) return false;
    return layer < static_cast<std::size_t>(row->count("first")) ||
           layer + static_cast<std::size_t>(row->count("last")) >= layers;
  }

  // Index keys share the block table of their layer; where several tokens are pooled into one key, the newest raw ones wait
  // in a ring of one page.
  void index_keys(const Indexer& indexer, const KvSpec& place) {
    const Row& row = rules.pick("kv_indexer", traits);
    KvSpec spec = place;
    spec.kind = KvKind::mla;
    spec.block_size = settings.block_size;
    spec.compress = indexer.pool;
    spec.token_bytes = indexer.kv_heads *
                       packed_bytes(indexer.head_dim, row.count("bits"), row.count("scale_group"), row.count("scale_bytes"));
    spec.layer += " indexer";
    out.push_back(spec);
    if (indexer.pool <= 1) return;
    KvSpec ring = place;
    ring.kind = KvKind::ring;
    ring.block_size = 0;
    ring.fixed_pages = 1;
    ring.layer += " indexer ring";
    out.push_back(ring);
  }

  bool compressed() const {
    const auto found = traits.find("compressed");
    return found != traits.end() && std::get<std::string>(found->second) == "yes";
  }

  // DeepSeek-V4: every layer keeps a window of entries; where entries are compressed, also those, the compressor's state,
  // and the same again for the indexer.
  void compressed_layer(const Attention& attention, const KvSpec& place) {
    const Row& row = rules.pick("kv_compressed", traits);
    KvSpec window = place;
    window.kind = KvKind::sliding_mla;
    window.block_size = row.count("window_block");
    window.token_bytes = row.count("entry_bytes");
    window.align = row.count("page_align");
    window.window = attention.window;
    if (attention.compress_ratio == 0) {
      out.push_back(window);
      return;
    }
    entries(row, row.count("entry_bytes"), attention, place, "");
    if (attention.indexer) {
      const Row& index = rules.pick("kv_indexer", traits);
      const std::int64_t bytes = packed_bytes(attention.indexer->head_dim, index.count("bits"), index.count("scale_group"),
                                              index.count("scale_bytes"));
      entries(row, bytes, attention, place, " indexer");
    }
    out.push_back(window);
    compressor_state(attention.head_dim, attention, place, "");
    if (attention.indexer) compressor_state(attention.indexer->head_dim, attention, place, " indexer");
  }

  void entries(const Row& row, std::int64_t bytes, const Attention& attention, const KvSpec& place, std::string_view what) {
    KvSpec spec = place;
    spec.kind = KvKind::mla;
    spec.block_size = row.count("block");
    spec.token_bytes = bytes;
    spec.compress = attention.compress_ratio;
    spec.align = row.count("page_align");
    spec.layer += what;
    out.push_back(spec);
  }

  // Scores and values in float32 for each of `overlap` windows of `ratio` tokens.
  void compressor_state(std::int64_t head_dim, const Attention& attention, const KvSpec& place, std::string_view what) {
    for (const Row& row : rules.all("kv_compressor")) {
      if (row.count("ratio") != attention.compress_ratio) continue;
      KvSpec spec = place;
      spec.kind = KvKind::sliding_mla;
      spec.block_size = row.count("block");
      spec.token_bytes = checked_mul(head_dim, std::int64_t{8} * row.count("overlap"));
      spec.align = rules.pick("kv_compressed", traits).count("page_align");
      spec.window = row.count("overlap") * row.count("ratio");
      spec.layer += format("{} compressor", what);
      out.push_back(spec);
      return;
    }
    profiles::fail_input(format("no rule of table kv_compressor for {} tokens an entry", attention.compress_ratio));
  }

  void state(const Recurrent& recurrent, const KvSpec& place) {
    KvSpec spec = place;
    spec.kind = KvKind::state;
    spec.block_size = 0;
    spec.state_bytes = state_bytes(recurrent, settings, rules, traits);
    const Row& row = rules.pick("state_pages", traits);
    const std::int64_t drafted = settings.speculative_tokens;
    switch (settings.mamba_mode) {
      case MambaMode::none:
        spec.fixed_pages = 1 + drafted;
        break;
      case MambaMode::align:
        spec.fixed_pages = 2 + drafted;
        break;
      case MambaMode::all:
        spec.fixed_pages = row.is("all_drafts", "yes") ? drafted : 0;
        spec.grows = true;
        break;
    }
    out.push_back(spec);
  }

  // Small states beside the layers' own (an n-gram embedding's convolution) are kept in pages of the same size.
  void extra_states() {
    const Row* row = rules.find("kv_extra_state", traits);
    const auto like = std::find_if(out.begin(), out.end(), [](const KvSpec& spec) { return spec.kind == KvKind::state; });
    if (row == nullptr || like == out.end()) return;
    KvSpec extra = *like;
    extra.layer = row->word("what");
    out.insert(out.end(), static_cast<std::size_t>(row->count("states")), extra);
  }

  // `stages` holds one number a layer.
  void layers(const std::vector<Layer>& list, std::string_view name, const std::vector<int>& stages, bool own_indexer) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      KvSpec place;
      place.stage = stages[i];
      place.layer = format("{} {}", name, i);
      if (list[i].attention) attention(*list[i].attention, place, own_indexer, skipped(i, list.size()));
      if (list[i].recurrent) state(*list[i].recurrent, place);
    }
  }
};

// The stage of each trunk layer.
std::vector<int> stages_of(const Model& model, std::int64_t stages) {
  std::vector<int> out;
  int stage = 0;
  for (const std::int64_t size : layers_per_stage(static_cast<std::int64_t>(model.layers.size()), stages)) {
    out.insert(out.end(), static_cast<std::size_t>(size), stage++);
  }
  return out;
}

}  // namespace

std::string_view kv_kind_name(KvKind kind) {
  switch (kind) {
    case KvKind::full:
      return "full";
    case KvKind::sliding:
      return "sliding";
    case KvKind::chunked:
      return "chunked";
    case KvKind::mla:
      return "latent";
    case KvKind::sliding_mla:
      return "latent window";
    case KvKind::state:
      return "state";
    case KvKind::ring:
      return "ring";
  }
  return "";
}

std::int64_t KvSpec::page() const {
  const bool fixed = kind == KvKind::state || kind == KvKind::ring;
  const std::int64_t raw = fixed ? state_bytes : round_up(checked_mul(cdiv(block_size, compress), token_bytes), align);
  return std::max(raw, padded_page);
}

bool same_cache(const KvSpec& a, const KvSpec& b) {
  return a.kind == b.kind && a.block_size == b.block_size && a.token_bytes == b.token_bytes && a.compress == b.compress &&
         a.state_bytes == b.state_bytes && a.align == b.align && a.padded_page == b.padded_page && a.window == b.window &&
         a.fixed_pages == b.fixed_pages && a.grows == b.grows;
}

std::int64_t entry_bytes(const Attention& attention, const Settings& settings, const Rules& rules, const Traits& traits) {
  return layer_bytes(attention, settings, rules, with_kv_dtype(traits, settings));
}

std::int64_t state_bytes(const Recurrent& r, const Settings& settings, const Rules& rules, const Traits& traits) {
  const std::int64_t tp = settings.tp;
  const std::int64_t conv_element = profiles::bits(settings.dtype) / 8;
  const Row* forced = rules.find("state_dtype", traits);
  const DType state_type = forced != nullptr
                               ? profiles::dtype_from_torch(forced->word("dtype")).value_or(settings.state_dtype)
                               : settings.state_dtype;
  const std::int64_t element = profiles::bits(state_type) / 8;
  const std::int64_t rows = r.conv_kernel - 1 + settings.speculative_tokens;
  switch (r.kind) {
    case Recurrent::Kind::gated_delta_net:
    case Recurrent::Kind::kimi_delta:
      return (2 * r.k_heads * r.k_dim + r.v_heads * r.v_dim) / tp * rows * conv_element +
             r.v_heads / tp * r.v_dim * r.k_dim * element;
    case Recurrent::Kind::mamba1:
      return r.inner / tp * (rows * conv_element + r.k_dim * element);
    case Recurrent::Kind::mamba2: {
      const std::int64_t groups = r.k_heads % tp == 0 ? r.k_heads : tp;  // padded so that every rank has whole groups
      return (r.inner + 2 * groups * r.k_dim) / tp * rows * conv_element + r.v_heads / tp * r.v_dim * r.k_dim * element;
    }
    case Recurrent::Kind::lightning:
      return r.v_heads / tp * r.v_dim * r.k_dim * element;
    case Recurrent::Kind::short_conv:
      return r.inner / tp * rows * conv_element;
  }
  return 0;
}

std::vector<KvSpec> kv_specs(const Model& model, const Speculative* speculative, const Settings& settings,
                             const Rules& rules, const Traits& traits) {
  Builder builder{settings, rules, with_kv_dtype(traits, settings), {}};
  const Row& indexer = rules.pick("kv_indexer", builder.traits);
  builder.layers(model.layers, "layer", stages_of(model, settings.pp), indexer.is("every_layer", "yes"));
  builder.extra_states();
  if (speculative == nullptr || speculative->tokens == 0) return builder.out;
  const std::vector<Layer>* draft = nullptr;
  if (speculative->draft != nullptr) {
    draft = &speculative->draft->layers;
  } else if (model.draft && rules.pick("speculative", builder.traits).is("draft_layers", "yes")) {
    draft = &model.draft->layers;
  }
  if (draft == nullptr) return builder.out;
  const std::vector<int> last(draft->size(), static_cast<int>(settings.pp - 1));
  builder.layers(*draft, "draft layer", last, true);
  return builder.out;
}

}  // namespace kvfit::planner
