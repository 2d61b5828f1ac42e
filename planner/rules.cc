#include "planner/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "planner/traits.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

using profiles::did_you_mean;
using profiles::fail_input;
using profiles::Fields;
using profiles::format;
using profiles::Node;

[[noreturn]] void lacks(const Row& row, std::string_view kind, std::string_view key) {
  fail_input(format("the engine rule has no {} '{}'", kind, key), {row.place, 0, 0, "", ""});
}

const TraitName* trait(std::string_view name) {
  for (const TraitName& known : trait_names()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

Version read_version(const Node& node) {
  const Version version = parse_version(node.scalar_text());
  if (!version.known)
    node.fail(format("'{}' is not a version", node.scalar_text()), "write it as \"0.21\" or \"0.25.1rc1.dev300\"");
  return version;
}

void read_numbers(const Node* map, std::map<std::string, double, std::less<>>& out) {
  if (map == nullptr) return;
  for (const auto& [key, value] : map->members()) out[key] = value.number();
}

Trait read_trait(const Node& node, TraitKind kind) {
  if (kind == TraitKind::number) return node.number();
  if (node.is_boolean()) return std::string(node.boolean() ? "yes" : "no");
  return node.scalar_text();
}

}  // namespace

double Row::value(std::string_view key) const {
  const auto found = values.find(key);
  if (found == values.end()) lacks(*this, "value", key);
  return found->second;
}

double Row::value_or(std::string_view key, double fallback) const {
  const auto found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

std::int64_t Row::count(std::string_view key) const { return std::llround(value(key)); }

double Row::error_of(std::string_view key) const {
  const auto found = error.find(key);
  return found == error.end() ? 0 : found->second;
}

std::string Row::word(std::string_view key) const {
  const auto found = words.find(key);
  if (found == words.end()) lacks(*this, "word", key);
  return found->second;
}

bool Row::is(std::string_view key, std::string_view word) const {
  const auto found = words.find(key);
  return found != words.end() && found->second == word;
}

bool Rules::Condition::holds(const Traits& traits) const {
  const auto found = traits.find(trait);
  if (found == traits.end()) return false;
  if (test == Test::any_of) return std::find(values.begin(), values.end(), found->second) != values.end();
  const double have = std::get<double>(found->second);
  const double bound = std::get<double>(values.front());
  return test == Test::at_least ? have >= bound : have <= bound;
}

std::vector<Rules::Condition> Rules::read_conditions(const Node& when) {
  std::vector<Condition> out;
  for (const auto& [key, value] : when.members()) {
    Condition condition;
    condition.trait = key;
    if (trait(key) == nullptr && key.size() > 4) {
      const std::string_view end = std::string_view(key).substr(key.size() - 4);
      if (end == "_min" || end == "_max") {
        condition.test = end == "_min" ? Condition::Test::at_least : Condition::Test::at_most;
        condition.trait = key.substr(0, key.size() - 4);
      }
    }
    const TraitName* known = trait(condition.trait);
    if (known == nullptr || (condition.test != Condition::Test::any_of && known->kind == TraitKind::word)) {
      std::vector<std::string> names;
      for (const TraitName& name : trait_names()) names.emplace_back(name.name);
      value.fail(format("unknown condition '{}'", key), did_you_mean(key, names));
    }
    if (value.is_list()) {
      for (const Node& item : value.list()) condition.values.push_back(read_trait(item, known->kind));
    } else {
      condition.values.push_back(read_trait(value, known->kind));
    }
    if (condition.values.empty()) value.fail(format("condition '{}' allows nothing", key));
    out.push_back(std::move(condition));
  }
  return out;
}

void Rules::read_row(const Node& node, Table& table) {
  Fields fields(node);
  const Node* since = fields.find("since");
  const Node* until = fields.find("until");
  const Node* when = fields.find("when");
  const Node* words = fields.find("words");
  Row row;
  read_numbers(fields.find("values"), row.values);
  read_numbers(fields.find("error"), row.error);
  if (words != nullptr) {
    for (const auto& [key, value] : words->members()) {
      row.words[key] = value.is_boolean() ? (value.boolean() ? "yes" : "no") : value.scalar_text();
    }
  }
  row.source = fields.at("source").string();
  row.as_of = fields.string("as_of", "");
  row.provenance = fields.string("provenance", "derived");
  fields.finish();
  if (row.source.empty()) node.fail("a rule needs a source");
  if (row.values.empty() && row.words.empty()) node.fail("a rule needs values or words");
  for (const auto& [key, width] : row.error) {
    if (row.values.find(key) == row.values.end()) node.fail(format("an error bar for '{}', which has no value", key));
  }
  constexpr std::string_view kKnown[] = {"exact", "derived", "measured", "assumed"};
  if (std::find(std::begin(kKnown), std::end(kKnown), row.provenance) == std::end(kKnown)) {
    node.fail(format("unknown provenance '{}'", row.provenance), "one of exact, derived, measured, assumed");
  }
  row.place = node.place();
  if (since != nullptr && until != nullptr && compare(read_version(*since), read_version(*until)) >= 0) {
    until->fail("'until' must be after 'since'");
  }
  std::vector<Condition> conditions = when != nullptr ? read_conditions(*when) : std::vector<Condition>{};
  if (since != nullptr && compare(version_, read_version(*since)) < 0) return;
  if (until != nullptr && compare(version_, read_version(*until)) >= 0) return;
  table.rows.push_back(std::move(row));
  table.conditions.push_back(std::move(conditions));
}

Rules::Rules(const Node& profile, const Version& version) : version_(version) {
  Fields fields(profile);
  engine_ = fields.at("engine").string();
  for (const std::string_view key : {"names", "aliases", "text", "source", "as_of"}) fields.ignore(key);
  const Node& tables = fields.at("tables");
  if (const Node* oldest = fields.find("oldest")) {
    if (version_.known && compare(version_, parse_version(oldest->string())) < 0) {
      profiles::fail_input(
          format("{} {} is older than the rules kvfit has, which begin with {}", engine_, version_.text, oldest->string()));
    }
  }
  if (const Node* newest = fields.find("newest"))
    beyond_ = version_.known && compare(version_, parse_version(newest->string())) > 0;
  fields.finish();
  for (const auto& [name, rows] : tables.members()) {
    Table& table = tables_[name];
    if (rows.list().empty()) rows.fail(format("table '{}' is empty", name));
    for (const Node& row : rows.list()) read_row(row, table);
  }
}

const Row* Rules::find(std::string_view table, const Traits& traits) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  for (std::size_t i = 0; i < found->second.rows.size(); ++i) {
    const std::vector<Condition>& conditions = found->second.conditions[i];
    if (std::all_of(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.holds(traits); })) {
      return &found->second.rows[i];
    }
  }
  return nullptr;
}

const Row& Rules::pick(std::string_view table, const Traits& traits) const {
  const Row* row = find(table, traits);
  if (row == nullptr) {
    fail_input(format("no rule of table '{}' applies to {} {}", table, engine_, version_.known ? version_.text : "(newest)"),
               {}, "add a row to the engine profile");
  }
  return *row;
}

const std::vector<Row>& Rules::all(std::string_view table) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) fail_input(format("the engine profile has no table '{}'", table));
  return found->second.rows;
}

}  // namespace kvfit::planner
