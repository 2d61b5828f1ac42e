#!/bin/sh
# vllm-project/vllm#10517, row llama31-8b-3090-20k: boots
exec vllm serve meta-llama/Llama-3.1-8B-Instruct \
  --max-model-len 20000 \
  --gpu-memory-utilization 0.9 \
  --max-num-seqs 64
