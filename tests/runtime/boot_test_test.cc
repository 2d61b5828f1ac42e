// The boot test against the fake driver of tests/fakes, which ctest puts on LD_LIBRARY_PATH.
#include "runtime/boot_test.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/boot_verdict.h"

namespace kvfit::runtime {
namespace {

using planner::Section;
using planner::Verdict;
using profiles::gib;
using profiles::kMiB;
using profiles::mib;

// Settings of the fake for one test: "NAME=value".
class Settings {
 public:
  Settings(std::initializer_list<std::string> words) {
    for (const std::string& word : words) {
      names_.push_back(word.substr(0, word.find('=')));
      ::setenv(names_.back().c_str(), word.substr(word.find('=') + 1).c_str(), 1);
    }
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

BootPlan plan_of(std::vector<Bytes> sizes) {
  BootPlan out{.total = mib(23990), .free_at_start = mib(23744), .utilization = 0.9, .bandwidth = 896e9};
  for (const Bytes size : sizes) {
    const std::string label = "entry." + std::to_string(out.entries.size());
    out.entries.push_back({.label = label, .text = label, .section = Section::weights, .bytes = size});
  }
  out.left_free = out.free_at_start - out.sum();
  return out;
}

BootMeasurement run(const BootPlan& plan, const BootOptions& options = {}) {
  const CudaDriver driver;
  const std::vector<CudaDevice> devices = cuda_devices(driver);
  return run_boot_test(driver, devices.front(), plan, options, [](std::string_view, Bytes, Bytes) {});
}

const BootCheck& check_of(const std::vector<BootCheck>& checks, const std::string& id) {
  for (const BootCheck& check : checks) {
    if (check.id == id) return check;
  }
  FAIL("no check " << id);
  return checks.front();
}

TEST_CASE("a plan that fits is held, written, read back and given back to the byte") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop"};
  const BootPlan plan = plan_of({gib(16), mib(3), Bytes(146241), gib(5)});
  const BootMeasurement measured = run(plan);
  CHECK(measured.total == mib(23990));
  CHECK(measured.free_at_start == mib(23990 - 246));  // the context
  CHECK(measured.free_at_end == measured.free_at_start);
  CHECK(measured.held == plan.sum());
  for (const MeasuredEntry& entry : measured.entries) CHECK(entry.state == EntryState::held);
  const std::vector<BootCheck> checks = judge_boot(plan, measured);
  CHECK(check_of(checks, "contents").measured == 0);
  CHECK(check_of(checks, "allocation").verdict == Verdict::fits);
  CHECK(check_of(checks, "total").verdict == Verdict::fits);
  // The fake gives memory in granules of 2 MiB: 16 GiB + 4 + 2 + 5 GiB, and 2 for the results of kernels.
  CHECK(measured.free_when_full == measured.free_at_start - gib(21) - mib(4 + 2 + 2));
}

TEST_CASE("the entry that does not fit is named, with what of it could be had") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop", "KVFIT_FAKE_USED_MIB=4096"};
  const BootPlan plan = plan_of({gib(16), gib(5), mib(100)});
  const BootMeasurement measured = run(plan);
  REQUIRE(failed_entry(measured) != nullptr);
  CHECK(failed_entry(measured)->entry.label == "entry.1");
  // Free: 23990 - 246 - 4096 = 19648 MiB; less 16 GiB and 2 MiB of results: 3262 MiB. Parts of 2560, 640 and 40 MiB fit,
  // then 20 MiB: 3260.
  CHECK(failed_entry(measured)->obtained == mib(3260));
  CHECK(usable(measured) == gib(16) + mib(3260));
  CHECK(measured.entries[2].state == EntryState::untried);
  CHECK(measured.free_at_end == measured.free_at_start);
  CHECK(boot_verdict(judge_boot(plan, measured)) == Verdict::does_not_fit);
}

TEST_CASE("an MPS limit shows when memory is taken, and the remark says so") {
  const Settings settings{"KVFIT_FAKE_GPUS=h100", "KVFIT_FAKE_LIMIT_MIB=8192"};
  const BootPlan plan = plan_of({gib(4), gib(10)});
  const std::vector<BootCheck> checks = judge_boot(plan, run(plan));
  CHECK(check_of(checks, "allocation").remark ==
        "no memory for 'entry.1': 3.98 GiB of its 10.00 GiB could be had; an MPS limit may hold "
        "(CUDA_MPS_PINNED_DEVICE_MEM_LIMIT)");
}

TEST_CASE("a bit that flips is found, with its entry and offset") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop", "KVFIT_FAKE_FLIP=2:805306373"};
  // Allocation 0 holds the kernels' results, so 2 is the second entry. 805306373 = 768 MiB + 5: word at 768 MiB.
  const BootPlan plan = plan_of({gib(1), gib(2)});
  const BootMeasurement measured = run(plan);
  CHECK(measured.entries[0].state == EntryState::held);
  CHECK(measured.entries[1].state == EntryState::damaged);
  CHECK(measured.entries[1].mismatches == 1);
  CHECK(measured.entries[1].first_bad == mib(768));
  CHECK(check_of(judge_boot(plan, measured), "contents").remark ==
        "first in 'entry.1' at offset 805306368: the memory is faulty, or the allocation is not backed");
}

TEST_CASE("memory that is allocated but not there reads back differently") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop", "KVFIT_FAKE_UNBACKED_MIB=2048"};
  const BootMeasurement measured = run(plan_of({gib(1), gib(3)}));
  CHECK(measured.entries[0].state == EntryState::held);
  CHECK(measured.entries[1].state == EntryState::damaged);
}

TEST_CASE("a spill shows as bandwidth far below the profile's, though every allocation succeeds") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop", "KVFIT_FAKE_SPILL_MIB=20480"};
  // 2 of 22 GiB at 20 GB/s: about 107 ms beside 27 ms for the rest, so less than a quarter of 896 GB/s.
  const BootPlan plan = plan_of({gib(20), gib(2), gib(2)});
  const BootMeasurement measured = run(plan);
  CHECK(measured.held == plan.sum());
  CHECK(check_of(judge_boot(plan, measured), "write_rate").verdict == Verdict::does_not_fit);
  CHECK(check_of(judge_boot(plan, measured), "left_free").verdict == Verdict::does_not_fit);
}

TEST_CASE("a limit ends the test within the entry that exceeds it, which is no failure") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop"};
  const BootPlan plan = plan_of({gib(2), gib(2), mib(1)});
  const BootMeasurement measured = run(plan, {.limit = gib(3)});
  CHECK(measured.held == gib(3));
  CHECK(measured.entries[1].state == EntryState::capped);
  CHECK(measured.entries[1].obtained == gib(1));
  CHECK(measured.entries[2].state == EntryState::capped);
  CHECK(failed_entry(measured) == nullptr);
  CHECK(check_of(judge_boot(plan, measured), "allocation").remark == "only 3.00 GiB were tried: --limit bounds the test");
}

TEST_CASE("unified memory is never filled beyond what the host has available, less a reserve of 1 GiB") {
  const Settings settings{"KVFIT_FAKE_GPUS=gb10"};
  const BootPlan plan = plan_of({gib(6), gib(4)});
  const BootMeasurement measured = run(plan, {.limit = gib(100), .memory_available = gib(8)});
  CHECK(measured.held == gib(7));
  CHECK(measured.cap == gib(7));
  CHECK(measured.cap_reason == "MemAvailable");
  REQUIRE(failed_entry(measured) != nullptr);
  CHECK(usable(measured) == gib(7));
  CHECK(check_of(judge_boot(plan, measured), "allocation").remark ==
        "'entry.1' is beyond what the host can give (MemAvailable): filling it could take the machine down");
  // A discrete GPU is not bounded by it.
  const Settings discrete{"KVFIT_FAKE_GPUS=h100"};
  CHECK(run(plan, {.memory_available = gib(8)}).held == gib(10));
}

TEST_CASE("less free than the engine asks for at start is a no, whatever can be allocated") {
  const Settings settings{"KVFIT_FAKE_GPUS=rtx5090-laptop", "KVFIT_FAKE_USED_MIB=3000"};
  // 0.9 x 23990 = 21591 MiB asked for; free: 23990 - 246 - 3000 = 20744 MiB.
  const BootPlan plan = plan_of({gib(1)});
  const BootCheck check = check_of(judge_boot(plan, run(plan)), "free_at_start");
  CHECK(check.verdict == Verdict::does_not_fit);
  CHECK(check.measured == 20744.0 * kMiB);
}

TEST_CASE("a ledger becomes allocations: what came before the engine and what stays free are left out") {
  planner::Ledger ledger{.total = Bytes(1000)};
  const auto add = [&ledger](std::string label, Section section, std::int64_t bytes) {
    ledger.entries.push_back({.label = label, .text = label, .section = section, .bytes = Bytes(bytes)});
  };
  add("context", Section::before_engine, 100);
  add("experts", Section::weights, 400);
  add("outside", Section::outside, 20);
  add("pool", Section::kv_cache, 200);
  add("activation", Section::profile, 50);
  add("correction", Section::profile, -60);  // takes the activation and 10 of the experts
  add("free", Section::free, 290);
  const BootPlan plan = boot_plan(ledger);
  REQUIRE(plan.entries.size() == 3);
  CHECK(plan.entries[0].bytes.count == 390);
  CHECK(plan.entries[1].label == "pool");
  CHECK(plan.entries[2].label == "outside");
  CHECK(plan.free_at_start.count == 900);
  CHECK(plan.left_free.count == 290);
  CHECK(plan.sum() == plan.free_at_start - plan.left_free);
}

}  // namespace
}  // namespace kvfit::runtime
