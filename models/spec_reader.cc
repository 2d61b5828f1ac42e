#include "models/spec_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/config.h"
#include "models/family.h"
#include "models/model.h"
#include "models/quantization_reader.h"
#include "models/spec_layers.h"
#include "profiles/document.h"
#include "profiles/dtype.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::DType;
using profiles::Fields;
using profiles::format;
using profiles::Node;

DType read_dtype(const Node& node) {
  const std::optional<DType> dtype = profiles::dtype_from_torch(node.string());
  if (!dtype) node.fail(format("unknown dtype '{}'", node.string()), "for example: bfloat16, float16, float32");
  return *dtype;
}

const Family& read_family(const Node& node) {
  if (const Family* family = find_family(node.string())) return *family;
  const std::string near = profiles::did_you_mean(node.string(), known_families());
  node.fail(format("unknown family '{}'", node.string()),
            format("{}the family says what the tensors are called; take the one the model is built like, for example llama "
                   "(dense), qwen3_moe (experts), deepseek_v3 (latent attention), qwen3_5_moe_text (delta net)",
                   near.empty() ? "" : near + " "));
}

Rope read_rope(const Node& node, DType dtype) {
  Fields fields(node);
  Rope out;
  out.rows = spec_need(fields, "rows", kPositions);
  out.dim = spec_need(fields, "dim", kWidth);
  const Node* own = fields.find("dtype");
  out.dtype = own ? read_dtype(*own) : dtype;
  fields.finish();
  return out;
}

Draft read_draft(const Node& node) {
  Fields fields(node);
  Draft out;
  out.method = fields.string("method", "mtp");
  out.prefix = fields.string("prefix", "mtp.");
  out.layers = read_spec_layers(fields.at("layers"));
  out.own_embedding = fields.boolean("own_embedding", false);
  out.own_head = fields.boolean("own_head", false);
  fields.finish();
  return out;
}

Vision read_vision(const Node& node) {
  Fields fields(node);
  Vision out;
  out.kind = fields.string("kind", "other");
  out.parameters = spec_need(fields, "parameters", {1, std::int64_t{1} << 40});
  out.max_item_tokens = spec_get(fields, "max_item_tokens", 0, kPositionsOrNone);
  out.layers = spec_get(fields, "layers", 0, kSmall);
  out.hidden = spec_get(fields, "hidden", 0, kWidthOrNone);
  out.intermediate = spec_get(fields, "intermediate", 0, kWidthOrNone);
  out.heads = spec_get(fields, "heads", 0, {0, kHeads.hi});
  out.patch = spec_get(fields, "patch", 0, kSmall);
  out.merge = spec_get(fields, "merge", 1, {1, 64});
  out.out_hidden = spec_get(fields, "out_hidden", 0, kWidthOrNone);
  fields.finish();
  return out;
}

}  // namespace

Model read_spec(const Node& spec, std::string id) {
  Fields fields(spec);
  Model out;
  out.id = std::move(id);
  const Family& family = read_family(fields.at("family"));
  out.family = family.type;
  out.name_prefix = fields.string("name_prefix", std::string(family.prefix));
  out.dtype = read_dtype(fields.at("dtype"));
  out.hidden = spec_need(fields, "hidden", kWidth);
  out.vocab = spec_need(fields, "vocab", kVocab);
  out.max_position = spec_need(fields, "max_position", kPositions);
  out.tied_embeddings = fields.boolean("tied_embeddings", false);
  out.norm_bias = fields.boolean("norm_bias", family.has(kNormBias));
  out.head_bias = fields.boolean("head_bias", false);
  out.extra_parameters = spec_get(fields, "extra_parameters", 0, {0, std::int64_t{1} << 44});
  out.layers = read_spec_layers(fields.at("layers"));
  if (const Node* ropes = fields.find("ropes")) {
    for (const Node& rope : ropes->list()) out.ropes.push_back(read_rope(rope, out.dtype));
  }
  if (const Node* draft = fields.find("draft")) out.draft = read_draft(*draft);
  if (const Node* vision = fields.find("vision")) out.vision = read_vision(*vision);
  const Node* audio = fields.find("audio_parameters");
  if (audio) out.audio_parameters = audio->integer(1, std::int64_t{1} << 40);
  out.quantization = read_quantization(fields.find("quantization"), nullptr, spec, out.missing);
  fields.finish();
  return out;
}

}  // namespace kvfit::models
