#!/bin/sh
# kvfit 0.1.0, plan 0123456789abcdef
# verdict: fits
# Planned for vLLM and its weights, not for llama.cpp b6641 and this GGUF: its own --fit stays on and may lower
# what follows. --ctx-size is one context for all 16 slots, 8,192 tokens each.
llama-server \
  --hf-repo unsloth/Qwen3.6-35B-A3B-GGUF:Q4_K_M \
  --ctx-size 131072 \
  --parallel 16 \
  --cache-type-k q8_0 \
  --cache-type-v q8_0 \
  --flash-attn on \
  --n-gpu-layers all \
  --port 8080
