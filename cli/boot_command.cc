// kvfit boot [PLAN.json] [-- COMMAND...]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/boot_report.h"
#include "cli/carve_progress.h"
#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/engine_command.h"
#include "cli/make_report.h"
#include "cli/wanted_plan.h"
#include "models/checkpoint.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/write_file.h"
#include "runtime/checkpoint_stream.h"
#include "runtime/host_facts.h"
#include "runtime/replan.h"

namespace kvfit::cli {
namespace {

using profiles::fail_input;
using profiles::format;

// CUDA's device that is the N-th in PCI order.
const runtime::CudaDevice& device_of(std::vector<runtime::CudaDevice>& devices, std::int64_t index) {
  std::stable_sort(devices.begin(), devices.end(),
                   [](const runtime::CudaDevice& a, const runtime::CudaDevice& b) { return a.pci_bus_id < b.pci_bus_id; });
  if (index >= static_cast<std::int64_t>(devices.size())) {
    fail_input(format("no GPU {}: the driver shows {}", index, devices.size()), {}, "see kvfit gpus detect");
  }
  return devices[static_cast<std::size_t>(index)];
}

runtime::BootPlan boot_plan_of(const WantedPlan& wanted) {
  runtime::BootPlan out = runtime::boot_plan(wanted.ledger);
  const bool stated_pool = wanted.report.question.serving.kv_cache_memory_bytes.has_value();
  out.utilization = stated_pool ? 0 : wanted.utilization;
  out.bandwidth = wanted.report.question.node.gpu.bandwidth.value;
  if (out.entries.empty()) fail_input("this plan allocates nothing");
  return out;
}

runtime::BootOptions options_from(const Args& args) {
  return {.limit = args.size("limit"),
          .memory_available = runtime::memory_available(),
          .hold_seconds = args.number("hold").value_or(2)};
}

// The same configuration, nothing searched: what a flag leaves open is as the plan chose it.
void fix_choices(Report& report) {
  const planner::Plan& plan = report.plan;
  planner::Question& question = report.question;
  question.search.experts = question.search.context = question.search.sequences = false;
  question.search.experts_fixed = plan.experts;
  question.serving.max_model_len = plan.settings.max_model_len;
  question.serving.max_num_seqs = plan.settings.max_num_seqs;
  const auto state = [&report](std::string_view flag, std::int64_t value) {
    const auto given = [flag](const std::string& word) { return word.starts_with(flag); };
    if (value > 0 && std::none_of(report.arguments.begin(), report.arguments.end(), given)) {
      report.arguments.push_back(format("{}{}", flag, value));
    }
  };
  state("--experts=", plan.experts);
  state("--max-model-len=", plan.settings.max_model_len);
  state("--max-num-seqs=", plan.settings.max_num_seqs);
}

Report remade(const Report& report, const runtime::BootMeasurement& measured, bool largest) {
  Report out = report;
  if (!largest) fix_choices(out);
  out.question =
      runtime::with_measured(out.question, measured.total, runtime::usable(measured), "a boot test on this machine");
  if (largest) out.question = runtime::largest_question(out.question, report.plan);
  plan_again(out);
  return out;
}

constexpr const char* kAfterStop = "nothing is left on the GPU";

void test_memory(const Args& args, const Console& console, const runtime::CudaDriver& driver,
                 const runtime::CudaDevice& device, BootReport& report) {
  CarveProgress line(console, args.toggle("progress").value_or(console.err().terminal), kAfterStop);
  const runtime::BootProgress progress = [&line](std::string_view what, profiles::Bytes done, profiles::Bytes all) {
    line({what, done.count, all.count});
  };
  report.measured = runtime::run_boot_test(driver, device, report.plan, options_from(args), progress);
  report.checks = runtime::judge_boot(report.plan, report.measured);
  const std::optional<std::string> directory = args.text("checkpoint");
  if (!directory || runtime::failed_entry(report.measured) != nullptr) return;
  const models::Checkpoint checkpoint = models::find_checkpoint(*directory);
  const runtime::StreamMeasurement streamed = runtime::stream_checkpoint(driver, device, checkpoint, progress);
  for (runtime::BootCheck& check : runtime::judge_stream(streamed)) report.checks.push_back(std::move(check));
  if (streamed.matrix) report.expert_tensor = streamed.matrix->tensor;
  if (!streamed.matrix) report.remarks.push_back("this checkpoint has no routed expert in NVFP4: no product was compared");
}

int boot_memory(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  const WantedPlan wanted = wanted_plan(args, catalog);
  const runtime::CudaDriver driver;
  std::vector<runtime::CudaDevice> devices = runtime::cuda_devices(driver);
  BootReport report{.what = planned_text(wanted.report), .gpu = wanted.report.question.node.gpu.id};
  report.plan = boot_plan_of(wanted);
  report.driver_library = driver.library();
  report.cuda_version = driver.version();
  report.wsl2 = runtime::host_system() == hardware::System::wsl2;
  test_memory(args, console, driver, device_of(devices, args.integer("device").value_or(0)), report);
  const bool failed = verdict_of(report) == planner::Verdict::does_not_fit;
  if (failed && runtime::usable(report.measured).count > 0) report.largest = remade(wanted.report, report.measured, true);
  if (wanted.report.question.node.count > 1) {
    report.remarks.push_back(format("this shows rank {} of {} GPUs; --rank and --device name another, one run each",
                                    wanted.ledger.rank, wanted.report.question.node.count));
  }
  deliver(args, console, boot_listing(report));
  if (const std::optional<std::string> path = args.text("save")) {
    profiles::write_file(*path, json_text(json_value(remade(wanted.report, report.measured, false))));
    console.note(format("wrote {}", *path));
  }
  return failed ? kNo : kYes;
}

}  // namespace

int boot_command(const Args& args, const Console& console) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  if (args.has("engine")) return boot_engine(args, console, wanted_plan(args, catalog));
  if (!args.trailing.empty()) fail_input("a command behind -- is for --engine", {}, "add --engine vllm");
  return boot_memory(args, console, catalog);
}

}  // namespace kvfit::cli
