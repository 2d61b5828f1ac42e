#include "tests/fakes/fake_devices.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kvfit::fakes {
namespace {

// Totals, contexts, SM counts and shared memory: profiles/hardware/*.yaml; kernels reach 0.9 of the bandwidth there.
constexpr std::array kTable = {
    FakeGpu{"rtx5090-laptop", "NVIDIA GeForce RTX 5090 Laptop GPU", "NVIDIA GeForce RTX 5090 Laptop GPU", 12, 0,
            23990 * kMiB, 24463 * kMiB, 246 * kMiB, 82, 101376, false, false, 0.9 * 896e9},
    FakeGpu{"rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
            "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 12, 0, 97250 * kMiB, 97887 * kMiB, 564 * kMiB, 188, 101376,
            false, false, 0.9 * 1792e9},
    FakeGpu{"gb10", "NVIDIA GB10", "NVIDIA GB10", 12, 1, 124611 * kMiB, 0, 140 * kMiB, 48, 101376, true, false, 0.9 * 273e9},
    FakeGpu{"h100", "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", 9, 0, 81090 * kMiB, 81559 * kMiB, 528 * kMiB, 132,
            232448, false, false, 0.9 * 3350e9},
    FakeGpu{"h100-mig", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA H100 80GB HBM3", 9, 0, 9856 * kMiB, 81559 * kMiB,
            128 * kMiB, 16, 232448, false, true, 0.9 * 3350e9 / 8},
};

std::vector<FakeGpu> chosen() {
  std::vector<FakeGpu> out;
  std::string names = setting("KVFIT_FAKE_GPUS");
  if (names.empty()) names = "rtx5090-laptop";
  for (std::string_view rest = names; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    for (const FakeGpu& gpu : kTable) {
      if (rest.substr(0, comma) == gpu.key) out.push_back(gpu);
    }
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return out;
}

}  // namespace

const std::vector<FakeGpu>& fake_gpus() {
  static const std::vector<FakeGpu> gpus = chosen();
  return gpus;
}

std::string pci_id_of(std::size_t gpu) {
  std::array<char, 32> text{};
  const unsigned bus = static_cast<unsigned>(fake_gpus().size() - gpu);
  std::snprintf(text.data(), text.size(), "0000:%02x:00.0", bus);
  return text.data();
}

void uuid_of(std::size_t gpu, bool slice, unsigned char out[16]) {
  for (unsigned i = 0; i < 16; ++i) out[i] = static_cast<unsigned char>(16 * (gpu + 1) + i + (slice ? 128 : 0));
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t number(const char* name, std::uint64_t fallback) {
  const std::string value = setting(name);
  return value.empty() ? fallback : std::strtoull(value.c_str(), nullptr, 10);
}

std::uint64_t mib(const char* name, std::uint64_t fallback_bytes) {
  return setting(name).empty() ? fallback_bytes : number(name, 0) * kMiB;
}

Faults::Faults(const std::string& prefix)
    : fail_at_(number((prefix + "_FAIL_AT").c_str(), 0)),
      fail_call_(setting((prefix + "_FAIL_CALL").c_str())),
      fail_with_(static_cast<int>(number((prefix + "_FAIL_WITH").c_str(), 999))) {}

int Faults::next(const char* call) {
  ++calls_;
  if (!fail_call_.empty() && fail_call_ != call) return 0;
  return ++counted_ == fail_at_ ? fail_with_ : 0;
}

}  // namespace kvfit::fakes
