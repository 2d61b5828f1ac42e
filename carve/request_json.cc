#include "carve/request_json.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::Json;
using profiles::Node;

Json ids_json(const ExpertIds& ids) {
  if (ids.by_block.empty()) return ids.everywhere;
  return ids.by_block;
}

std::set<std::int32_t> read_list(const Node& list) {
  std::set<std::int32_t> out;
  for (const Node& id : list.list()) out.insert(static_cast<std::int32_t>(id.integer(0, 65'535)));
  return out;
}

}  // namespace

std::string_view draft_name(DraftMode mode) {
  switch (mode) {
    case DraftMode::carve:
      return "carve";
    case DraftMode::drop:
      return "drop";
    case DraftMode::keep:
      return "keep";
  }
  return "";
}

DraftMode parse_draft(std::string_view name) {
  for (const DraftMode mode : {DraftMode::carve, DraftMode::drop, DraftMode::keep}) {
    if (draft_name(mode) == name) return mode;
  }
  profiles::fail_input(profiles::format("unknown word '{}' for the draft head", name), {}, "known: carve, drop, keep");
}

ExpertIds read_ids(const Node& node) {
  ExpertIds out;
  if (node.is_map()) {
    for (const auto& [block, list] : node.members()) out.by_block[block] = read_list(list);
  } else {
    out.everywhere = read_list(node);
  }
  return out;
}

Json to_json(const Request& request) {
  return Json{{"keep", request.keep},
              {"score", score_name(request.score)},
              {"combined_with", request.second ? score_name(*request.second) : ""},
              {"seed", request.seed},
              {"score_file", request.score_file},
              {"fill", request.fill},
              {"mtp", draft_name(request.draft)},
              {"canonical_pad", request.padding == Padding::canonical},
              {"reshard", request.reshard},
              {"protect", ids_json(request.protect)},
              {"drop", ids_json(request.drop)},
              {"hash_remap", request.remap_tables},
              {"tr3_drop_manifest", request.drop_tr3_manifest},
              {"allow_unknown", request.allow_unknown},
              {"ignore_dangling", request.ignore_dangling},
              {"include_orphans", request.include_orphans},
              {"force_count", request.force_count},
              {"keep_patterns", request.keep_patterns}};
}

Request read_request(const Node& node, std::string source) {
  profiles::Fields fields(node);
  Request out;
  out.source = std::move(source);
  out.keep = fields.at("keep").integer(1, 65'536);
  out.score = parse_score(fields.string("score", "kirigami"));
  const std::string second = fields.string("combined_with", "");
  if (!second.empty()) out.second = parse_score(second);
  out.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  out.score_file = fields.string("score_file", "");
  out.fill = fields.boolean("fill", false);
  out.draft = parse_draft(fields.string("mtp", "carve"));
  out.padding = fields.boolean("canonical_pad", false) ? Padding::canonical : Padding::shareable;
  out.reshard = fields.integer("reshard", 0);
  if (const Node* const ids = fields.find("protect")) out.protect = read_ids(*ids);
  if (const Node* const ids = fields.find("drop")) out.drop = read_ids(*ids);
  out.remap_tables = fields.boolean("hash_remap", false);
  out.drop_tr3_manifest = fields.boolean("tr3_drop_manifest", false);
  out.allow_unknown = fields.string("allow_unknown", "");
  out.ignore_dangling = fields.boolean("ignore_dangling", false);
  out.include_orphans = fields.boolean("include_orphans", false);
  out.force_count = fields.boolean("force_count", false);
  out.keep_patterns = fields.boolean("keep_patterns", false);
  fields.finish();
  return out;
}

}  // namespace kvfit::carve
