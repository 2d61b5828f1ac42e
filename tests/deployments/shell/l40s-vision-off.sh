#!/bin/sh
# the same with the tower left out
exec vllm serve Qwen/Qwen2.5-VL-7B-Instruct \
  --max-model-len 16384 \
  --max-num-seqs 16 \
  --limit-mm-per-prompt.image 0 \
  --limit-mm-per-prompt.video 0
