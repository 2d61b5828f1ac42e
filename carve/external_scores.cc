#include "carve/external_scores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "carve/imatrix.h"
#include "models/file_bytes.h"
#include "models/header_scanner.h"
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
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
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
    const std::optional<std::size_t> block = find_block(layout, key);
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

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

template <class Number>
Number number_in(std::string_view text, const profiles::Where& where) {
  Number out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_input(format("'{}' is no number", models::printable(text)), where);
  }
  return out;
}

std::size_t column(const std::vector<std::string_view>& names, std::string_view name, const std::string& path) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail_input(format("the table has no column '{}'", name), {.file = path, .line = 1});
  return static_cast<std::size_t>(found - names.begin());
}

// calib_free_scores.csv: a row for each layer and expert; what scores high is removed first.
ByBlock read_csv(const Layout& layout, std::string_view text, const std::string& path) {
  ByBlock out;
  std::map<std::size_t, std::vector<bool>> seen;
  std::vector<std::string_view> names;
  std::size_t layer = 0;
  std::size_t expert = 0;
  std::size_t score = 0;
  profiles::Where where{.file = path};
  for (std::string_view line : split(text, '\n')) {
    ++where.line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (where.line == 1) {
      names = cells;
      layer = column(names, "layer", path);
      expert = column(names, "expert_id", path);
      score = column(names, "calib_free_score", path);
      continue;
    }
    if (cells.size() != names.size()) fail_input(format("{} cells under {} columns", cells.size(), names.size()), where);
    const std::optional<std::size_t> block = find_block(layout, cells[layer]);
    if (!block) fail_input(format("'{}' is no block of this checkpoint", models::printable(cells[layer])), where);
    const std::int64_t id = number_in<std::int64_t>(cells[expert], where);
    if (id < 0 || id >= layout.experts) fail_input(format("expert {} is not of 0 to {}", id, layout.experts - 1), where);
    std::vector<double>& scores = out[*block];
    std::vector<bool>& there = seen[*block];
    scores.resize(static_cast<std::size_t>(layout.experts));
    there.resize(scores.size());
    if (there[static_cast<std::size_t>(id)]) fail_input(format("expert {} of this layer appears twice", id), where);
    there[static_cast<std::size_t>(id)] = true;
    scores[static_cast<std::size_t>(id)] = -number_in<double>(cells[score], where);
  }
  for (const auto& [block, there] : seen) {
    const auto missing = std::find(there.begin(), there.end(), false);
    if (missing == there.end()) continue;
    fail_input(format("'{}' has no score for expert {}", layout.blocks[block].prefix, missing - there.begin()),
               {.file = path});
  }
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
    const std::optional<std::size_t> block = find_block(layout, std::to_string(layer));
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
  } else if (begins_with(path, "layer,")) {
    blocks = read_csv(layout, profiles::read_text_file(path), path);
    basis = "scores of a table";
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
