#!/bin/sh
# a variable that nothing sets, in a flag that memory does not depend on
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len 16384 \
  --max-num-seqs 32 \
  --kv-cache-dtype fp8 \
  --port $PORT
