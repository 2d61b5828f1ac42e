#pragma once

#include <optional>
#include <string_view>

namespace kvfit::accuracy {

/// A size that is part of a card's name, GiB: "RTX 2000 Ada 16GB", "A100 80G", "V100-PCIE-32GB", "RTX 4090 (48 GB)".
std::optional<double> memory_in_name(std::string_view text);

/// What the data sheet gives a card that has no profile here; nullopt: not known either.
std::optional<double> memory_of_model(std::string_view text);

/// A word that names a card of AMD or Intel.
bool other_makers(std::string_view word);

}  // namespace kvfit::accuracy
