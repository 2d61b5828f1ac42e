// The machine of a row as a hardware::Node: a profile where the text names a card, a card made of the printed total where
// it does not. What the log printed wins over the profile: total memory, and memory free at the start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/node.h"
#include "profiles/catalog.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

/// Profiles read once.
struct Cards {
  std::vector<hardware::Gpu> gpus;
};
Cards read_cards(const profiles::Catalog& catalog);

/// The profile whose names hold every telling word of the text ("H100 80GB (NVIDIA-H100-80GB-HBM3)", "GB10 (DGX Spark; four
/// nodes)"); of several the one with the fewest words more, then the one nearest to `total_gib`. nullptr when none.
const hardware::Gpu* find_card(const Cards& cards, std::string_view text, std::optional<double> total_gib);

/// The profile whose CUDA total is nearest to a printed one, within 0.35 % of it; nullptr when none. Of several, one of at
/// least this compute capability (times ten) comes first.
const hardware::Gpu* card_of_total(const Cards& cards, double total_gib, int capability = 0);

/// Of another vendor's card: which builds serve it, and that it has no compute capability.
void set_platform(const Observation& row, hardware::Gpu& gpu);

struct Machine {
  hardware::Node node;
  bool card_known = false;           ///< the row names the card and a profile describes it
  bool total_printed = false;        ///< the total is the log's, not the profile's
  bool unusual = false;              ///< unified memory or not NVIDIA: reported apart
  std::vector<std::string> assumed;  ///< "card inferred from the printed total"
};
/// nullopt when the row says neither card nor memory.
std::optional<Machine> machine_of(const Cards& cards, const Observation& row);

/// Not an NVIDIA card, by the words of the row (card, hint, version).
bool other_vendor(const Observation& row);

}  // namespace kvfit::accuracy
