#!/bin/sh
# a published carve of Qwen3.6-35B-A3B for one 24 GB card: 128 of 256 experts at 32K
exec vllm serve ./Qwen3.6-35B-A3B-NVFP4-128e \
  --kv-cache-dtype fp8 \
  --max-model-len 32768 \
  --gpu-memory-utilization 0.94 \
  --max-num-seqs 16 \
  --limit-mm-per-prompt '{"image":0,"video":0}'
