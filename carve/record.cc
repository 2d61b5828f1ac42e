#include "carve/record.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/digest.h"
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
  out["cut_gap"] = choice.cut_gap;
  out["near_tie"] = choice.near_tie;
  out["factor_spread"] = Json{{"router", choice.router_spread}, {"weight", choice.weight_spread}};
  out["rank_correlation"] = Json{{"router-norm", choice.router_correlation}, {"random", choice.random_correlation}};
  return out;
}

}  // namespace

std::string digest_of(const Checkpoint& checkpoint, const Request& request, std::string_view version) {
  Sha256 sum;
  sum.add(version);
  sum.add(format("|{}|{}|{}|{}|{}|{}|", request.keep, score_name(request.score), request.seed, request.fill,
                 static_cast<int>(request.draft), static_cast<int>(request.padding)));
  sum.add(format("{}|{}|{}|{}|", profiles::join(request.protect, ","), profiles::join(request.drop, ","),
                 request.allow_unknown, request.force_count));
  sum.add(format("{}|{}|{}|", request.ignore_dangling, request.include_orphans, request.keep_patterns));
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

Record read_record(const Node& node, const Layout& layout) {
  Record out;
  out.request_digest = node.at("request_sha256").string();
  const std::vector<Node>& blocks = node.at("blocks").list();
  if (blocks.size() != layout.blocks.size()) node.fail("it records other blocks than the checkpoint has");
  out.blocks = Json::array();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].at("prefix").string() != layout.blocks[b].prefix) blocks[b].fail("it records another block");
    std::vector<std::int32_t>& kept = out.kept.emplace_back();
    for (const Node& id : blocks[b].at("kept").list()) {
      const std::int32_t last = kept.empty() ? -1 : kept.back();
      kept.push_back(static_cast<std::int32_t>(id.integer(last + 1, layout.experts - 1)));
    }
    if (kept.empty() || kept.size() != out.kept.front().size()) blocks[b].fail("it keeps another number of experts");
    std::vector<double>& scores = out.scores.emplace_back();
    for (const Node& score : blocks[b].at("scores").list()) scores.push_back(score.number());
    Choice choice;
    choice.kept = kept;
    choice.cut_gap = blocks[b].at("cut_gap").number();
    choice.near_tie = blocks[b].at("near_tie").boolean();
    choice.router_spread = blocks[b].at("factor_spread").at("router").number();
    choice.weight_spread = blocks[b].at("factor_spread").at("weight").number();
    choice.router_correlation = blocks[b].at("rank_correlation").at("router-norm").number();
    choice.random_correlation = blocks[b].at("rank_correlation").at("random").number();
    const BlockScore score{.values = scores, .router = {}, .weight = {}, .basis = blocks[b].at("basis").string()};
    out.blocks.push_back(block_json(layout.blocks[b], score, choice));
  }
  out.basis = blocks.front().at("basis").string();
  return out;
}

}  // namespace kvfit::carve
