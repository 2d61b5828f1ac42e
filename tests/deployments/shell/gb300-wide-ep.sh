#!/bin/sh
# data and expert parallel over 16 GB300: the graph estimate came out 3.9 times too high there
exec vllm serve nvidia/Qwen3.5-397B-A17B-NVFP4 \
  --data-parallel-size 16 --enable-expert-parallel \
  --max-model-len 32768 --max-num-seqs 64 --language-model-only \
  --kv-cache-dtype fp8
