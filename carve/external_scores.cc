#include "carve/external_scores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/imatrix.h"
#include "models/file_bytes.h"
#include "models/quantization.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::fail_input;
using profiles::format;
using profiles::Node;

constexpr std::string_view kOwnFormat = "kvfit.expert_scores/1";
using ByBlock = std::map<std::size_t, std::vector<double>>;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 8 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The block a key names: its prefix in any spelling, "model.layers.3.mlp", or the number of a trunk layer.
std::optional<std::size_t> block_named(const Layout& layout, std::string_view key) {
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Block& block = layout.blocks[b];
    if (is_number(key)) {
      if (!block.draft && block.layer == std::stoi(std::string(key))) return b;
    } else if (models::short_name(key) == models::short_name(block.prefix)) {
      return b;
    }
  }
  return std::nullopt;
}

std::vector<double> numbers(const Node& list, std::int64_t experts, bool higher_is_better) {
  std::vector<double> out;
  for (const Node& each : list.list()) out.push_back(higher_is_better ? each.number() : -each.number());
  if (static_cast<std::int64_t>(out.size()) != experts) list.fail(format("{} scores for {} experts", out.size(), experts));
  return out;
}

// 1 for those listed and 0 for the rest, or the other way round.
std::vector<double> members(const Node& list, std::int64_t experts, bool listed_stay) {
  std::vector<double> out(static_cast<std::size_t>(experts), listed_stay ? 0.0 : 1.0);
  for (const Node& each : list.list()) out[static_cast<std::size_t>(each.integer(0, experts - 1))] = listed_stay ? 1.0 : 0.0;
  return out;
}

ByBlock read_json(const Layout& layout, const Node& root, std::string& basis) {
  ByBlock out;
  const auto put = [&](const std::string& key, const Node& value, std::vector<double> scores) {
    const std::optional<std::size_t> block = block_named(layout, key);
    if (!block)
      value.fail(format("'{}' is no block of this checkpoint", key),
                 format("blocks are named as '{}'", layout.blocks.front().prefix));
    out[*block] = std::move(scores);
  };
  if (const Node* const stated = root.find("format")) {
    if (stated->string() != kOwnFormat)
      stated->fail("not a format of scores that kvfit knows", format("expected {}", kOwnFormat));
    const Node* const higher = root.find("higher_is_better");
    const bool higher_is_better = !higher || higher->boolean();
    basis = "scores of a file";
    for (const auto& [key, value] : root.at("layers").members())
      put(key, value, numbers(value, layout.experts, higher_is_better));
    return out;
  }
  const bool by_number = !root.members().empty() && is_number(root.members().front().first);
  basis = by_number ? "dropped experts of a file" : "kept experts of a file";
  for (const auto& [key, value] : root.members()) put(key, value, members(value, layout.experts, !by_number));
  return out;
}

bool begins_with(const std::string& path, std::string_view magic) {
  const models::FileBytes file(path);
  if (file.size() < static_cast<std::int64_t>(magic.size())) return false;
  std::vector<char> head(magic.size());
  file.read(head, 0);
  return std::equal(head.begin(), head.end(), magic.begin());
}

ByBlock read_imatrix(const Layout& layout, const std::string& path) {
  ByBlock out;
  for (auto& [layer, scores] : imatrix_scores(path, layout.experts)) {
    const std::optional<std::size_t> block = block_named(layout, std::to_string(layer));
    if (block) out[*block] = std::move(scores);
  }
  return out;
}

}  // namespace

ScoreReport external_scores(const Source& source, const Layout& layout, const std::string& path, const ScoreOptions* fill) {
  ScoreReport out;
  std::string basis = "counts x energy^1/2 of an imatrix";
  ByBlock blocks;
  if (begins_with(path, "GGUF")) {
    blocks = read_imatrix(layout, path);
  } else if (begins_with(path, "PK") || begins_with(path, "\x80")) {
    fail_input("a pickle can run code and is not read", {.file = path},
               "load it with torch and write JSON: {\"format\": \"kvfit.expert_scores/1\", \"layers\": {\"0\": [...]}}");
  } else {
    blocks = read_json(layout, profiles::parse_json(profiles::read_text_file(path), path), basis);
  }
  if (blocks.size() < layout.blocks.size()) {
    for (std::size_t b = 0; b < layout.blocks.size() && !fill; ++b) {
      if (blocks.contains(b)) continue;
      fail_input(format("the file has no scores for '{}'", layout.blocks[b].prefix), {.file = path},
                 "--fill scores such blocks by --score");
    }
    out = score_experts(source, layout, *fill);
  }
  out.blocks.resize(layout.blocks.size());
  for (auto& [block, scores] : blocks) {
    if (!std::all_of(scores.begin(), scores.end(), [](double v) { return std::isfinite(v); })) {
      fail_input(format("a score of '{}' is not a finite number", layout.blocks[block].prefix), {.file = path});
    }
    out.blocks[block] = {.values = std::move(scores), .router = {}, .weight = {}, .basis = basis};
  }
  return out;
}

}  // namespace kvfit::carve
