#include "runtime/engine_run.h"

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <utility>

#include "profiles/json.h"
#include "runtime/http.h"
#include "runtime/nvml.h"
#include "runtime/stopwatch.h"

namespace kvfit::runtime {
namespace {

using profiles::Bytes;
using profiles::Json;

constexpr int kTicksToDie = 20;
constexpr int kTickMs = 100;          // between two samples of memory
constexpr double kHealthSeconds = 2;  // for one answer of /health
constexpr double kGraceSeconds = 20;  // an engine with many workers takes a while to end
constexpr std::int64_t kAnswerTokens = 8;

// A prompt as token numbers, so that its length is known without a tokenizer; small numbers exist in every vocabulary.
std::string request_text(const std::string& model, std::int64_t tokens) {
  Json prompt = Json::array();
  for (std::int64_t i = 0; i < tokens; ++i) prompt.push_back(100 + i * 7 % 900);
  return Json({{"model", model}, {"prompt", prompt}, {"max_tokens", kAnswerTokens}, {"temperature", 0}}).dump();
}

std::int64_t count_at(const Json& usage, const char* key) {
  return usage.is_object() && usage.contains(key) && usage[key].is_number_integer() ? usage[key].get<std::int64_t>() : 0;
}

Completion read_completion(const std::optional<HttpAnswer>& answer, double seconds) {
  Completion out{.seconds = seconds};
  if (!answer) {
    out.error = "no answer";
    return out;
  }
  out.status = answer->status;
  const Json body = Json::parse(answer->body, nullptr, false);
  if (out.status != 200) {
    out.error = answer->body.substr(0, 500);
  } else if (body.is_object() && body.contains("usage")) {
    out.prompt_tokens = count_at(body["usage"], "prompt_tokens");
    out.completion_tokens = count_at(body["usage"], "completion_tokens");
  }
  return out;
}

class EngineWatcher {
 public:
  EngineWatcher(const EngineOptions& options, const EngineWatch& watch)
      : options_(options), watch_(watch), nvml_(options.pci_bus_id.empty() ? nullptr : Nvml::open(no_nvml_)) {
    sample();
    run_.used_before = run_.used_peak;
  }

  EngineRun run() {
    since_start_ = Stopwatch();
    child_ = std::make_unique<ChildProcess>(options_.child);
    until_ready();
    if (run_.end == EngineEnd::ready) {
      const std::string model = served_model();
      if (options_.completion) run_.completion = complete(model, 8);
      if (options_.long_prompt > 0) run_.long_prompt = complete(model, options_.long_prompt);
    }
    child_->end(kGraceSeconds);
    take_output();
    return std::move(run_);
  }

 private:
  void until_ready() {
    while (since_start_.seconds() < options_.ready_seconds) {
      tick();
      if (const std::optional<int> status = child_->poll_exit()) {
        take_output();
        run_.exit_status = *status;
        run_.end = *status == kNotStarted && run_.log.lines <= 1 ? EngineEnd::not_started : EngineEnd::exited;
        return;
      }
      if (healthy()) {
        run_.end = EngineEnd::ready;
        run_.ready_seconds = since_start_.seconds();
        return;
      }
    }
    run_.end = EngineEnd::timed_out;
  }

  bool healthy() const {
    const std::optional<HttpAnswer> answer = http_get(options_.port, "/health", kHealthSeconds);
    return answer && answer->status == 200;
  }

  // Waits a little for output, reads it, and looks at the device's memory.
  void tick() {
    pollfd waiting{.fd = open_ ? child_->output() : -1, .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, kTickMs);
    const std::size_t before = lines_;
    take_output();
    sample();
    if (lines_ == before) watch_("", run_, since_start_.seconds());
  }

  void take_output() {
    if (open_) open_ = child_->read_into(run_.text);
    for (std::size_t end = run_.text.find('\n', read_to_); end != std::string::npos; end = run_.text.find('\n', read_to_)) {
      const std::string line = run_.text.substr(read_to_, end - read_to_);
      read_to_ = end + 1;
      ++lines_;
      read_boot_line(line, run_.log);
      watch_(line, run_, since_start_.seconds());
    }
  }

  void sample() {
    const std::optional<Bytes> used = nvml_ ? nvml_->used(options_.pci_bus_id) : std::nullopt;
    if (used && (!run_.used_peak || *used > *run_.used_peak)) run_.used_peak = used;
  }

  // The engine lists under which name it serves; a completion must say it.
  std::string served_model() const {
    const std::optional<HttpAnswer> answer = http_get(options_.port, "/v1/models", kHealthSeconds);
    if (!answer) return "";
    const Json body = Json::parse(answer->body, nullptr, false);
    const bool listed = body.is_object() && body.contains("data") && body["data"].is_array() && !body["data"].empty() &&
                        body["data"][0].is_object() && body["data"][0].contains("id") && body["data"][0]["id"].is_string();
    return listed ? body["data"][0]["id"].get<std::string>() : "";
  }

  // Memory is sampled while the engine works on the answer.
  Completion complete(const std::string& model, std::int64_t tokens) {
    const std::string text = request_text(model, tokens);
    const Stopwatch watch;
    std::future<std::optional<HttpAnswer>> answer = std::async(std::launch::async, [this, &text] {
      return http_post_json(options_.port, "/v1/completions", text, options_.answer_seconds);
    });
    while (answer.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready) {
      tick();
      note_death();
    }
    const std::optional<HttpAnswer> said = answer.get();
    const double seconds = watch.seconds();
    // A connection breaks a moment before the process that held it is gone.
    for (int i = 0; i < kTicksToDie && !said && !note_death(); ++i) tick();
    return read_completion(said, seconds);
  }

  bool note_death() {
    if (const std::optional<int> status = child_->poll_exit()) {
      run_.died_later = true;
      run_.exit_status = *status;
    }
    return run_.died_later;
  }

  const EngineOptions& options_;
  const EngineWatch& watch_;
  std::string no_nvml_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<ChildProcess> child_;
  Stopwatch since_start_;
  EngineRun run_;
  std::size_t read_to_ = 0, lines_ = 0;
  bool open_ = true;
};

}  // namespace

EngineRun run_engine(const EngineOptions& options, const EngineWatch& watch) { return EngineWatcher(options, watch).run(); }

}  // namespace kvfit::runtime
