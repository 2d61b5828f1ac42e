#!/bin/sh
# a variable that nothing sets, in the length
exec vllm serve Qwen/Qwen3-8B \
  --max-model-len $LEN
