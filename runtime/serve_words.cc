#include "runtime/serve_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvfit::runtime {
namespace {

using Words = std::vector<Word>;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

bool is_shell(std::string_view word) { return is_one_of(base_name(word), {"sh", "bash", "dash", "zsh", "ash"}); }

Words rest(const Words& words, std::size_t from) {
  return from < words.size() ? Words(words.begin() + static_cast<std::ptrdiff_t>(from), words.end()) : Words();
}

ServeCall call_of(const Words& words, std::size_t program, std::size_t first) {
  ServeCall out;
  out.where = words[program].where;
  out.words = rest(words, first);
  return out;
}

// A model must be named somewhere, or this is another program of the image (a router, a benchmark).
bool names_model(const Words& words) {
  if (words.empty()) return false;
  if (!words.front().text.starts_with('-')) return true;
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    const std::string_view flag = std::string_view(word.text).substr(0, word.text.find('='));
    return flag == "--model" || flag == "--config";
  });
}

// "--gpus all", "--gpus 2", "--gpus '\"device=0,1\"'".
void read_gpus(const Word& word, GpuRequest& out) {
  std::string text = word.text;
  std::erase(text, '"');
  out.where = word.where;
  const std::size_t device = text.find("device=");
  if (device != std::string::npos) {
    out.count = 1 + std::count(text.begin() + static_cast<std::ptrdiff_t>(device), text.end(), ',');
    return;
  }
  if (text.starts_with("count=")) text.erase(0, 6);
  std::int64_t count = 0;
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && count > 0) out.count = count;
}

void add_variable(const Word& word, std::vector<EnvironmentVariable>& out) {
  const std::size_t equals = word.text.find('=');
  if (equals == std::string::npos || equals == 0) return;
  out.push_back({word.text.substr(0, equals), word.text.substr(equals + 1), word.where});
}

// What stands between `docker run` and the image.
struct RunFlags {
  std::size_t image = 0;  ///< index of the image; past the end when there is none
  Words entrypoint;
  std::vector<EnvironmentVariable> environment;
  GpuRequest gpus;
};

RunFlags read_run_flags(const Words& words, std::size_t at) {
  RunFlags out;
  for (; at < words.size() && words[at].text.starts_with('-'); ++at) {
    const std::string& text = words[at].text;
    const std::size_t equals = text.find('=');
    const std::string flag = text.substr(0, equals);
    if (is_one_of(flag, {"-d", "-i", "-t", "-it", "-ti", "-dit", "-itd", "-P", "--rm", "--init", "--privileged", "--detach",
                         "--interactive", "--tty", "--read-only", "--no-healthcheck", "--replace"})) {
      continue;
    }
    Word value = words[at];
    if (equals != std::string::npos) {
      value.text = text.substr(equals + 1);
    } else if (++at < words.size()) {
      value = words[at];
    }
    if (flag == "-e" || flag == "--env") add_variable(value, out.environment);
    if (flag == "--gpus") read_gpus(value, out.gpus);
    if (flag == "--entrypoint" && !value.text.empty()) out.entrypoint = {value};
  }
  out.image = at;
  return out;
}

std::vector<ServeCall> docker_run(const Words& words, std::size_t at, const TextPlaces& places) {
  const RunFlags flags = read_run_flags(words, at);
  if (flags.image >= words.size()) return {};
  const Stated image{words[flags.image].text, words[flags.image].where};
  std::vector<ServeCall> out =
      serve_of_container(image, flags.entrypoint, rest(words, flags.image + 1), places, shell_variables(flags.environment));
  for (ServeCall& call : out) {
    call.environment.insert(call.environment.begin(), flags.environment.begin(), flags.environment.end());
    if (!call.gpus.count) call.gpus = flags.gpus;
  }
  return out;
}

// sh -c "SCRIPT" [NAME [ARGUMENTS...]]
std::vector<ServeCall> inner_script(const Words& words, std::size_t at, const TextPlaces& places,
                                    const ShellVariables& known) {
  if (at >= words.size()) return {};
  ShellVariables variables = known;
  const std::size_t name = at + 1;
  if (name + 1 < words.size()) variables["@"] = rest(words, name + 1);
  const std::vector<ShellCommand> script = read_shell_inside(words[at].text, places, words[at].where, variables);
  return find_serve(script, places, variables);
}

// "pip install vllm==0.10.0", "uvx --from vllm==0.10.0": the release that later commands run.
void installed_release(const Words& words, std::optional<Stated>& out) {
  constexpr std::string_view kPin = "vllm==";
  for (const Word& word : words) {
    if (!word.text.starts_with(kPin)) continue;
    const std::string release = word.text.substr(kPin.size());
    if (planner::parse_version(release).known) out = Stated{release, word.where};
  }
}

// `-c` may be joined with others: "-lc", "-ec".
bool takes_script(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word[1] != '-' && word.back() == 'c';
}

}  // namespace

bool starts_vllm(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  return image.substr(0, colon).find("vllm") != std::string_view::npos;
}

std::vector<ServeCall> find_serve(const Words& words, const TextPlaces& places, const ShellVariables& known) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view program = base_name(words[i].text);
    const auto next = [&](std::size_t n) {
      return i + n < words.size() ? std::string_view(words[i + n].text) : std::string_view();
    };
    if (program == "vllm" && next(1) == "serve") return {call_of(words, i, i + 2)};
    if (program.starts_with("python") && next(1) == "-m") {
      if (next(2).starts_with("vllm.entrypoints.") && next(2).ends_with("api_server")) {
        ServeCall call = call_of(words, i, i + 3);
        call.module = true;
        return {std::move(call)};
      }
      const bool main = next(2) == "vllm" || next(2) == "vllm.entrypoints.cli.main";
      if (main && next(3) == "serve") return {call_of(words, i, i + 4)};
    }
    const bool runs = is_one_of(program, {"docker", "podman", "nerdctl"}) && next(1) == "run";
    if (runs) return docker_run(words, i + 2, places);
    if (is_shell(words[i].text) && takes_script(next(1))) return inner_script(words, i + 2, places, known);
  }
  return {};
}

std::vector<ServeCall> find_serve(const std::vector<ShellCommand>& script, const TextPlaces& places,
                                  const ShellVariables& known) {
  std::vector<ServeCall> out;
  std::vector<EnvironmentVariable> exported;
  std::optional<Stated> release;
  for (const ShellCommand& command : script) {
    installed_release(command.words, release);
    if (!command.words.empty() && command.words.front().text == "export") {
      for (const auto& [name, word] : command.assignments) exported.push_back({name, word.text, word.where});
      continue;
    }
    for (ServeCall& call : find_serve(command.words, places, known)) {
      std::vector<EnvironmentVariable> environment = exported;
      for (const auto& [name, word] : command.assignments) environment.push_back({name, word.text, word.where});
      for (EnvironmentVariable& own : call.environment) environment.push_back(std::move(own));
      call.environment = std::move(environment);
      if (!call.image && !call.engine_version) call.engine_version = release;
      out.push_back(std::move(call));
    }
  }
  return out;
}

ShellVariables shell_variables(const std::vector<EnvironmentVariable>& environment) {
  ShellVariables out;
  for (const EnvironmentVariable& one : environment) out[one.name] = {{.text = one.value, .where = one.where}};
  return out;
}

std::vector<ServeCall> serve_of_container(const Stated& image, const Words& entrypoint, const Words& arguments,
                                          const TextPlaces& places, const ShellVariables& known) {
  Words all = entrypoint;
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<ServeCall> out = find_serve(all, places, known);
  const bool own_program = entrypoint.empty() && starts_vllm(image.text);
  if (out.empty() && own_program) {
    Words words = arguments;
    if (!words.empty() && words.front().text == "serve") words.erase(words.begin());
    const bool other =
        !words.empty() && (is_shell(words.front().text) || base_name(words.front().text).starts_with("python") ||
                           is_one_of(base_name(words.front().text), {"sleep", "tail", "nvidia-smi", "vllm", "ray", "env"}));
    if (!other && names_model(words)) {
      ServeCall call;
      call.where = words.front().where;
      call.module = true;  // the documented form: docker run IMAGE --model MODEL
      call.words = std::move(words);
      out.push_back(std::move(call));
    }
  }
  for (ServeCall& call : out) {
    if (!call.image) call.image = image;
  }
  return out;
}

}  // namespace kvfit::runtime
