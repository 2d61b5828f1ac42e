// kvfit explain [KEY...]
#include <algorithm>
#include <string>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/check_case.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/finding_catalog.h"
#include "cli/listing.h"
#include "cli/make_report.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

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

// KVF001 ... without a plan: what the finding means.
Listing pages(const std::vector<std::string>& ids) {
  Listing out{.schema = "kvfit.findings", .value = Json::array()};
  for (const std::string& id : ids) {
    const FindingPage* page = find_page(id);
    if (page == nullptr) {
      std::vector<std::string> known;
      for (const FindingPage& one : finding_pages()) known.emplace_back(one.id);
      profiles::fail_input(profiles::format("no finding has the id '{}'", id), {}, profiles::did_you_mean(id, known));
    }
    out.value.push_back({{"id", page->id},
                         {"level", level_name(page->level)},
                         {"title", page->title},
                         {"about", page->about},
                         {"remedy", page->remedy}});
  }
  out.body = [ids](const Screen& screen) {
    std::string text;
    for (const std::string& id : ids) {
      text += (text.empty() ? "" : "\n") + page_text(*find_page(id), screen.width > 0 ? screen.width : 100);
    }
    return text;
  };
  return out;
}

bool is_id(const std::string& word) { return word.starts_with("KVF") || word.starts_with("kvf"); }

}  // namespace

int explain_command(const Args& args, const Console& console) {
  const bool ids = !args.words.empty() && std::all_of(args.words.begin(), args.words.end(), is_id);
  if (ids && !args.has("gpu")) {
    deliver(args, console, pages(args.words));
    return kYes;
  }
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const std::vector<Explanation> all = explanations(make_report(args, catalog, process_environment()));
  const std::vector<std::string>& keys = args.words;
  const auto found = [&all](const std::string& key) {
    return std::any_of(all.begin(), all.end(), [&key](const Explanation& one) { return one.key == key; });
  };
  const bool general = ids && std::none_of(keys.begin(), keys.end(), found);  // this plan has no such finding
  deliver(args, console, keys.empty() ? index(all) : general ? pages(keys) : details(all, keys));
  return kYes;
}

}  // namespace kvfit::cli
