#include "tests/accuracy/machine.h"

#include <algorithm>
#include <cmath>

#include "hardware/gpu_catalog.h"
#include "profiles/text.h"
#include "tests/accuracy/card_sizes.h"
#include "tests/accuracy/spelling.h"

namespace kvfit::accuracy {

using hardware::ByteRange;
using hardware::Gpu;
using profiles::Bytes;
using profiles::from_gib;

namespace {

using Words = std::vector<std::string>;

bool has(const Words& list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }

/// "2x", "x8", and the "4" and "x" of "4 x L40S".
bool counts_cards(std::string_view word) {
  const std::size_t digits =
      static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }));
  if (word == "x" || (digits == word.size() && word.size() <= 2)) return true;
  return digits + 1 == word.size() && digits > 0 && (word.front() == 'x' || word.back() == 'x');
}

/// Words that tell cards apart: without vendor, brackets, memory sizes and packaging.
Words card_words(std::string_view text, bool drop_brackets) {
  if (drop_brackets) text = text.substr(0, text.find('('));
  Words out;
  for (const std::string& word : words(text)) {
    const bool size = word.size() > 1 && (word.ends_with("gb") || word.ends_with("gib")) &&
                      std::isdigit(static_cast<unsigned char>(word[0]));
    if (size || counts_cards(word) || word == "nvidia" || word == "geforce" || word == "gpu" || word == "graphics" ||
        word == "unified")
      continue;
    out.push_back(word);
  }
  return out;
}

/// Words a card cannot do without: those with a digit, and the suffixes that make another card of it.
bool tells_apart(const std::string& word) {
  for (const std::string_view suffix : {"ti", "super", "laptop", "pro", "ada", "pcie", "nvl", "thor", "spark"}) {
    if (word == suffix) return true;
  }
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Form and packaging, which tell boards of one chip apart: left out, the chip remains.
std::string without_packaging(std::string_view text) {
  std::string out;
  for (const std::string& word : words(text)) {
    if (word != "pcie" && word != "sxm" && word != "sxm2" && word != "sxm4" && word != "sxm5" && word != "nvl")
      out += word + " ";
  }
  return out;
}

/// "RTX 5070" is no RTX 5070 Ti: what makes another card of it has to be said.
bool unsaid_suffix(const Words& have, const Words& said) {
  for (const std::string_view suffix : {"ti", "super", "laptop"}) {
    if (has(have, suffix) && !has(said, suffix)) return true;
  }
  return false;
}

ByteRange exactly(Bytes bytes) { return {bytes, bytes, bytes}; }

double total_gib_of(const Gpu& gpu) { return profiles::to_gib(gpu.cuda_total_linux.value.likely); }

/// Of nvidia-smi's total the driver keeps part back before CUDA counts: 1.5 to 2.0 % on the cards of profiles/hardware.
double cuda_of_nvml(double mib) { return mib / 1024 * 0.9825; }

void set_total(Machine& machine, double gib) {
  machine.node.gpu.cuda_total_linux.value = exactly(from_gib(gib));
  machine.node.measured_from = "the row";
}

/// What a data sheet's size leaves when the driver has taken its part: of published boots on cards of 16 to 288 GB NVIDIA
/// leaves 97 to 99 %, AMD nearly all.
void set_nominal(Machine& machine, double gib, bool other) {
  const double likely = other ? 0.998 : 0.985;
  machine.node.gpu.cuda_total_linux.value = {from_gib(gib * (other ? 0.99 : 0.97)), from_gib(gib * likely), from_gib(gib)};
  machine.node.measured_from = "the row";
}

/// A card nobody described: the profile of the nearest memory size lends its other facts.
Gpu card_like(const Cards& cards, double gib) {
  const auto further = [gib](const Gpu& a, const Gpu& b) {
    return std::abs(total_gib_of(a) - gib) < std::abs(total_gib_of(b) - gib);
  };
  Gpu gpu = *std::min_element(cards.gpus.begin(), cards.gpus.end(), further);
  gpu.id = "unnamed";
  gpu.name = profiles::format("card of {:.2f} GiB", gib);
  gpu.cuda_total_linux.value = exactly(from_gib(gib));
  return gpu;
}

/// Of cards with the same total, the likelier one computes in the format the row names.
int capability_for(const Observation& row) {
  const std::string text = lower(row.model.value_or("") + " " + row.quant.value_or(""));
  if (contains(text, "nvfp4")) return 100;
  return contains(text, "fp8") ? 89 : 0;
}

/// A card whose memory is off by more than this share is another build of it.
constexpr double kOtherSize = 0.1;

/// NVLink from here up is part of the board; below it is a bridge that few people fit.
constexpr double kBoardNvlink = 200e9;

/// Several cards: NVLink where the board has it, else PCIe; unified-memory machines are joined by a network.
hardware::Link link_of(const Gpu& gpu, int count) {
  if (count < 2) return hardware::Link::none;
  if (gpu.unified) return hardware::Link::network;
  return gpu.nvlink.value >= kBoardNvlink ? hardware::Link::nvlink : hardware::Link::pcie;
}

}  // namespace

Cards read_cards(const profiles::Catalog& catalog) { return {hardware::load_gpus(catalog)}; }

const Gpu* find_card(const Cards& cards, std::string_view text, std::optional<double> total_gib) {
  const Words all = card_words(text, true);
  Words wanted = all;
  if (std::any_of(wanted.begin(), wanted.end(), tells_apart)) {
    std::erase_if(wanted, [](const std::string& word) { return !tells_apart(word); });
  }
  if (wanted.empty()) return nullptr;
  const Gpu* best = nullptr;
  double best_cost = 0;
  for (const Gpu& gpu : cards.gpus) {
    Words names = gpu.driver_names;
    names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
    names.push_back(gpu.name.substr(0, gpu.name.find('(')));
    // Of two cards that fit, the one whose names hold more of the text ("Workstation").
    const Words known = card_words(profiles::format("{}", profiles::join(names, " ")), false);
    const auto absent = std::count_if(all.begin(), all.end(), [&](const std::string& word) { return !has(known, word); });
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Words have = card_words(names[i], false);
      const auto present = [&have](const std::string& word) { return has(have, word); };
      if (!std::all_of(wanted.begin(), wanted.end(), present) || unsaid_suffix(have, all)) continue;
      double cost =
          static_cast<double>(have.size() - std::min(have.size(), wanted.size())) + 0.01 * static_cast<double>(absent);
      if (total_gib) cost += std::abs(total_gib_of(gpu) - *total_gib) / *total_gib * 20;
      if (best != nullptr && cost >= best_cost) continue;
      best = &gpu;
      best_cost = cost;
    }
  }
  return best;
}

const Gpu* card_of_total(const Cards& cards, double total_gib, int capability) {
  const Gpu* best = nullptr;
  double best_cost = 0;
  for (const Gpu& gpu : cards.gpus) {
    const double off = std::abs(total_gib_of(gpu) - total_gib) / total_gib;
    if (off > 0.0035) continue;
    const double cost = off + (gpu.capability.number() < capability ? 1 : 0);
    if (best != nullptr && cost >= best_cost) continue;
    best = &gpu;
    best_cost = cost;
  }
  return best;
}

bool other_vendor(const Observation& row) {
  const std::string text =
      lower(row.gpu.value_or("") + " " + row.gpu_hint.value_or("") + " " + row.engine_version.value_or(""));
  for (const std::string& word : words(text)) {
    for (const std::string_view mark :
         {"amd", "rocm", "radeon", "xpu", "arc", "ascend", "metax", "npu", "gaudi", "instinct"}) {
      if (word == mark) return true;
    }
    if (word.starts_with("gfx") || other_makers(word)) return true;
  }
  return contains(text, "rx 7900") || contains(text, "rx 9070") || contains(text, "strix halo");
}

void set_platform(const Observation& row, Gpu& gpu) {
  if (!other_vendor(row)) return;
  gpu.capability = {};
  gpu.platform = "rocm";
  const std::string text =
      lower(row.gpu.value_or("") + " " + row.gpu_hint.value_or("") + " " + row.engine_version.value_or(""));
  for (const std::string& word : words(text)) {
    if (word == "xpu" || word == "arc" || word == "intel") gpu.platform = "xpu";
  }
}

namespace {

/// The size that a row states, else the one in the card's name.
std::optional<double> nominal_of(const Observation& row, const Text& text) {
  if (row.nvml_mib) return cuda_of_nvml(*row.nvml_mib);
  if (row.total_gib) return row.total_gib;
  return text ? memory_in_name(*text) : std::nullopt;
}

const Gpu* card_of(const Cards& cards, const Observation& row, const Text& text, std::optional<double> nominal,
                   Machine& machine) {
  const Gpu* card = text ? find_card(cards, *text, nominal) : nullptr;
  machine.card_known = card != nullptr;
  if (card != nullptr || other_vendor(row)) return card;
  if (row.total_gib) {
    card = card_of_total(cards, *row.total_gib, capability_for(row));
    if (card != nullptr) machine.assumed.push_back("card inferred from the printed total: " + card->id);
  }
  if (card == nullptr && text && !memory_of_model(*text)) {
    card = find_card(cards, without_packaging(*text), nominal);
    if (card != nullptr) machine.assumed.push_back("another board of " + card->id);
  }
  return card;
}

/// Another build of the card. A size read from its name may be the sum of all cards, or the memory of the processor beside
/// it ("GH200 480GB"): builds with memory soldered on or cut have 0.4 to 2.5 times the usual.
bool other_build(const Observation& row, const Gpu& gpu, double gib) {
  const double ratio = gib / total_gib_of(gpu);
  if (std::abs(ratio - 1) <= kOtherSize) return false;
  if (row.nvml_mib || row.total_gib) return true;
  const auto count = static_cast<double>(row.gpu_count.value_or(1));
  return std::abs(ratio / count - 1) > kOtherSize && ratio > 0.4 && ratio < 2.5;
}

void set_memory(const Observation& row, std::optional<double> nominal, Machine& machine) {
  if (row.nvml_mib || machine.total_printed) {
    set_total(machine, *nominal);
  } else {
    set_nominal(machine, *nominal, other_vendor(row));
  }
}

}  // namespace

std::optional<Machine> machine_of(const Cards& cards, const Observation& row) {
  Machine machine;
  const Text text = row.smallest_gpu ? row.smallest_gpu : row.gpu;
  std::optional<double> nominal = nominal_of(row, text);
  machine.total_printed = row.total_gib && row.total_printed;
  const Gpu* card = card_of(cards, row, text, nominal, machine);
  if (card == nullptr && !nominal && text) nominal = memory_of_model(*text);
  if (card != nullptr) {
    machine.node.gpu = *card;
    if (machine.total_printed) {
      set_total(machine, *row.total_gib);
    } else if (nominal && other_build(row, *card, *nominal)) {
      set_memory(row, nominal, machine);
      machine.assumed.push_back("another memory size of " + card->id);
    }
  } else if (nominal) {
    machine.node.gpu = card_like(cards, *nominal);
    set_memory(row, nominal, machine);
    machine.assumed.push_back("card without a profile");
  } else {
    return std::nullopt;
  }
  const std::int64_t ranks = row.tp.value_or(1) * row.pp.value_or(1) * row.dp.value_or(1);
  machine.node.count = static_cast<int>(std::clamp<std::int64_t>(row.gpu_count.value_or(ranks), 1, 4096));
  machine.node.count = std::max(machine.node.count, static_cast<int>(std::min<std::int64_t>(ranks, 4096)));
  machine.node.link = link_of(machine.node.gpu, machine.node.count);
  machine.unusual = machine.node.gpu.unified || other_vendor(row);
  return machine;
}

}  // namespace kvfit::accuracy
