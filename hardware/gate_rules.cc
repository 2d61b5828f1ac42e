#include "hardware/gate_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::hardware {
namespace {

using profiles::Fields;
using profiles::format;

// The release part of a version: "v0.25.1rc2" -> {0, 25, 1}. Release candidates count as their release.
std::array<int, 3> release(std::string_view text) {
  std::array<int, 3> out{};
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  for (int& part : out) {
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), part);
    if (read.ec != std::errc()) break;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return out;
}

bool holds_for(const profiles::Node* since, const profiles::Node* until, std::string_view version) {
  if (version.empty()) return until == nullptr;
  return (!since || release(version) >= release(since->string())) && (!until || release(version) < release(until->string()));
}

// One of a few words, else an Error with the nearest.
const std::string& word(const profiles::Node& node, const std::vector<std::string>& known) {
  const std::string& found = node.string();
  if (std::find(known.begin(), known.end(), found) == known.end()) {
    std::string hint = profiles::did_you_mean(found, known);
    node.fail(format("unknown word '{}'", found), hint.empty() ? format("one of {}", profiles::join(known, ", ")) : hint);
  }
  return found;
}

std::vector<std::string> words(const profiles::Node* list, const std::vector<std::string>& known) {
  std::vector<std::string> out;
  if (!list) return out;
  for (const profiles::Node& item : list->list()) out.push_back(known.empty() ? item.string() : word(item, known));
  return out;
}

GateVerdict read_verdict(const profiles::Node& node) {
  const std::string& name = word(node, {"native", "fallback", "unknown", "refused"});
  for (const GateVerdict verdict : {GateVerdict::native, GateVerdict::fallback, GateVerdict::unknown}) {
    if (name == verdict_name(verdict)) return verdict;
  }
  return GateVerdict::refused;
}

void check(const profiles::Node& node, const GateRow& row) {
  if (row.from >= row.below) node.fail("no capability lies between `from` and `below`");
  if (row.source.empty()) node.fail("a rule without a source", "say where it was read in `source`");
  if (row.verdict != GateVerdict::native && row.reason.empty()) node.fail("a rule without a reason", "say why in `reason`");
  if (row.policy && row.verdict != GateVerdict::refused) node.fail("`policy` is for refusals");
  const bool runs = row.verdict == GateVerdict::native || row.verdict == GateVerdict::fallback || row.policy;
  if (runs && row.how.empty()) node.fail("a rule that runs without saying how", "name the kernel in `how`");
}

GateRow read_row(const profiles::Node& node, std::string_view formats_key, std::string_view version, bool& holds) {
  Fields fields(node);
  GateRow out;
  out.id = fields.at("id").string();
  out.formats = words(fields.find(formats_key), {});
  if (formats_key == "formats") {
    out.quantisers = words(fields.find("quantisers"), {});
    if (const profiles::Node* group = fields.find("group")) out.mixed_group = word(*group, {"mixed"}) == "mixed";
  } else {
    out.attention = words(fields.find("attention"), {"standard", "mla", "sparse_mla"});
  }
  if (const profiles::Node* from = fields.find("from")) out.from = parse_capability(*from).number();
  if (const profiles::Node* below = fields.find("below")) out.below = parse_capability(*below).number();
  out.verdict = read_verdict(fields.at("verdict"));
  out.policy = fields.boolean("policy", false);
  out.how = fields.string("how", "");
  out.reason = fields.string("reason", "");
  out.source = fields.string("source", "");
  holds = holds_for(fields.find("since"), fields.find("until"), version);
  fields.finish();
  check(node, out);
  return out;
}

std::vector<GateRow> read_rows(const profiles::Node& list, std::string_view formats_key, std::string_view version) {
  std::vector<GateRow> out;
  std::set<std::string> ids;
  for (const profiles::Node& node : list.list()) {
    bool holds = false;
    GateRow row = read_row(node, formats_key, version, holds);
    if (!ids.insert(row.id).second) node.at("id").fail(format("rule '{}' is there twice", row.id));
    if (holds) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

GateRules read_gate_rules(const profiles::Node& profile, std::string_view engine_version) {
  Fields fields(profile);
  GateRules out;
  out.engine = fields.at("id").string();
  fields.ignore("name");
  out.as_of = fields.at("as_of").scalar_text();
  out.weights = read_rows(fields.at("weights"), "formats", engine_version);
  out.kv_cache = read_rows(fields.at("kv_cache"), "dtypes", engine_version);
  fields.finish();
  return out;
}

}  // namespace kvfit::hardware
