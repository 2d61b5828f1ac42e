#!/bin/sh
# a flag that is gone
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32 \
  --kv-cache-dtype fp8 \
  --guided-decoding-backend xgrammar
