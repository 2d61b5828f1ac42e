#!/bin/sh
# kvfit 0.1.0, plan 0123456789abcdef
# verdict: fits
VLLM_USE_V2_MODEL_RUNNER=1 vllm serve ./Qwen3.6-35B-A3B-NVFP4-192e \
  --max-model-len 8192 \
  --max-num-seqs 16 \
  --gpu-memory-utilization 0.94 \
  --kv-cache-dtype fp8 \
  --limit-mm-per-prompt '{"image":0,"video":0}' \
  --speculative-config '{"method":"qwen3_5_mtp","num_speculative_tokens":4}' \
  --no-enable-prefix-caching \
  --enforce-eager
