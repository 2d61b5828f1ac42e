#!/bin/sh
# kvfit 0.1.0, plan 0123456789abcdef
# verdict: fits
# Planned for vLLM, not for SGLang 0.5.8: the static share is the plan's weights and pool (841,541 tokens) of a
# whole GPU; what SGLang takes beside it is its own. Should the start fail, lower --mem-fraction-static.
# once: pip install 'sglang[all]==0.5.8'
python3 -m sglang.launch_server \
  --model-path ./Qwen3.6-35B-A3B-NVFP4-192e \
  --context-length 8192 \
  --max-running-requests 16 \
  --mem-fraction-static 0.750 \
  --kv-cache-dtype fp8_e4m3 \
  --chunked-prefill-size 2048 \
  --disable-cuda-graph \
  --disable-radix-cache \
  --port 30000
