#!/bin/bash
# docker run with its arguments in an array
ARGS=(
  --model Qwen/Qwen3-8B
  --max-model-len 16384   # tokens
  --max-num-seqs 32
  --kv-cache-dtype fp8
)
docker run --rm -d --gpus all --ipc=host -p 8000:8000 \
  -v "$HOME/.cache/huggingface:/root/.cache/huggingface" \
  vllm/vllm-openai:v0.24.0 "${ARGS[@]}"
