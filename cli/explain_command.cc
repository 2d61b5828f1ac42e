// kvfit explain [KEY...]
#include <string>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/listing.h"
#include "cli/make_report.h"
#include "profiles/json.h"

namespace kvfit::cli {
namespace {

using profiles::Json;

Json item_json(const Explanation& item) {
  Json out = {{"key", item.key}, {"value", item.value}, {"meaning", printable(item.meaning)}};
  if (!item.formula.empty()) out["formula"] = item.formula;
  out["worked"] = Json::array();
  for (const std::string& line : item.worked) out["worked"].push_back(printable(line));
  if (!item.provenance.empty()) out["provenance"] = item.provenance;
  if (!item.source.empty()) out["source"] = printable(item.source);
  return out;
}

Listing index(const std::vector<Explanation>& all) {
  Listing out{.schema = "kvfit.explanations", .value = Json::array()};
  out.table.indent = 0;
  out.table.columns = {{"key"}, {"value"}, {"is", Align::left, true}};
  for (const Explanation& item : all) {
    out.table.rows.push_back({{item.key}, {printable(item.value)}, {printable(item.meaning), Tone::dim}});
    out.value.push_back(item_json(item));
  }
  out.footing = "\nkvfit explain KEY... says formula, numbers and source; kv means all of kv.*\n";
  return out;
}

Listing details(const std::vector<Explanation>& all, const std::vector<std::string>& keys) {
  std::vector<Explanation> chosen;
  for (const std::string& key : keys) {
    for (const Explanation& item : select(all, key)) chosen.push_back(item);
  }
  Listing out{.schema = "kvfit.explanations", .value = Json::array()};
  for (const Explanation& item : chosen) out.value.push_back(item_json(item));
  out.body = [chosen](const Screen& screen) {
    std::string text;
    for (const Explanation& item : chosen) text += (text.empty() ? "" : "\n") + explanation_text(item, screen);
    return text;
  };
  return out;
}

}  // namespace

int explain_command(const Args& args, const Console& console) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const std::vector<Explanation> all = explanations(make_report(args, catalog, process_environment()));
  const std::vector<std::string>& keys = args.words;
  deliver(args, console, keys.empty() ? index(all) : details(all, keys));
  return kYes;
}

}  // namespace kvfit::cli
