#include "cli/engine_command.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/carve_progress.h"
#include "cli/commands.h"
#include "cli/engine_report.h"
#include "planner/evaluator.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/write_file.h"
#include "runtime/http.h"
#include "runtime/log_settings.h"
#include "runtime/nvml.h"
#include "runtime/serve_command.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using runtime::EngineRun;

constexpr std::int64_t kRoomForAnswer = 64;  // tokens of a long prompt's context that stay free

// The engine's lines as they mean something: redrawn on a terminal, one line a stage elsewhere.
class EngineView {
 public:
  EngineView(const Console& console, bool shown)
      : console_(console), shown_(shown), stop_(console, false, "the engine was ended") {}
  EngineView(const EngineView&) = delete;
  EngineView& operator=(const EngineView&) = delete;
  ~EngineView() {
    if (drawn_) console_.complain("\n");
  }

  void operator()(const EngineRun& run, double seconds) {
    stop_({"engine", 0, 0});
    if (!shown_) return;
    const std::string stage = run.end == runtime::EngineEnd::ready ? "ready: sending completions" : stage_text(run.log);
    if (console_.err().terminal) {
      console_.complain(format("\r\x1b[K{:>5.0f} s  {}", seconds, stage));
      drawn_ = true;
    } else if (stage != last_) {
      console_.complain(format("{:.0f} s: {}\n", seconds, stage));
    }
    last_ = stage;
  }

 private:
  const Console& console_;
  bool shown_, drawn_ = false;
  CarveProgress stop_;
  std::string last_;
};

std::string nth_pci_id(std::int64_t index) {
  std::string why;
  const std::unique_ptr<runtime::Nvml> nvml = runtime::Nvml::open(why);
  if (!nvml) return "";
  const std::vector<runtime::NvmlDevice> devices = nvml->devices();
  return index < static_cast<std::int64_t>(devices.size()) ? devices[static_cast<std::size_t>(index)].pci_bus_id : "";
}

runtime::EngineOptions options_from(const Args& args, const WantedPlan& wanted) {
  runtime::EngineOptions out{.port = static_cast<std::uint16_t>(args.integer("port").value_or(8000)),
                             .ready_seconds = args.number("timeout").value_or(1800),
                             .completion = args.toggle("completion").value_or(true),
                             .pci_bus_id = nth_pci_id(args.integer("device").value_or(0))};
  const std::int64_t length = wanted.report.plan.settings.max_model_len;
  if (args.toggle("long-prompt").value_or(false)) out.long_prompt = std::max<std::int64_t>(1, length - kRoomForAnswer);
  if (!args.trailing.empty()) {
    out.child.arguments = args.trailing;
    return out;
  }
  if (!wanted.report.serve) {
    profiles::fail_input("this plan does not run, so there is no command to start", {},
                         "give one behind --: kvfit boot --engine vllm -- vllm serve ...");
  }
  out.child.arguments = runtime::argument_list(*wanted.report.serve);
  for (const std::string& word :
       {std::string("--host"), std::string("127.0.0.1"), std::string("--port"), std::to_string(out.port)}) {
    out.child.arguments.push_back(word);
  }
  out.child.environment = wanted.report.serve->environment;
  // Versions before 0.24 print what memory is used for only at this level.
  if (!process_environment()("VLLM_LOGGING_LEVEL")) out.child.environment.push_back("VLLM_LOGGING_LEVEL=DEBUG");
  return out;
}

// The plan's own settings, and over them what the log states.
planner::Question compared_question(const WantedPlan& wanted, const runtime::BootLog& log) {
  planner::Question out = wanted.report.question;
  const planner::Plan& plan = wanted.report.plan;
  out.serving.max_model_len = plan.settings.max_model_len;
  out.serving.max_num_seqs = plan.settings.max_num_seqs;
  out.search.experts_fixed = plan.experts;
  out.serving = runtime::settings_from_log(log, out.serving);
  return out;
}

bool comparable(const runtime::BootLog& log) {
  return !log.weights.empty() || !log.available_kv.empty() || !log.total.empty() || log.refused_with;
}

}  // namespace

int boot_engine(const Args& args, const Console& console, const WantedPlan& wanted) {
  const runtime::EngineOptions options = options_from(args, wanted);
  if (runtime::http_get(options.port, "/health", 1)) {
    profiles::fail_environment(format("something already answers on port {}", options.port), {},
                               "end it, or give another --port");
  }
  const hardware::Gpu& gpu = wanted.report.question.node.gpu;
  EngineReport report{.what = planned_text(wanted.report),
                      .gpu_name = gpu.name,
                      .engine = format("{} {}", wanted.report.engine, wanted.report.engine_version),
                      .command = options.child.arguments};
  {
    EngineView view(console, args.toggle("progress").value_or(console.err().terminal));
    report.run = runtime::run_engine(
        options, [&view](std::string_view, const EngineRun& run, double seconds) { view(run, seconds); });
  }
  if (const std::optional<std::string> path = args.text("log")) profiles::write_file(*path, report.run.text);
  if (report.run.end == runtime::EngineEnd::not_started) {
    profiles::fail_environment(format("'{}' cannot be started", options.child.arguments.front()), {},
                               "install the engine, or give the command behind --");
  }
  report.planned_peak = wanted.ledger.total - wanted.ledger.sum(planner::Section::free);
  if (comparable(report.run.log)) {
    report.comparison = runtime::compare(report.run.log, planner::Evaluator(compared_question(wanted, report.run.log)));
  }
  deliver(args, console, engine_listing(report));
  const planner::Verdict verdict = verdict_of(report);
  return verdict == planner::Verdict::fits ? kYes : verdict == planner::Verdict::unknown ? kNoAnswer : kNo;
}

}  // namespace kvfit::cli
