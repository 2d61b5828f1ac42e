#!/bin/sh
# a vision tower that nobody uses
exec vllm serve Qwen/Qwen2.5-VL-7B-Instruct \
  --max-model-len 16384 \
  --max-num-seqs 16
