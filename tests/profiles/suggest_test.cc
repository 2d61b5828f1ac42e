#include "profiles/suggest.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace kvfit::profiles {
namespace {

TEST_CASE("an edit is one insertion, deletion, substitution or swap of neighbours") {
  CHECK(edit_distance("", "", 5) == 0);
  CHECK(edit_distance("plan", "plan", 5) == 0);
  CHECK(edit_distance("plan", "plans", 5) == 1);
  CHECK(edit_distance("plan", "pan", 5) == 1);
  CHECK(edit_distance("plan", "plen", 5) == 1);
  CHECK(edit_distance("plan", "paln", 5) == 1);
  CHECK(edit_distance("ca", "abc", 5) == 3);  // restricted: a swapped pair is not edited again
  CHECK(edit_distance("kitten", "sitting", 5) == 3);
  CHECK(edit_distance("", "abc", 5) == 3);
}

TEST_CASE("distances above the limit are not counted out") {
  CHECK(edit_distance("abcdef", "uvwxyz", 2) == 3);
  CHECK(edit_distance("a", "abcdef", 2) == 3);
}

TEST_CASE("the nearest name within a third of the word is offered, ties to the first") {
  const std::vector<std::string> known = {"rtx5090-24g", "rtx5090-32g", "h100"};
  CHECK(nearest("rtx5090-24gb", known) == "rtx5090-24g");
  CHECK(nearest("rtx5090", known) == std::nullopt);  // 4 edits, 2 allowed
  CHECK(nearest("h10", known) == "h100");
  CHECK(nearest("rtx5090-44g", known) == "rtx5090-24g");  // one edit: 24g; 32g takes two
  CHECK(nearest("rtx5090-22g", known) == "rtx5090-24g");  // one edit to either
  CHECK(nearest("b200", std::vector<std::string>{}) == std::nullopt);
  CHECK(did_you_mean("h10", known) == "did you mean 'h100'?");
  CHECK(did_you_mean("something", known).empty());
}

}  // namespace
}  // namespace kvfit::profiles
