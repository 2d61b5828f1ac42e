#!/bin/sh
# row qwen3-next-80b-bf16-2xh200-0102 (0.10.2): boots
exec vllm serve Qwen/Qwen3-Next-80B-A3B-Instruct \
  -tp 2 \
  --max-model-len 262144 \
  --max-num-seqs 128 \
  --gpu-memory-utilization 0.9
