#include "tests/accuracy/model_text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 30> kFormats = {
    "nvfp4", "mxfp4", "mxfp8", "fp8",  "fp4",       "bf16",      "fp16",      "f16",     "awq",    "gptq",
    "int4",  "int8",  "w4a16", "w8a8", "w8a16",     "w4a8",      "w4a4",      "exl3",    "exl2",   "mlx",
    "bnb",   "gguf",  "4bit",  "8bit", "quantized", "quantised", "autoround", "dynamic", "static", "modelopt"};

constexpr std::array<std::string_view, 62> kRemarks = {
    "instruct",  "it",           "chat",        "base",    "hf",         "thinking",    "preview", "meta",    "class",
    "reasoning", "pt",           "google",      "qat",     "ct",         "fast",        "block",   "tensor",  "channel",
    "per",       "uniform",      "mixed",       "auto",    "round",      "marlin",      "online",  "g128",    "g32",
    "g64",       "dspark",       "dflash2",     "drafter", "mtp",        "bit",         "text",    "only",    "optimized",
    "sft",       "dpo",          "abliterated", "heretic", "uncensored", "dflash",      "eagle3",  "spark",   "release",
    "final",     "finetune",     "finetuned",   "tuned",   "merge",      "merged",      "rlhf",    "orpo",    "grpo",
    "ablated",   "derestricted", "original",    "mirror",  "copy",       "unquantized", "hub",     "snapshot"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool digits_only(std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; }

/// A release date as checkpoints carry it: 2507, 0731, 2503.
bool is_date(std::string_view word) { return word.size() == 4 && digits_only(word); }

/// The active size of a mixture of experts, which people leave out: a3b, a22b.
bool is_active_size(std::string_view word) {
  return word.size() > 2 && word.front() == 'a' && word.back() == 'b' && digits_only(word.substr(1, word.size() - 2));
}

/// "qwen3" -> qwen 3; "a3b" -> a 3 b.
void split_letters_and_digits(std::string_view word, Words& out) {
  std::string run;
  for (const char c : word) {
    const bool digit = c >= '0' && c <= '9';
    if (!run.empty() && digit != (run.back() >= '0' && run.back() <= '9')) {
      out.push_back(run);
      run.clear();
    }
    run += c;
  }
  if (!run.empty()) out.push_back(run);
}

/// Text before the first remark in brackets, addition or aside.
std::string_view head(std::string_view text) {
  for (const std::string_view mark : {"(", " + ", ", ", " with ", ";"}) {
    const std::size_t at = text.find(mark);
    if (at != std::string_view::npos && at > 0) text = text.substr(0, at);
  }
  return text;
}

/// Routed experts left of a pruned model.
std::optional<std::int64_t> pruned_experts(const Words& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool pruned = all[i] == "pruned" && i + 3 < all.size() && all[i + 1] == "to" && all[i + 3] == "experts";
    if (pruned && digits_only(all[i + 2])) return std::atoll(all[i + 2].c_str());
    if (!all[i].starts_with("reap")) continue;
    std::string digits = all[i].substr(4);
    if (digits.empty() && i + 1 < all.size() && all[i + 1].starts_with("k")) digits = all[i + 1].substr(1);
    if (!digits.empty() && digits_only(digits)) return std::atoll(digits.c_str());
  }
  return std::nullopt;
}

std::size_t shared(const Words& a, const Words& b) {
  const std::set<std::string> set(a.begin(), a.end());
  return static_cast<std::size_t>(
      std::count_if(b.begin(), b.end(), [&set](const std::string& word) { return set.contains(word); }));
}

std::string bare_name(const std::string& repository) {
  const std::size_t slash = repository.rfind('/');
  return slash == std::string::npos ? repository : repository.substr(slash + 1);
}

/// Words that make another architecture of a base, or only a part of it.
constexpr std::array<std::string_view, 18> kOtherLayers = {"moe",      "vl",    "vision",  "omni",  "audio", "embedding",
                                                           "reranker", "draft", "drafter", "eagle", "lora",  "pruned",
                                                           "x",        "mini",  "nano",    "lite",  "flash", "speculator"};

/// A fine-tune carries its base's name inside its own, size included: "Hermes-3-Llama-3.1-8B".
bool tuned_from(const Words& asked, const Words& base) {
  if (base.size() < 4 || base.back() != "b") return false;
  const Words::const_iterator at = std::search(asked.begin(), asked.end(), base.begin(), base.end());
  if (at == asked.end()) return false;
  const auto other = [](const std::string& word) { return among(kOtherLayers, word); };
  return std::none_of(asked.begin(), at, other) &&
         std::none_of(at + static_cast<std::ptrdiff_t>(base.size()), asked.end(), other);
}

/// How well a name of the same architecture fits; higher is better.
int closeness(const ModelText& wanted, const Words& formats, const ModelText& have) {
  if (wanted.repository == have.repository) return 1000;
  if (bare_name(wanted.repository) == bare_name(have.repository)) return 900;
  int score = static_cast<int>(shared(wanted.remarks, have.remarks)) * 2;
  if (have.formats.empty()) {
    score += 20;  // the model as published is the safe reading
    if (formats.empty()) score += 40;
  } else {
    const std::size_t common = shared(formats, have.formats);
    score += common == have.formats.size() ? 30 + 4 * static_cast<int>(common) : -10;
  }
  if (have.experts != wanted.experts) score -= 15;
  return score;
}

}  // namespace

ModelText read_model_text(std::string_view text) {
  ModelText out;
  const Words all = words(text);
  out.experts = pruned_experts(all);
  const std::string name = lower(head(text));
  const std::size_t slash = name.rfind('/');
  out.repository = name;
  const std::string bare = slash == std::string::npos || name.find(' ') < slash ? name : name.substr(slash + 1);
  for (const std::string& word : words(bare)) {
    if (among(kFormats, word) || word.ends_with("bpw")) {
      out.formats.push_back(word);
    } else if (word.starts_with("reap") ||
               (word.size() > 1 && word[0] == 'k' && out.experts && digits_only(word.substr(1)))) {
      continue;
    } else if (among(kRemarks, word) || is_date(word) || is_active_size(word)) {
      out.remarks.push_back(word);
    } else {
      split_letters_and_digits(word, out.essential);
    }
  }
  return out;
}

std::vector<Match> find_models(const std::vector<NamedEntry>& entries, std::string_view text, std::string_view wanted) {
  const ModelText asked = read_model_text(text);
  if (asked.essential.empty()) return {};
  Words formats = asked.formats;
  for (const std::string& word : words(wanted)) {
    if (among(kFormats, word)) formats.push_back(word);
  }
  std::vector<std::pair<int, Match>> found;
  const auto collect = [&](auto same) {
    for (const NamedEntry& entry : entries) {
      std::optional<int> best;
      for (const std::string& name : entry.names) {
        const ModelText have = read_model_text(name);
        if (same(have.essential)) best = std::max(best.value_or(-1000), closeness(asked, formats, have));
      }
      if (best) found.push_back({*best, Match{entry.id, *best >= 900}});
    }
  };
  collect([&asked](const Words& essential) { return essential == asked.essential; });
  if (found.empty()) collect([&asked](const Words& essential) { return tuned_from(asked.essential, essential); });
  const auto closer = [](const std::pair<int, Match>& a, const std::pair<int, Match>& b) { return a.first > b.first; };
  std::stable_sort(found.begin(), found.end(), closer);
  std::vector<Match> out;
  for (std::pair<int, Match>& match : found) out.push_back(std::move(match.second));
  return out;
}

std::optional<Match> find_model(const std::vector<NamedEntry>& entries, std::string_view text, std::string_view wanted) {
  const std::vector<Match> found = find_models(entries, text, wanted);
  return found.empty() ? std::nullopt : std::optional<Match>(found.front());
}

}  // namespace kvfit::accuracy
