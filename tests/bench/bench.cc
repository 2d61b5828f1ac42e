// kvfit_bench KVFIT: speed and memory of this build. Wall times of a busy machine say little, so a process is also told as a
// ratio to `true` in the same run, and work within a process as CPU time. (--make DIR and --inventory DIR are its own parts,
// each in a process of its own, so that one's memory is not counted as another's.)
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/check_bench.h"
#include "tests/bench/evaluation_bench.h"
#include "tests/bench/inventory_bench.h"
#include "tests/bench/process_time.h"
#include "tests/support/temp_directory.h"

namespace kvfit::bench {
namespace {

void report(const std::string& what, double value, const std::string& unit, const std::string& aim) {
  std::printf("%-62s %10.1f %-5s %s\n", what.c_str(), value, unit.c_str(), aim.c_str());
}

void bench_process(const std::string& kvfit) {
  const std::vector<std::string> plan = {kvfit, "plan", "--gpu", "rtx5090-24g"};
  const Pair pair = compare_processes(plan, {"/bin/true"}, 101);
  report("kvfit plan --gpu rtx5090-24g, whole process, median of 101", pair.first.wall.count(), "ms", "at most 10");
  report("  of which CPU", pair.first.cpu.count(), "ms", "");
  report("true, by turns with it", pair.second.wall.count(), "ms", "");
  report("  ratio", pair.first.wall / pair.second.wall, "x", "");
}

void bench_inventory(const std::string& self) {
  const tests::TempDirectory directory;
  output_of({self, "--make", directory.path().string()});
  std::istringstream out(output_of({self, "--inventory", directory.path().string()}));
  InventoryCost cost;
  out >> cost.tensors >> cost.milliseconds >> cost.peak_mib;
  report("headers of 163 files, tensors", static_cast<double>(cost.tensors), "", "");
  report("  read into an inventory, CPU time, best of 5", cost.milliseconds, "ms", "at most 150");
  report("  peak resident memory of the process", cost.peak_mib, "MiB", "at most 64");
}

void bench_check(const std::string& kvfit) {
  constexpr int kFiles = 200;
  const tests::TempDirectory directory;
  make_deployments(directory.path().string(), kFiles);
  const std::vector<std::string> check = {kvfit, "check", "--config", "none", "--gpu", "l40s", directory.path().string()};
  const Pair pair = compare_processes(check, {"/bin/true"}, 5);
  report("kvfit check over 200 deployment files, whole process, median of 5", pair.first.wall.count(), "ms", "at most 2000");
  report("  of which CPU", pair.first.cpu.count(), "ms", "");
}

int run(const std::vector<std::string>& args) {
  if (args.size() == 3 && args[1] == "--make") {
    make_checkpoint(args[2]);
    return 0;
  }
  if (args.size() == 3 && args[1] == "--inventory") {
    const InventoryCost cost = read_checkpoint_headers(args[2]);
    std::printf("%lld %f %f\n", cost.tensors, cost.milliseconds, cost.peak_mib);
    return 0;
  }
  if (args.size() != 2) {
    std::fprintf(stderr, "usage: kvfit_bench KVFIT\n");
    return 2;
  }
  bench_process(args[1]);
  report("configurations priced in a second of CPU time", evaluations_per_second(), "", "at least 100,000");
  bench_check(args[1]);
  bench_inventory(std::filesystem::canonical("/proc/self/exe").string());
  return 0;
}

}  // namespace
}  // namespace kvfit::bench

int main(int argc, char** argv) {
  try {
    return kvfit::bench::run(std::vector<std::string>(argv, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvfit_bench: %s\n", error.what());
    return 1;
  }
}
