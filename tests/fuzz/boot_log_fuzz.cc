// Any text is a log: the reader never throws and never loops.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/boot_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kvfit::runtime::read_boot_log(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
