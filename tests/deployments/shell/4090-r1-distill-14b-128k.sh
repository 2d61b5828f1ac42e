#!/bin/sh
# row r1-distill-qwen14b-2x4090: one request of 131,072 tokens does not fit
export VLLM_ALLOW_LONG_MAX_MODEL_LEN=1
exec vllm serve Qwen/Qwen2.5-14B-Instruct \
  -tp 2 \
  --gpu-memory-utilization 0.98 \
  --max-model-len 131072
