#include "planner/hybrid_block.h"

#include <algorithm>
#include <numeric>

#include "profiles/units.h"

namespace kvfit::planner {
namespace {

using profiles::cdiv;
using profiles::checked_mul;

std::int64_t chunk_of(const models::Model& model) {
  for (const models::Layer& layer : model.layers) {
    if (layer.recurrent && layer.recurrent->chunk > 0) return layer.recurrent->chunk;
  }
  return 1;
}

bool holds_tokens(const KvSpec& spec) { return spec.kind != KvKind::state && spec.kind != KvKind::ring; }

}  // namespace

HybridBlock hybrid_block(std::int64_t unit, std::int64_t token_bytes, std::int64_t state_page) {
  HybridBlock out;
  out.unit = unit;
  out.token_bytes = token_bytes;
  out.state_page = state_page;
  out.block_size = checked_mul(unit, cdiv(state_page, checked_mul(unit, token_bytes)));
  out.page = checked_mul(out.block_size, token_bytes);
  out.padding_percent = 100.0 * static_cast<double>(out.page - state_page) / static_cast<double>(state_page);
  return out;
}

HybridBlock align_hybrid(std::vector<KvSpec>& specs, const models::Model& model, const Settings& settings,
                         const Rules& rules, const Traits& traits) {
  std::int64_t state = 0;
  for (const KvSpec& spec : specs) state = std::max(state, spec.state_bytes);
  // The first cache of the trunk decides, as the engine asks the model's configuration and not its layers.
  const auto decides = std::find_if(specs.begin(), specs.end(), holds_tokens);
  if (state == 0 || decides == specs.end()) return {};
  std::int64_t unit = std::max(rules.pick("hybrid_unit", traits).count("tokens"), settings.block_size);
  if (settings.mamba_mode == MambaMode::all) unit = std::lcm(unit, chunk_of(model));
  const HybridBlock out = hybrid_block(unit, decides->token_bytes, state);
  for (KvSpec& spec : specs) {
    if (holds_tokens(spec)) {
      spec.block_size = out.block_size;
    } else if (spec.kind == KvKind::state) {
      spec.padded_page = out.page;
      if (spec.grows) spec.block_size = out.block_size;
    }
  }
  return out;
}

}  // namespace kvfit::planner
