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

std::set<std::int32_t> read_ids(const Node* list) {
  std::set<std::int32_t> out;
  if (list) {
    for (const Node& id : list->list()) out.insert(static_cast<std::int32_t>(id.integer(0, 65'535)));
  }
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

Json to_json(const Request& request) {
  return Json{{"keep", request.keep},
              {"score", score_name(request.score)},
              {"seed", request.seed},
              {"score_file", request.score_file},
              {"fill", request.fill},
              {"mtp", draft_name(request.draft)},
              {"canonical_pad", request.padding == Padding::canonical},
              {"protect", request.protect},
              {"drop", request.drop},
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
  out.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  out.score_file = fields.string("score_file", "");
  out.fill = fields.boolean("fill", false);
  out.draft = parse_draft(fields.string("mtp", "carve"));
  out.padding = fields.boolean("canonical_pad", false) ? Padding::canonical : Padding::shareable;
  out.protect = read_ids(fields.find("protect"));
  out.drop = read_ids(fields.find("drop"));
  out.allow_unknown = fields.string("allow_unknown", "");
  out.ignore_dangling = fields.boolean("ignore_dangling", false);
  out.include_orphans = fields.boolean("include_orphans", false);
  out.force_count = fields.boolean("force_count", false);
  out.keep_patterns = fields.boolean("keep_patterns", false);
  fields.finish();
  return out;
}

}  // namespace kvfit::carve
