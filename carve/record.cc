#include "carve/record.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/digest.h"
#include "carve/request_json.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::format;
using profiles::Json;
using profiles::Node;

Json block_json(const Block& block, const BlockScore& score, const Choice& choice) {
  Json out;
  out["prefix"] = block.prefix;
  out["draft"] = block.draft;
  out["basis"] = score.basis;
  out["kept"] = choice.kept;
  out["scores"] = score.values;
  out["cut_gap_rel"] = choice.cut_gap;
  out["near_tie"] = choice.near_tie;
  out["factor_cv"] = Json{{"router", choice.router_spread}, {"scale", choice.weight_spread}};
  out["rank_correlation"] = Json{{"router-norm", choice.router_correlation}, {"random", choice.random_correlation}};
  return out;
}

}  // namespace

std::string digest_of(const Checkpoint& checkpoint, const Request& request, std::string_view version) {
  Sha256 sum;
  sum.add(version);
  Json asked = to_json(request);
  asked.erase("score_file");  // its content counts, not its place
  sum.add(asked.dump());
  if (!request.score_file.empty()) sum.add(sha256_of_file(request.score_file));
  for (const Shard& shard : checkpoint.source.shards) {
    sum.add(format("{}|{}|{}|{}|", shard.name, shard.identity.bytes, shard.identity.modified_ns, shard.header_sha256));
  }
  sum.add(checkpoint.source.config);
  return sum.hex();
}

Record make_record(const Checkpoint& checkpoint, const Selection& selection, std::string digest) {
  Record out;
  out.request_digest = std::move(digest);
  out.kept = selection.kept();
  out.blocks = Json::array();
  for (std::size_t b = 0; b < selection.choices.size(); ++b) {
    out.scores.push_back(selection.scores.blocks[b].values);
    out.blocks.push_back(block_json(checkpoint.layout.blocks[b], selection.scores.blocks[b], selection.choices[b]));
  }
  out.basis = selection.scores.blocks.front().basis;
  return out;
}

Json to_json(const Record& record) {
  return Json{{"format", "kvfit.carve_record/1"}, {"request_sha256", record.request_digest}, {"blocks", record.blocks}};
}

Json blocks_json(const Node& blocks) {
  Json out = Json::array();
  for (const Node& node : blocks.list()) {
    Block block;
    block.prefix = node.at("prefix").string();
    block.draft = node.at("draft").boolean();
    Choice choice;
    for (const Node& id : node.at("kept").list()) choice.kept.push_back(static_cast<std::int32_t>(id.integer(0, 65'535)));
    choice.cut_gap = node.at("cut_gap_rel").number();
    choice.near_tie = node.at("near_tie").boolean();
    choice.router_spread = node.at("factor_cv").at("router").number();
    choice.weight_spread = node.at("factor_cv").at("scale").number();
    choice.router_correlation = node.at("rank_correlation").at("router-norm").number();
    choice.random_correlation = node.at("rank_correlation").at("random").number();
    BlockScore score;
    score.basis = node.at("basis").string();
    for (const Node& value : node.at("scores").list()) score.values.push_back(value.number());
    out.push_back(block_json(block, score, choice));
  }
  return out;
}

Record read_record(const Node& node, const Layout& layout) {
  Record out;
  out.request_digest = node.at("request_sha256").string();
  out.blocks = blocks_json(node.at("blocks"));
  if (out.blocks.size() != layout.blocks.size()) node.fail("it records other blocks than the checkpoint has");
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Node& place = node.at("blocks").list()[b];
    if (out.blocks[b]["prefix"].get<std::string>() != layout.blocks[b].prefix) place.fail("it records another block");
    out.kept.push_back(out.blocks[b]["kept"].get<std::vector<std::int32_t>>());
    out.scores.push_back(out.blocks[b]["scores"].get<std::vector<double>>());
    const std::vector<std::int32_t>& kept = out.kept.back();
    const bool ascending = std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()) == kept.end();
    if (kept.empty() || !ascending || kept.back() >= layout.experts || kept.size() != out.kept.front().size()) {
      place.fail("its kept experts are no ascending list of the common length");
    }
  }
  out.basis = out.blocks.front()["basis"].get<std::string>();
  return out;
}

}  // namespace kvfit::carve
