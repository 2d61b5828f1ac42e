#include "cli/deployment_source.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/flags.h"
#include "cli/model_source.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"
#include "runtime/serve_command.h"
#include "runtime/serve_words.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::fail_input;
using profiles::format;

std::string name_of(const runtime::ServeCall& call) { return call.name.empty() ? "call 1" : call.name; }

// "service llm" is meant by that and by "llm", "Deployment/qwen" by "qwen" too.
bool is_named(const std::string& name, const std::string& wanted) {
  return name == wanted || name.ends_with(" " + wanted) || name.ends_with("/" + wanted);
}

const runtime::ServeCall& the_call(const std::vector<runtime::ServeCall>& calls, const std::string& file,
                                   const std::optional<std::string>& only) {
  std::vector<std::string> names;
  const runtime::ServeCall* found = nullptr;
  std::size_t count = 0;
  for (const runtime::ServeCall& call : calls) {
    names.push_back(name_of(call));
    if (only && !is_named(names.back(), *only)) continue;
    found = &call;
    ++count;
  }
  if (count == 1) return *found;
  const std::string all = format("{}", profiles::join(names, ", "));
  if (!only) {
    fail_input(format("{} deployments in one file, wanted is one: {}", calls.size(), all), {.file = file},
               format("--only '{}' takes the first", names.front()));
  }
  fail_input(format("{} deployment of this file is called '{}': {}", count == 0 ? "no" : "more than one", *only, all),
             {.file = file}, profiles::did_you_mean(*only, names));
}

CheckCase answer_only(const std::vector<runtime::ServeCall>& calls, const std::string& file, const Answerer& answerer,
                      const std::optional<std::string>& only) {
  const runtime::ServeCall& call = the_call(calls, file, only);
  runtime::CallContext context = answerer.context_for(file);
  context.read = files_beside(file);
  CheckCase out = answerer.answer(runtime::read_call(call, context), file);
  if (out.report) return out;
  for (const Placed& placed : out.findings) {
    if (placed.finding.id == "KVF000") fail_input(placed.finding.text, placed.where, placed.finding.hint);
  }
  fail_input("this deployment has no answer", {.file = file}, "kvfit check says why");
}

}  // namespace

ProjectConfig open_project_config(const Args& args) {
  const std::string named = args.text("config").value_or("");
  const std::string path = named.empty() ? find_project_config(".") : named;
  if (path.empty() || named == "none") return {};
  return read_project_config(profiles::parse_yaml(profiles::read_text_file(path), path));
}

runtime::FileReader files_beside(const std::string& file) {
  const fs::path directory = fs::path(file).parent_path();
  return [directory](const std::string& path) -> std::optional<std::string> {
    std::error_code error;
    const fs::path full = fs::path(path).is_absolute() ? fs::path(path) : directory / path;
    if (!fs::is_regular_file(full, error)) return std::nullopt;
    try {
      return profiles::read_text_file(full.string(), runtime::kLargestDeployment);
    } catch (const profiles::Error&) {
      return std::nullopt;
    }
  };
}

std::vector<runtime::ServeCall> command_line_calls(const std::vector<std::string>& words) {
  std::string text;
  std::vector<runtime::Word> line;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + runtime::shell_quoted(word);
  const runtime::TextPlaces places("<command line>", text);
  std::size_t at = 0;
  for (const std::string& word : words) {
    line.push_back({.text = word, .where = places.at(at), .whole = true});
    at += runtime::shell_quoted(word).size() + 1;
  }
  std::vector<runtime::ServeCall> calls = runtime::find_serve(line, places);
  if (calls.empty()) {
    fail_input("what follows -- does not start vLLM", {}, "write kvfit check --gpu ... -- vllm serve MODEL ...");
  }
  for (runtime::ServeCall& call : calls) call.kind = "command line";
  return calls;
}

void no_deployment(const std::string& file) {
  fail_input(
      "no deployment of vLLM in this file", {.file = file},
      "kvfit reads vllm serve command lines, --config files, compose, Kubernetes, Ray, units, scripts and saved plans");
}

std::vector<runtime::ServeCall> file_calls(const std::string& path, const runtime::FlagTable& flags) {
  const std::string name = path == "-" ? "<stdin>" : path;
  std::vector<runtime::ServeCall> calls =
      runtime::find_calls(read_text(path), name, {.flags = &flags, .read = files_beside(path)});
  if (calls.empty()) no_deployment(name);
  return calls;
}

CheckCase answer_file(const std::string& path, const Answerer& answerer, const std::optional<std::string>& only) {
  return answer_only(file_calls(path, answerer.flags()), path == "-" ? "" : path, answerer, only);
}

CheckCase answer_words(const std::vector<std::string>& words, const Answerer& answerer) {
  return answer_only(command_line_calls(words), "", answerer, std::nullopt);
}

void refuse_serving_flags(const Args& args) {
  for (const Flag& flag : flags()) {
    if (flag.group != "Serving" || !belongs(flag, args.verb) || !args.has(flag.name)) continue;
    fail_input(format("--{} stands beside a deployment that says its own", flag.name), {},
               "change the deployment, or give the flags alone");
  }
}

}  // namespace kvfit::cli
