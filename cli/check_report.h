// `kvfit check` rendered; each returns text.
#pragma once

#include <string>
#include <string_view>

#include "cli/check_case.h"
#include "profiles/json.h"

namespace kvfit::cli {

std::string check_table(const CheckRun& run, const Screen& screen);
/// For a pull request's comment or a step's summary: within 60,000 bytes, what is left out is counted.
std::string check_markdown(const CheckRun& run);
/// The envelope of `kvfit schema check`.
profiles::Json check_json(const CheckRun& run);
/// Workflow commands of GitHub Actions: ten of a kind are shown there, so nine and a count; data and properties escaped.
std::string check_github(const CheckRun& run);
/// SARIF 2.1.0.
profiles::Json check_sarif(const CheckRun& run);
/// JUnit XML: a suite a file, a test case for each rule that found something, and one for the fit itself.
std::string check_junit(const CheckRun& run);

/// "serve.yaml:7:17", "serve.yaml" or "".
std::string place_text(const profiles::Where& where);
/// The verdict's word, or NO where an error stands against one that would fit; and the sentence behind it.
std::string_view answer_word(const CheckCase& one);
std::string answer_text(const CheckCase& one);
/// "2 deployments: 1 fits, 1 does not fit; 1 error, 2 notes".
std::string summary_text(const CheckRun& run);

}  // namespace kvfit::cli
