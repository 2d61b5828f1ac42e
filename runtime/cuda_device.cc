#include "runtime/cuda_device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/spelling.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using profiles::format;

// Which bytes of the UUID stand between dashes.
constexpr std::array<std::size_t, 5> kUuidGroups = {4, 2, 2, 2, 6};

std::string uuid_text(const cuda::Uuid& uuid, bool mig) {
  std::string out = mig ? "MIG" : "GPU";
  std::size_t at = 0;
  for (const std::size_t length : kUuidGroups) {
    out += '-';
    for (std::size_t i = 0; i < length; ++i) out += format("{:02x}", uuid.bytes[at++]);
  }
  return out;
}

int attribute(const CudaDriver& driver, cuda::Attribute which, cuda::DeviceHandle handle) {
  int value = 0;
  driver.check(driver.call().cuDeviceGetAttribute(&value, which, handle), "cuDeviceGetAttribute");
  return value;
}

void read_identity(const CudaDriver& driver, CudaDevice& out) {
  const cuda::Functions& f = driver.call();
  std::array<char, 256> text{};
  driver.check(f.cuDeviceGetName(text.data(), static_cast<int>(text.size()) - 1, out.handle), "cuDeviceGetName");
  out.name = text.data();
  out.mig = out.name.find(" MIG ") != std::string::npos;
  cuda::Uuid uuid{};
  driver.check(f.cuDeviceGetUuid_v2(&uuid, out.handle), "cuDeviceGetUuid_v2");
  out.uuid = uuid_text(uuid, out.mig);
  text = {};
  driver.check(f.cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()) - 1, out.handle), "cuDeviceGetPCIBusId");
  out.pci_bus_id = pci_id(text.data());
}

CudaDevice read_device(const CudaDriver& driver, int ordinal) {
  const cuda::Functions& f = driver.call();
  CudaDevice out{.ordinal = ordinal};
  driver.check(f.cuDeviceGet(&out.handle, ordinal), "cuDeviceGet");
  read_identity(driver, out);
  std::size_t total = 0;
  driver.check(f.cuDeviceTotalMem_v2(&total, out.handle), "cuDeviceTotalMem_v2");
  out.total = Bytes(static_cast<std::int64_t>(total));
  out.capability = {attribute(driver, cuda::kCapabilityMajor, out.handle),
                    attribute(driver, cuda::kCapabilityMinor, out.handle)};
  out.sm_count = attribute(driver, cuda::kMultiprocessorCount, out.handle);
  out.shared_memory_optin = Bytes(attribute(driver, cuda::kSharedMemoryOptin, out.handle));
  out.unified = attribute(driver, cuda::kIntegrated, out.handle) != 0;
  out.watchdog = attribute(driver, cuda::kKernelExecTimeout, out.handle) != 0;
  out.ecc = attribute(driver, cuda::kEccEnabled, out.handle) != 0;
  // Drivers that do not know the attribute refuse its value; then nothing says that MPS is there.
  constexpr cuda::Result kInvalidValue = 1;
  int mps = 0;
  const cuda::Result result = f.cuDeviceGetAttribute(&mps, cuda::kMpsEnabled, out.handle);
  if (result != kInvalidValue) driver.check(result, "cuDeviceGetAttribute");
  out.mps = mps != 0;
  return out;
}

}  // namespace

std::vector<CudaDevice> cuda_devices(const CudaDriver& driver) {
  int count = 0;
  driver.check(driver.call().cuDeviceGetCount(&count), "cuDeviceGetCount");
  constexpr cuda::Result kNoDevice = 100;
  if (count == 0) driver.check(kNoDevice, "cuDeviceGetCount");
  std::vector<CudaDevice> out;
  for (int i = 0; i < count; ++i) out.push_back(read_device(driver, i));
  return out;
}

std::string pci_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  std::string domain(colon == std::string_view::npos ? "" : text.substr(0, colon));
  while (domain.size() > 4 && domain.front() == '0') domain.erase(0, 1);
  return profiles::lower(domain + std::string(colon == std::string_view::npos ? text : text.substr(colon)));
}

}  // namespace kvfit::runtime
