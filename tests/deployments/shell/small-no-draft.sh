#!/bin/sh
# speculation without draft weights
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32 \
  --kv-cache-dtype fp8 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
