#include "runtime/detect.h"

#include <doctest/doctest.h>

#include <string>

#include "profiles/error.h"
#include "runtime/host_facts.h"
#include "runtime/nvidia_smi.h"

namespace kvfit::runtime {
namespace {

using profiles::mib;

constexpr const char* kSaved =
    "uuid, pci.bus_id, name, compute_cap, memory.total [MiB], memory.used [MiB], driver_version, mig.mode.current\n"
    "GPU-aa, 00000000:41:00.0, NVIDIA GeForce RTX 5090 Laptop GPU, 12.0, 24463 MiB, 12 MiB, 580.95.05, [N/A]\n"
    "GPU-bb, 00000000:0B:00.0, NVIDIA GB10, 12.1, [N/A], [N/A], 580.95.05, [N/A]\n";

NvmlDevice nvml_device(std::string uuid, std::string pci) {
  return {.name = "from NVML", .uuid = std::move(uuid), .pci_bus_id = std::move(pci), .total = mib(1000)};
}

CudaDevice cuda_device(std::string uuid, std::string pci) {
  return {.name = "from CUDA", .uuid = std::move(uuid), .pci_bus_id = std::move(pci), .total = mib(900)};
}

std::string error_of(const std::string& text) {
  try {
    (void)read_smi(text, "saved.csv");
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("a saved query of nvidia-smi: names, ids, capability, and what is not supported stays unknown") {
  const SmiReading reading = read_smi(kSaved, "saved.csv");
  REQUIRE(reading.devices.size() == 2);
  CHECK(reading.driver_version == "580.95.05");
  CHECK(reading.devices[0].name == "NVIDIA GeForce RTX 5090 Laptop GPU");
  CHECK(reading.devices[0].pci_bus_id == "0000:41:00.0");
  CHECK(reading.devices[0].capability.number() == 120);
  CHECK(reading.devices[0].total == mib(24463));
  CHECK(reading.devices[0].used == mib(12));
  CHECK_FALSE(reading.devices[0].mig);
  CHECK(reading.devices[1].pci_bus_id == "0000:0b:00.0");
  CHECK(reading.devices[1].total.count == 0);
  CHECK_FALSE(reading.devices[1].used);
}

TEST_CASE("columns may come in any order, without units, with carriage returns") {
  const SmiReading reading = read_smi("memory.total [MiB], name\r\n81559, NVIDIA H100 80GB HBM3\r\n", "saved.csv");
  CHECK(reading.devices[0].total == mib(81559));
  CHECK(reading.devices[0].name == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("what is no query in CSV is refused with the command to save one") {
  const std::string hint =
      "\n  help: save it with: nvidia-smi --query-gpu=uuid,pci.bus_id,name,compute_cap,memory.total,memory.used,"
      "driver_version,mig.mode.current --format=csv";
  CHECK(error_of("+----+\n| NVIDIA-SMI 580 |\n") ==
        "error: this is no query of nvidia-smi in CSV: the first line has no column 'name'\n  --> saved.csv:1" + hint);
  CHECK(error_of("") == "error: nothing is in this output of nvidia-smi\n  --> saved.csv" + hint);
  CHECK(error_of("name, memory.total [MiB]\n") == "error: nvidia-smi saw no GPU\n  --> saved.csv:1" + hint);
  CHECK(error_of("name, memory.total [MiB]\nX, 12 GiB\n") ==
        "error: memory.total is '12 GiB', which is no size in MiB\n  --> saved.csv:2" + hint);
}

TEST_CASE("NVML and CUDA are joined by UUID or PCI id, whatever their order") {
  const std::vector<FoundGpu> found =
      join_devices({nvml_device("GPU-1", "0000:01:00.0"), nvml_device("GPU-2", "0000:02:00.0")},
                   {cuda_device("GPU-2", "x"), cuda_device("GPU-9", "0000:01:00.0")});
  REQUIRE(found.size() == 2);
  CHECK(found[0].uuid == "GPU-9");
  CHECK(found[0].nvml->uuid == "GPU-1");
  CHECK(found[1].uuid == "GPU-2");
  CHECK(found[1].nvml->uuid == "GPU-2");
}

TEST_CASE("each MIG slice is a GPU of its own; its figures are CUDA's") {
  CudaDevice slice = cuda_device("MIG-1", "0000:01:00.0"), other = cuda_device("MIG-2", "0000:01:00.0");
  slice.mig = other.mig = true;
  const std::vector<FoundGpu> found = join_devices({nvml_device("GPU-1", "0000:01:00.0")}, {slice, other});
  REQUIRE(found.size() == 2);
  CHECK(found[0].uuid == "MIG-1");
  CHECK(found[1].uuid == "MIG-2");
  CHECK(found[1].cuda->total == mib(900));
}

TEST_CASE("on unified memory NVML's total means nothing") {
  CudaDevice device = cuda_device("GPU-1", "0000:01:00.0");
  device.unified = true;
  const std::vector<FoundGpu> found = join_devices({nvml_device("GPU-1", "0000:01:00.0")}, {device});
  CHECK(as_detected(found[0]).total == mib(900));
}

TEST_CASE("PCI ids of NVML, nvidia-smi and CUDA become one spelling") {
  CHECK(pci_id("00000000:0A:00.0") == "0000:0a:00.0");
  CHECK(pci_id("0000:0a:00.0") == "0000:0a:00.0");
  CHECK(pci_id("00010000:0A:00.0") == "10000:0a:00.0");
  CHECK(pci_id("").empty());
}

TEST_CASE("WSL2 is known by its kernel, and MemAvailable by /proc/meminfo") {
  CHECK(system_of("5.15.153.1-microsoft-standard-WSL2") == hardware::System::wsl2);
  CHECK(system_of("6.1.0-28-amd64") == hardware::System::linux_native);
  // 2048 KiB = 2 MiB
  CHECK(memory_available_in("MemTotal:       100 kB\nMemFree: 3 kB\nMemAvailable:    2048 kB\n") == mib(2));
  CHECK_FALSE(memory_available_in("MemTotal: 100 kB\n"));
}

}  // namespace
}  // namespace kvfit::runtime
