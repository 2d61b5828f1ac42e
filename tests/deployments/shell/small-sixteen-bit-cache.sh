#!/bin/sh
# a 16-bit cache where fp8 would do
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32
