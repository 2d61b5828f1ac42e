// Engine arguments as rows spell them - an object, a command line, a list of words, "name=value" pairs - as one object under
// the engine's own names.
#pragma once

#include "profiles/json.h"

namespace kvfit::accuracy {

/// {"--max-model-len": 8192}, "vllm serve m --max-model-len 8192", ["--max-model-len", "8192"] and "max_model_len=8192" are
/// all
/// {"max_model_len": 8192}; "--no-enable-prefix-caching" is {"enable_prefix_caching": false}. Words that are neither names
/// nor values (the program, the model) are left out.
profiles::Json engine_arguments(const profiles::Json& row);

}  // namespace kvfit::accuracy
