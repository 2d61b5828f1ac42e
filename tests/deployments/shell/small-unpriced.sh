#!/bin/sh
# a flag whose memory is not computed
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32 \
  --kv-cache-dtype fp8 \
  --hf-overrides '{"rope_scaling":{"rope_type":"yarn","factor":4.0}}'
