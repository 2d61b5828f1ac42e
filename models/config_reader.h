// A Hugging Face config.json (or the same keys in a YAML profile) becomes a Model: layers, draft, vision, ropes,
// quantisation. Reads text models nested in `text_config`, fills in what the library would (family.h), and refuses a
// model_type it does not know: a guess would be a wrong answer that looks right.
#pragma once

#include <string>

#include "models/model.h"
#include "profiles/document.h"

namespace kvfit::models {

/// `config` is the whole document. `quantization` is hf_quant_config.json, or nullptr; what it says wins over
/// quantization_config. `id` names the model in reports. Throws Error(Fault::input) with the place of the offending value;
/// for an unknown model_type the hint lists near spellings and the way out (a YAML spec, spec_reader.h).
Model read_config(const profiles::Node& config, const profiles::Node* quantization, std::string id);

/// The map that describes the language model: `text_config`, `llm_config`, ... or the document itself.
const profiles::Node& text_part(const profiles::Node& config);

}  // namespace kvfit::models
