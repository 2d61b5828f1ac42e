#!/bin/sh
# row qwen38-27b-nvfp4-5090-192k-mtp: the cache cannot hold one request
exec vllm serve nvidia/Qwen3.8-27B-NVFP4 \
  --gpu-memory-utilization 0.95 \
  --max-model-len 196608 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 2048 \
  --kv-cache-dtype fp8 \
  --speculative-config '{"method":"mtp","num_speculative_tokens":2}'
