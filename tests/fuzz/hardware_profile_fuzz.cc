// A GPU profile and a gate file read from the same bytes: a value, or an Error that says where.
#include <cstddef>
#include <cstdint>
#include <string>

#include "hardware/gate_rules.h"
#include "hardware/gpu.h"
#include "hardware/node.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

using kvfit::fuzz::require;

void read_profile(const kvfit::profiles::Node& document) {
  kvfit::hardware::Node node;
  try {
    node.gpu = kvfit::hardware::read_gpu(document);
  } catch (const kvfit::profiles::Error& error) {
    require(!error.where().file.empty());
    return;
  }
  const kvfit::hardware::ByteRange free = kvfit::hardware::free_at_start(node);
  require(kvfit::profiles::Bytes(0) <= free.low && free.low <= free.likely && free.likely <= free.high);
  require(free.high <= kvfit::hardware::total_memory(node).high);
}

void read_gates(const kvfit::profiles::Node& document) {
  try {
    (void)kvfit::hardware::read_gate_rules(document, "0.24.0");
  } catch (const kvfit::profiles::Error& error) {
    require(!error.where().file.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] {
    const kvfit::profiles::Node document = kvfit::profiles::parse_yaml(text, "input.yaml");
    if (document.is_map()) {
      read_profile(document);
      read_gates(document);
    }
    return document;
  });
}
