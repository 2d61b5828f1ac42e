// What the host says about itself: which kind of Linux, and how much memory it could still give.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hardware/gpu.h"
#include "profiles/units.h"

namespace kvfit::runtime {

/// WSL2 when the kernel's release names it ("5.15.153.1-microsoft-standard-WSL2").
hardware::System system_of(std::string_view kernel_release);
/// Of this machine.
hardware::System host_system();

/// MemAvailable of the text of /proc/meminfo; nullopt when it does not say.
std::optional<profiles::Bytes> memory_available_in(std::string_view meminfo);
/// Of this machine.
std::optional<profiles::Bytes> memory_available();

}  // namespace kvfit::runtime
