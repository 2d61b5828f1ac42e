#include "tests/accuracy/argument_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/accuracy/json_fields.h"

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// Short forms of the command line, and what people write instead of the engine's names.
constexpr std::pair<std::string_view, std::string_view> kShort[] = {{"tp", "tensor_parallel_size"},
                                                                    {"tensor_parallel", "tensor_parallel_size"},
                                                                    {"pp", "pipeline_parallel_size"},
                                                                    {"dp", "data_parallel_size"},
                                                                    {"dcp", "decode_context_parallel_size"},
                                                                    {"ctx", "max_model_len"},
                                                                    {"max_len", "max_model_len"},
                                                                    {"max_context", "max_model_len"},
                                                                    {"util", "gpu_memory_utilization"},
                                                                    {"gmu", "gpu_memory_utilization"},
                                                                    {"gpu_util", "gpu_memory_utilization"},
                                                                    {"gpu_memory_utilisation", "gpu_memory_utilization"},
                                                                    {"seqs", "max_num_seqs"},
                                                                    {"max_seqs", "max_num_seqs"},
                                                                    {"batched_tokens", "max_num_batched_tokens"},
                                                                    {"max_batched_tokens", "max_num_batched_tokens"},
                                                                    {"kv_dtype", "kv_cache_dtype"},
                                                                    {"eager", "enforce_eager"},
                                                                    {"prefix_caching", "enable_prefix_caching"},
                                                                    {"ep", "enable_expert_parallel"}};

/// "--max-model-len" is max_model_len.
std::string engine_name(std::string_view key) {
  std::string name(key.substr(std::min(key.find_first_not_of('-'), key.size())));
  std::replace(name.begin(), name.end(), '-', '_');
  for (const auto& [written, meant] : kShort) {
    if (name == written) return std::string(meant);
  }
  return name;
}

/// "--no-enable-prefix-caching" says that the flag without "no-" is false.
void set(Json& out, std::string_view key, Json value) {
  const std::string name = engine_name(key);
  const bool stands_alone = value.is_boolean() ? value.get<bool>() : value == "true" || value == "True";
  if (name.starts_with("no_") && stands_alone) {
    out[engine_name(name.substr(3))] = false;
  } else if (!name.empty()) {
    out[name] = std::move(value);
  }
}

/// Words of a command line: blanks and commas part them outside quotes and braces; quotes fall away outside braces.
std::vector<std::string> command_words(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  char quote = 0;
  int depth = 0;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::exchange(word, {}));
  };
  for (const char c : line) {
    if (depth == 0 && (c == '\'' || c == '"')) {
      if (quote == 0 || quote == c) {
        quote = quote == 0 ? c : 0;
        continue;
      }
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    const bool parts = c == ' ' || c == '\t' || c == '\n' || c == '\\' || c == ',' || c == ';';
    if (parts && quote == 0 && depth == 0) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return out;
}

Json value_of(const std::string& text) {
  if (text.starts_with('{') || text.starts_with('[')) {
    Json parsed = Json::parse(text, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  return text;
}

Json of_words(const std::vector<std::string>& list) {
  Json out = Json::object();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& word = list[i];
    const bool flag = word.size() > 1 && word.front() == '-';
    const std::size_t equals = word.starts_with('{') ? std::string::npos : word.find('=');
    if (equals != std::string::npos) {
      set(out, std::string_view(word).substr(0, equals), value_of(word.substr(equals + 1)));
    } else if (flag && i + 1 < list.size() && !list[i + 1].starts_with('-')) {
      set(out, word, value_of(list[++i]));
    } else if (flag) {
      set(out, word, true);
    }
  }
  return out;
}

}  // namespace

Json engine_arguments(const Json& row) {
  for (const std::string_view key : {"args", "arguments", "flags", "command", "cmd"}) {
    const Json* args = member(row, key);
    if (args == nullptr) continue;
    if (args->is_string()) return of_words(command_words(args->get<std::string>()));
    if (args->is_array()) {
      std::vector<std::string> list;
      for (const Json& word : *args) list.push_back(word.is_string() ? word.get<std::string>() : word.dump());
      return of_words(list);
    }
    if (!args->is_object()) continue;
    Json out = Json::object();
    for (const auto& [name, value] : args->items()) set(out, name, value);
    return out;
  }
  return Json::object();
}

}  // namespace kvfit::accuracy
