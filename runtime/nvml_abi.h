// NVML as far as kvfit uses it, declared by hand: its header comes only with the toolkit.
//
// Source: NVML API reference, docs.nvidia.com/deploy/nvml-api, of nvmlPciInfo_t, nvmlMemory_t and nvmlMemory_v2_t.
#pragma once

namespace kvfit::runtime::nvml {

using Return = int;  ///< nvmlReturn_t
struct DeviceTag;
using Handle = DeviceTag*;  ///< nvmlDevice_t

inline constexpr Return kSuccess = 0;

struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;  ///< kMemoryV2
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(PciInfo) == 68 && sizeof(Memory) == 24 && sizeof(MemoryV2) == 40);
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;

}  // namespace kvfit::runtime::nvml
