// How a row's weights are stored, from its words ("awq", "compressed-tensors w4a16", "fp8 (block)"): the catalogue entry's
// own quantisation where it agrees, else the usual recipe of that format laid over the architecture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/model.h"

namespace kvfit::accuracy {

struct Recipe {
  models::Quantization quantization;
  bool known = false;  ///< what is left unquantised is known too, so that weights can be held to the byte
  bool stated = true;  ///< false: neither a published repository nor a word about the format
  bool priced = true;  ///< false: a format whose bytes are not known from the words ("exl3" without bits)
};

/// How much of the formats named a checkpoint stores: shared kinds over all kinds, 1 = the same set.
double format_agreement(const models::Model& entry, const std::string& model_text, const std::string& quant_text);

/// The same modules as `like` in the format the words name: publishers that export a model in one float format leave the
/// same layers alone in another. nullopt when the words name no float format or `like` is plain.
std::optional<models::Quantization> reformatted(const models::Quantization& like, const std::string& model_text,
                                                const std::string& quant_text);

/// `entry` is the catalogue entry found; `exact` when it is the very checkpoint the row names.
Recipe recipe_of(const models::Model& entry, bool exact, const std::string& model_text, const std::string& quant_text);

}  // namespace kvfit::accuracy
