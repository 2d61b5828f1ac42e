#!/usr/bin/env bash
set -euo pipefail
MODEL="${1:-mistralai/Mistral-Small-3.1-24B-Instruct-2503}"
PORT=${PORT:-8000}
GPUS=$(nvidia-smi -L | wc -l)
docker rm -f vllm 2>/dev/null || true
docker run -d --name vllm --runtime nvidia --gpus '"device=0,1"' \
  -v ~/.cache/huggingface:/root/.cache/huggingface \
  --env "HUGGING_FACE_HUB_TOKEN=$HF_TOKEN" \
  -p $PORT:8000 --ipc=host \
  vllm/vllm-openai:v0.8.5.post1 \
  --model "$MODEL" \
  --tensor-parallel-size $GPUS \
  --tokenizer_mode mistral --config_format mistral --load_format mistral \
  --limit_mm_per_prompt 'image=4' \
  --max-model-len 32768
