// quantization_config (in config.json) and hf_quant_config.json -> Quantization. Methods: modelopt, compressed-tensors, fp8,
// fbgemm_fp8, awq, gptq, auto-round, mxfp4, bitsandbytes, exl2, exl3, quark, mlx. A method kvfit does not know keeps its
// name and the format `other`, so that a gate or a ledger can say so instead of guessing.
//
// Sources: vllm model_executor/layers/quantization/<method>.py; compressed-tensors quant_args.py and quant_config.py;
// TensorRT-Model-Optimizer's export/quant_utils.py; transformers quantizers/.
#pragma once

#include <string>
#include <vector>

#include "models/quantization.h"
#include "profiles/document.h"
#include "profiles/dtype.h"

namespace kvfit::models {

/// Either may be nullptr; config.json wins where both speak (as in the engine), the sidecar fills what it leaves out.
/// `text` is the language model's config (it may state expert_dtype). Adds to `assumed` what had to be assumed.
Quantization read_quantization(const profiles::Node* config, const profiles::Node* sidecar, const profiles::Node& text,
                               std::vector<std::string>& assumed);

}  // namespace kvfit::models
