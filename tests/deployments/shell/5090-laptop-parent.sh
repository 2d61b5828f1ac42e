#!/bin/sh
# a published carve of Qwen3.6-35B-A3B for one 24 GB card: the parent does not boot in any configuration
exec vllm serve unsloth/Qwen3.6-35B-A3B-NVFP4 \
  --kv-cache-dtype fp8 \
  --max-model-len 8192 \
  --gpu-memory-utilization 0.94 \
  --max-num-seqs 16 \
  --limit-mm-per-prompt '{"image":0,"video":0}'
