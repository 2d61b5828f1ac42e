#!/bin/sh
# row minimax-m25-fp8-4xh100: boots
exec vllm serve MiniMaxAI/MiniMax-M2.5 \
  -tp 4 \
  --max-model-len 128000 \
  --gpu-memory-utilization 0.95 \
  --max-num-seqs 10 \
  --max-num-batched-tokens 8192 \
  --cudagraph-capture-sizes 1 2 4 8 16
