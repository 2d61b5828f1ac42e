#!/bin/sh
# the same at 131,072 tokens
exec vllm serve Qwen/Qwen3-30B-A3B-Instruct-2507 \
  --tensor-parallel-size 2 \
  --max-model-len 131072 \
  --max-num-seqs 64
