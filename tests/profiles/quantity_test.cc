#include "profiles/quantity.h"

#include <doctest/doctest.h>

using namespace kvfit::profiles;

TEST_CASE("counts are read as vLLM reads them: small letters decimal, capitals binary") {
  CHECK(read_count("8192") == 8192);
  CHECK(read_count("32k") == 32000);
  CHECK(read_count("32K") == 32768);
  CHECK(read_count("25.6k") == 25600);
  CHECK(read_count("1M") == 1048576);
  CHECK_FALSE(read_count("32kb").has_value());
  CHECK_FALSE(read_count("0.5").has_value());
  CHECK_FALSE(read_count("-1").has_value());
  CHECK_FALSE(read_count("").has_value());
}

TEST_CASE("sizes are decimal or binary as they say") {
  CHECK(read_size("1.5GiB") == Bytes(1610612736));
  CHECK(read_size("2GB") == Bytes(2000000000));
  CHECK(read_size("512MiB") == Bytes(536870912));
  CHECK(read_size("77") == Bytes(77));
  CHECK_FALSE(read_size("1.5gib").has_value());
  CHECK_FALSE(read_size("GiB").has_value());
  CHECK_FALSE(read_size("1.5").has_value());
}
