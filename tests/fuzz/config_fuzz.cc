// A config.json, whatever it says: a model whose inventory is countable, or an Error that says where.
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/config_reader.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] {
    kvfit::profiles::Node document = kvfit::profiles::parse_json(text, "config.json");
    const kvfit::models::Model model = kvfit::models::read_config(document, nullptr, "fuzz");
    kvfit::fuzz::require(!model.layers.empty());
    kvfit::fuzz::require(kvfit::models::derive_inventory(model).total() >= kvfit::profiles::Bytes(0));
    return document;
  });
}
