// An index: what is accepted must be what a JSON library reads, and names only plain files.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/safetensors_index.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "tests/fuzz/document_fuzz.h"

using kvfit::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try {
    const kvfit::models::SafetensorsIndex index =
        kvfit::models::parse_safetensors_index({text.begin(), text.end()}, "model.safetensors.index.json");
    const kvfit::profiles::Json json = kvfit::profiles::Json::parse(text);
    require(json.at("weight_map").size() == index.entries.size());
    for (const kvfit::models::SafetensorsIndex::Entry& entry : index.entries) {
      const std::string& file = index.files.at(entry.file);
      require(json.at("weight_map").at(std::string(entry.tensor)).get<std::string>() == file);
      require(!file.empty() && file != ".." && file.find('/') == std::string::npos);
    }
  } catch (const kvfit::profiles::Json::out_of_range&) {
    // A number in the metadata that no double holds; nobody reads it.
  } catch (const kvfit::profiles::Error& error) {
    require(error.fault() == kvfit::profiles::Fault::input);
    require(error.text().starts_with("error: "));
  }
  return 0;
}
