#!/bin/sh
# longer than the model, and allowed
export VLLM_ALLOW_LONG_MAX_MODEL_LEN=1
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 65536 \
  --max-num-seqs 4 \
  --kv-cache-dtype fp8
