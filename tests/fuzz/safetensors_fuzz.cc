// A header, after a first line that says how many bytes of data follow it. What is accepted must be what a JSON library
// reads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/safetensors_header.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "tests/fuzz/document_fuzz.h"

namespace {

using kvfit::fuzz::require;
using kvfit::models::HeaderTensor;
using kvfit::models::SafetensorsHeader;
using kvfit::profiles::Json;

constexpr std::int64_t kMaxData = std::int64_t{1} << 50;

// The tensors cover the data once, and each says of itself what the JSON says of it.
void check_header(const SafetensorsHeader& header, const std::string& text, std::int64_t data) {
  const Json json = Json::parse(text);
  require(json.size() == header.tensors.size() + (json.contains("__metadata__") ? 1 : 0));
  std::int64_t sum = 0;
  for (const HeaderTensor& tensor : header.tensors) {
    const Json& entry = json.at(std::string(tensor.name));
    require(entry.at("dtype").get<std::string>() == kvfit::profiles::safetensors_name(tensor.dtype));
    require(entry.at("data_offsets").get<std::vector<std::int64_t>>() ==
            std::vector<std::int64_t>{tensor.begin, tensor.end});
    const std::span<const std::int64_t> shape = header.shape(tensor);
    require(entry.at("shape").get<std::vector<std::int64_t>>() == std::vector<std::int64_t>(shape.begin(), shape.end()));
    require(tensor.begin >= 0 && tensor.end >= tensor.begin);
    sum += tensor.bytes();
  }
  require(sum == data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  std::int64_t data = 0;
  for (const char c : input.substr(0, line)) {
    if (c >= '0' && c <= '9' && data < kMaxData) data = data * 10 + (c - '0');
  }
  const std::string text(input.substr(std::min(line + 1, input.size())));
  try {
    const std::int64_t file_bytes = 8 + static_cast<std::int64_t>(text.size()) + data;
    check_header(kvfit::models::parse_safetensors_header({text.begin(), text.end()}, file_bytes, "x.safetensors"), text,
                 data);
  } catch (const kvfit::profiles::Error& error) {
    require(error.fault() == kvfit::profiles::Fault::input);
    require(error.text().starts_with("error: "));
  }
  return 0;
}
