// ./dev accuracy [FILE...] [--json | --markdown] [--thresholds FILE] [--rows] [--holdout] [--profiles DIR]: prices public
// boots and says how right kvfit is.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalog.h"
#include "tests/accuracy/holdout.h"
#include "tests/accuracy/library.h"
#include "tests/accuracy/price.h"
#include "tests/accuracy/report.h"
#include "tests/accuracy/rows.h"
#include "tests/accuracy/thresholds.h"

namespace {

constexpr std::string_view kUsage =
    "usage: kvfit_accuracy [FILE...] [--json | --markdown] [--rows] [--holdout] [--profiles DIR] [--thresholds FILE]\n"
    "  FILE         rows of public boots (JSON Lines); default: tests/data/truth/*.jsonl\n"
    "  --json       one JSON object instead of the table\n"
    "  --markdown   the short table of README.md\n"
    "  --rows       after the table, each row with what was predicted\n"
    "  --holdout    each boot without the measured rules that only its own source supports (takes minutes)\n"
    "  --profiles   profiles that replace or add to those built in\n"
    "  --thresholds compare with this file; exit 1 when one is broken\n";

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> profiles;
  std::string thresholds;
  bool holdout = false;
  bool json = false, markdown = false, rows = false, help = false, wrong = false;
};

Options read_options(int count, char** words) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--json") {
      out.json = true;
    } else if (word == "--markdown") {
      out.markdown = true;
    } else if (word == "--rows") {
      out.rows = true;
    } else if (word == "--help" || word == "-h") {
      out.help = true;
    } else if (word == "--holdout") {
      out.holdout = true;
    } else if (word == "--profiles" && i + 1 < count) {
      out.profiles.emplace_back(words[++i]);
    } else if (word == "--thresholds" && i + 1 < count) {
      out.thresholds = words[++i];
    } else if (word.starts_with("--")) {
      out.wrong = true;
    } else {
      out.files.push_back(word);
    }
  }
  if (out.files.empty()) {
    for (const char* name : {"boots", "bench", "layouts", "later", "other-engines"}) {
      out.files.push_back(std::string(KVFIT_TEST_DATA "/truth/") + name + ".jsonl");
    }
  }
  return out;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int run(const Options& options) {
  using namespace kvfit;
  accuracy::Rows rows;
  for (const std::string& file : options.files) accuracy::read_rows(file, rows);
  const profiles::Catalog catalog(options.profiles);
  std::vector<accuracy::RowScore> scores;
  if (options.holdout) {
    accuracy::Holdout held_out = accuracy::hold_out(catalog, KVFIT_ENGINE_PROFILE, rows.observations);
    std::fprintf(stderr,
                 "hold-out: %d measured rules, %d of them reached by one source alone; %d boots priced without theirs\n",
                 held_out.measured_rows, held_out.single_source, held_out.boots);
    scores = std::move(held_out.scores);
  } else {
    const accuracy::Library library(catalog);
    for (const accuracy::Observation& row : rows.observations) scores.push_back(accuracy::price(library, row));
  }
  if (options.json) {
    print(accuracy::json(scores, rows.rejected).dump(1, ' ', false, profiles::Json::error_handler_t::replace) + "\n");
  } else if (options.markdown) {
    print(accuracy::markdown(scores));
  } else {
    print(accuracy::table(scores, rows.rejected));
    if (options.rows) print(accuracy::row_lines(scores));
  }
  if (options.thresholds.empty()) return 0;
  const std::vector<std::string> broken = accuracy::broken_thresholds(scores, accuracy::read_thresholds(options.thresholds));
  for (const std::string& line : broken) std::fprintf(stderr, "threshold broken: %s\n", line.c_str());
  return broken.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const Options options = read_options(count, words);
  if (options.help || options.wrong) {
    print(std::string(kUsage));
    return options.wrong ? 2 : 0;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
