// A model profile or a spec (YAML) from any bytes; config.json has a target of its own. A model whose numbers are in range
// and whose every module has a format, or an Error about the input.
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/catalogue.h"
#include "models/describe.h"
#include "models/tensor_inventory.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

using kvfit::fuzz::require;

void read_document(const kvfit::profiles::Node& document) {
  kvfit::models::Model model;
  try {
    model = kvfit::models::read_model(document, "input", "input").model;
  } catch (const kvfit::profiles::Error& error) {
    require(error.fault() == kvfit::profiles::Fault::input);
    return;
  }
  require(!model.layers.empty() && model.layers.size() <= 2048);
  require(model.hidden > 0 && model.vocab > 0 && model.max_position > 0);
  require(!kvfit::models::describe(model).empty());
  for (const char* module :
       {"lm_head", "model.layers.1.mlp.experts.0.up_proj", "mtp.layers.0.self_attn.q_proj", "", "...", "layers."}) {
    require(!format_name(format_of(model.quantization, module, model.dtype)).empty());
  }
  try {
    require(kvfit::models::derive_inventory(model).total().count >= 0);
  } catch (const kvfit::profiles::Error& error) {
    require(error.fault() == kvfit::profiles::Fault::input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  return kvfit::fuzz::check([&text] {
    const kvfit::profiles::Node document = kvfit::profiles::parse_yaml(text, "input.yaml");
    if (document.is_map()) read_document(document);
    return document;
  });
}
