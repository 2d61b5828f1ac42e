#!/bin/sh
# a mixed-tier Trellis checkpoint on a card whose shared memory holds no tier of 6 bits
exec vllm serve glm-5.3-flash-reap256-exl3-2bpw \
  -tp 2 \
  --max-model-len 8192 \
  --max-num-seqs 4
