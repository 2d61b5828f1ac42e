#include "models/pattern.h"

#include <doctest/doctest.h>

#include <string>

#include "profiles/error.h"

namespace kvfit::models {
namespace {

bool matches(const std::string& pattern, const std::string& text) { return Regex(pattern).matches(text); }

std::string refusal(const std::string& pattern) {
  try {
    Regex regex(pattern);
  } catch (const profiles::Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST_CASE("globs: a star is any run, a question mark one character, the whole text must match") {
  CHECK(glob_match("*.mlp.*", "layers.0.mlp.up_proj"));
  CHECK(glob_match("mtp*", "mtp.layers.0.fc"));
  CHECK(glob_match("layers.?.mlp", "layers.3.mlp"));
  CHECK_FALSE(glob_match("layers.?.mlp", "layers.30.mlp"));
  CHECK_FALSE(glob_match("lm_head", "model.lm_head"));
  CHECK(glob_match("*a*a*b", "aaaaab"));
  CHECK_FALSE(glob_match("*a*a*a*c", std::string(60, 'a')));
  CHECK(glob_match("", ""));
}

TEST_CASE("regular expressions are anchored at the start only, as Python's re.match") {
  CHECK(matches("mlp", "mlp.up_proj"));
  CHECK_FALSE(matches("up_proj", "mlp.up_proj"));
  CHECK(matches(".*up_proj$", "mlp.up_proj"));
  CHECK_FALSE(matches(".*up_proj$", "mlp.up_proj.weight"));
  CHECK(matches("^mtp\\..*", "mtp.layers.0"));
  CHECK_FALSE(matches("^mtp\\..*", "mtpx"));
}

TEST_CASE("groups, sets, classes and counts that quantisation lists use") {
  const std::string experts = ".*\\.layers\\.(?:[3-9]|[1-3][0-9]|4[0-4])\\.mlp\\.experts\\..*(gate|up|down)_proj$";
  CHECK(matches(experts, "model.layers.3.mlp.experts.7.gate_proj"));
  CHECK(matches(experts, "model.layers.44.mlp.experts.287.down_proj"));
  CHECK_FALSE(matches(experts, "model.layers.2.mlp.experts.7.gate_proj"));
  CHECK_FALSE(matches(experts, "model.layers.45.mlp.experts.7.gate_proj"));
  CHECK(matches(".*self_attn\\.(q|k|v|o)_proj$", "layers.0.self_attn.v_proj"));
  CHECK(matches("layers\\.\\d+\\.x", "layers.12.x"));
  CHECK_FALSE(matches("layers\\.\\d+\\.x", "layers..x"));
  CHECK(matches("a{2,3}b", "aaab"));
  CHECK_FALSE(matches("a{2,3}b$", "ab"));
  CHECK(matches("[^.]+\\.w", "abc.w"));
  CHECK(matches("(a|b)?c", "c"));
  CHECK(matches(".*?x", "abcx"));
}

TEST_CASE("a pattern that would explode in a backtracking matcher ends at once") {
  CHECK_FALSE(matches("(a*)*b", std::string(200, 'a')));
  CHECK_FALSE(matches("(a|a)*(a|a)*(a|a)*b", std::string(200, 'a')));
}

TEST_CASE("what is not understood is refused by character") {
  CHECK_EQ(refusal("(a"), "cannot use the regular expression '(a': missing ')' at character 3");
  CHECK_EQ(refusal("a)"), "cannot use the regular expression 'a)': unmatched ')' at character 2");
  CHECK_EQ(refusal("[a"), "cannot use the regular expression '[a': missing ']' at character 3");
  CHECK_EQ(refusal("(?=a)"),
           "cannot use the regular expression '(?=a)': look-around and named groups are not supported at character 2");
  CHECK_EQ(refusal("*a"), "cannot use the regular expression '*a': nothing to repeat at character 1");
  CHECK_EQ(refusal("a{2,1}"), "cannot use the regular expression 'a{2,1}': malformed {m,n} at character 7");
  CHECK_EQ(refusal("a{9999}"), "cannot use the regular expression 'a{9999}': a repeat count above 1000 at character 7");
  CHECK_EQ(refusal("\\b"), "cannot use the regular expression '\\b': unsupported escape at character 2");
}

}  // namespace
}  // namespace kvfit::models
