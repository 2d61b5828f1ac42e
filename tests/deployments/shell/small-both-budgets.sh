#!/bin/sh
# utilisation beside the cache's own size
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32 \
  --kv-cache-dtype fp8 \
  --kv-cache-memory-bytes 8G \
  --gpu-memory-utilization 0.9
