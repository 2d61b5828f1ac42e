// An engine profile read for an old, a new and an unreadable version: rules, or an Error that says where.
#include <cstddef>
#include <cstdint>
#include <string>

#include "planner/rules.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

void read_rules(const kvfit::profiles::Node& document) {
  for (const char* version : {"0.8.5", "0.26.1rc1.dev608+g99a1", "nightly"}) {
    const kvfit::planner::Rules rules(document, kvfit::planner::parse_version(version));
    (void)rules.find("t", {{"runner", "v1"}, {"tp", 2.0}, {"hybrid", "yes"}});
    const kvfit::planner::Version named = kvfit::planner::parse_version(rules.engine());
    kvfit::fuzz::require(kvfit::planner::compare(named, named) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] {
    const kvfit::profiles::Node document = kvfit::profiles::parse_yaml(text, "input.yaml");
    if (document.is_map()) read_rules(document);
    return document;
  });
}
