#include "tests/accuracy/holdout.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "profiles/error.h"
#include "tests/accuracy/library.h"
#include "tests/accuracy/price.h"
#include "tests/accuracy/price_memory.h"

namespace kvfit::accuracy {

namespace {

using Lines = std::set<std::size_t>;
/// Bytes and bar of weights, activation, non-torch memory, graphs and available memory; -1 = not printed.
using Figures = std::array<std::int64_t, 10>;

/// The profile as text, so that rows can be struck by line.
struct Profile {
  std::vector<std::string> lines;
  Lines measured;

  explicit Profile(const std::string& path) {
    std::istringstream text(profiles::read_text_file(path));
    for (std::string line; std::getline(text, line);) {
      const bool rests_on_boots = is_row(line) && (line.find("provenance: measured") != std::string::npos ||
                                                   line.find("provenance: assumed") != std::string::npos);
      if (rests_on_boots) measured.insert(lines.size());
      lines.push_back(std::move(line));
    }
  }

  static bool is_row(const std::string& line) { return line.starts_with("    - {"); }
  static bool is_table(const std::string& line) { return line.starts_with("  ") && line.ends_with(":") && line[2] != ' '; }

  /// A table none of whose rows is left.
  bool emptied(std::size_t table, const Lines& struck) const {
    bool rows = false;
    for (std::size_t i = table + 1; i < lines.size() && !is_table(lines[i]); ++i) {
      if (!is_row(lines[i])) continue;
      if (!struck.contains(i)) return false;
      rows = true;
    }
    return rows;
  }

  profiles::Node without(const Lines& struck) const {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool drop = struck.contains(i) || (is_table(lines[i]) && emptied(i, struck));
      if (!drop) text += lines[i];
      text += '\n';
    }
    return profiles::parse_yaml(std::move(text), "engine profile, some rows struck");
  }
};

bool prints_memory(const Observation& row) {
  const Measured& m = row.measured;
  return row.engine == "vllm" && !row.layout && (m.weights || m.activation || m.non_torch || m.graphs || m.available_kv);
}

/// Predictions of what the row prints; nullopt when it cannot be priced.
std::optional<Figures> figures_of(const Library& library, const Observation& row) {
  const std::optional<Predicted> p = predict(library, row);
  if (!p) return std::nullopt;
  const Measured& m = row.measured;
  const auto bytes = [](const Size& printed, planner::Amount amount) { return printed ? amount.bytes.count : -1; };
  const auto bar = [](const Size& printed, planner::Amount amount) { return printed ? amount.error.count : -1; };
  return Figures{bytes(m.weights, p->weights),     bar(m.weights, p->weights),       bytes(m.activation, p->activation),
                 bar(m.activation, p->activation), bytes(m.non_torch, p->non_torch), bar(m.non_torch, p->non_torch),
                 bytes(m.graphs, p->graphs),       bar(m.graphs, p->graphs),         bytes(m.available_kv, p->available),
                 bar(m.available_kv, p->available)};
}

}  // namespace

Holdout hold_out(const profiles::Catalog& catalog, const std::string& engine_profile, const std::vector<Observation>& rows) {
  const Profile profile(engine_profile);
  const Library whole(catalog);
  std::map<std::size_t, std::optional<Figures>> before;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (prints_memory(rows[i])) before[i] = figures_of(whole, rows[i]);
  }
  Holdout out;
  out.measured_rows = static_cast<int>(profile.measured.size());
  std::map<std::string, Lines> struck;  // by source
  for (const std::size_t line : profile.measured) {
    const Library library(catalog, profile.without({line}));
    std::set<std::string> sources;
    for (const auto& [i, figures] : before) {
      if (!figures) continue;
      const std::optional<Figures> after = figures_of(library, rows[i]);
      if (after && *after != *figures)
        sources.insert(rows[i].source);  // a last resort, without which nothing is priced, stays
    }
    if (sources.size() != 1) continue;
    ++out.single_source;
    struck[*sources.begin()].insert(line);
  }
  std::map<std::string, Library> libraries;
  for (const auto& [source, lines] : struck) libraries.emplace(source, Library(catalog, profile.without(lines)));
  for (const Observation& row : rows) {
    const std::map<std::string, Library>::const_iterator found = libraries.find(row.source);
    const bool held_out = found != libraries.end() && prints_memory(row);
    out.boots += held_out ? 1 : 0;
    out.scores.push_back(price(held_out ? found->second : whole, row));
  }
  return out;
}

}  // namespace kvfit::accuracy
