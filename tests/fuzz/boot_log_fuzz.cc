// Any text is a log: the readers never throw and never loop, whatever its starts, objects and lists of arguments.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/boot_log.h"
#include "runtime/log_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const kvfit::runtime::BootLog& log : kvfit::runtime::read_boot_logs(text)) {
    kvfit::runtime::settings_from_log(log, {});
    if (log.arguments) kvfit::runtime::json_of_python(log.arguments->value);
  }
  kvfit::runtime::json_of_python(text);
  return 0;
}
