#!/bin/sh
# a batch below the aligned block of a hybrid
exec vllm serve Qwen/Qwen3.6-27B-FP8 \
  --max-model-len 16384 \
  --max-num-seqs 8 \
  --max-num-batched-tokens 512 \
  --enable-prefix-caching
