// Any text is an output of nvidia-smi, or it is refused with a place: nothing else happens.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiles/error.h"
#include "runtime/nvidia_smi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kvfit::runtime::read_smi(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  } catch (const kvfit::profiles::Error& error) {
    (void)error.text();
  }
  return 0;
}
