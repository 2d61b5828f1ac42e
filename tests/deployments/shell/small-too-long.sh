#!/bin/sh
# longer than the model
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 65536 \
  --max-num-seqs 4
