#!/bin/sh
# row qwen3-30b-a3b-2xl40s: the cache cannot hold one request of 262,144 tokens
exec vllm serve Qwen/Qwen3-30B-A3B-Instruct-2507 \
  --tensor-parallel-size 2 \
  --max-model-len 262144
