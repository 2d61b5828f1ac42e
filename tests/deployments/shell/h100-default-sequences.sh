#!/bin/sh
# no --max-num-seqs on an 80 GB card: 1024
exec vllm serve openai/gpt-oss-20b \
  --max-model-len 8192 \
  --gpu-memory-utilization 0.85
