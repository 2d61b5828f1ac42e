#include "runtime/host_facts.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/log_scan.h"

namespace kvfit::runtime {
namespace {

// Files of /proc have no size; read to their end. Empty when there is none.
std::string read_all(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

hardware::System system_of(std::string_view kernel_release) {
  const bool wsl = kernel_release.find("microsoft") != std::string_view::npos;
  return wsl ? hardware::System::wsl2 : hardware::System::linux_native;
}

hardware::System host_system() { return system_of(read_all("/proc/sys/kernel/osrelease")); }

std::optional<profiles::Bytes> memory_available_in(std::string_view meminfo) {
  Scan scan(meminfo);
  if (!scan.past("MemAvailable:")) return std::nullopt;
  while (scan.accept(" ")) continue;
  const std::optional<std::int64_t> kib = scan.integer();
  if (!kib || *kib < 0 || *kib > (std::int64_t{1} << 43)) return std::nullopt;
  return profiles::Bytes(*kib * profiles::kKiB);
}

std::optional<profiles::Bytes> memory_available() { return memory_available_in(read_all("/proc/meminfo")); }

}  // namespace kvfit::runtime
