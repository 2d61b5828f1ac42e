#include "profiles/utf8.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace kvfit::profiles {
namespace {

TEST_CASE("characters of one to four bytes are well formed") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xC3\xA4") == 2);
  CHECK(utf8_length("\xE2\x82\xAC") == 3);
  CHECK(utf8_length("\xF0\x9F\x98\x80") == 4);
  CHECK(utf8_length(std::string_view("\0", 1)) == 1);
  CHECK(utf8_length("") == 0);
}

TEST_CASE("overlong forms, surrogates, what lies above U+10FFFF and cut characters are not") {
  for (const std::string_view bad :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\x80", "\xFF", "\xC3", "\xE2\x82", "\xE2\x28\xA1", "\xF0\x9F\x98"}) {
    CHECK(utf8_length(bad) == 0);
    CHECK(first_not_utf8("ok" + std::string(bad)) == 2);
  }
  CHECK(first_not_utf8("\xC3\xA4 and \xE2\x82\xAC") == 10);  // all of it: 2 + 5 + 3
}

}  // namespace
}  // namespace kvfit::profiles
