#!/bin/sh
# a published carve of Qwen3.6-35B-A3B for one 24 GB card: the same with four draft tokens
exec vllm serve ./Qwen3.6-35B-A3B-NVFP4-192e \
  --kv-cache-dtype fp8 \
  --max-model-len 8192 \
  --gpu-memory-utilization 0.94 \
  --max-num-seqs 16 \
  --limit-mm-per-prompt '{"image":0,"video":0}' \
  --speculative-config '{"method":"qwen3_5_mtp","num_speculative_tokens":4}'
