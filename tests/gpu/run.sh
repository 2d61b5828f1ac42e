#!/bin/sh
# tests/gpu/run.sh [KVFIT]: what only a machine with a GPU can show, in a minute or two. Nothing is installed.
#   1. which GPU it is, and what differs from its profile
#   2. the boot test at 0.94 of what is free
#   3. a synthetic checkpoint of 2 GB streamed to the device, with the rate, and its expert multiplied on GPU and CPU
#   4. the same small test under compute-sanitizer, where it is installed
# KVFIT defaults to the release build. Exit status 0 only when every step holds; without a driver it says so and ends with 77.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
kvfit=${1:-$root/build/release/cli/kvfit}
[ -x "$kvfit" ] || {
  echo "no $kvfit: build it with ./dev run version, or name one"
  exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=""
step() {
  printf '\n== %s\n' "$*"
  "$@" || failed="$failed
  $*"
}

"$kvfit" gpus detect || {
  [ $? -eq 4 ] && exit 77
  exit 1
}

# A model whose cache may take whatever the utilisation leaves.
model="--model Qwen/Qwen3-8B --max-model-len 8192 --max-num-seqs 16"
# shellcheck disable=SC2086  # the flags are words on purpose
step "$kvfit" boot --gpu auto $model --util 0.94 --hold 5

python3 - "$work/model.safetensors" <<'PYTHON'
import json, os, struct, sys
expert = "model.layers.0.mlp.experts.0.down_proj"
rows, columns, filler = 2048, 512, 2_000_000_000
tensors = [(f"{expert}.weight_scale_2", "F32", [], 4), (f"{expert}.weight", "U8", [rows, columns // 2], rows * columns // 2),
           (f"{expert}.weight_scale", "F8_E4M3", [rows, columns // 16], rows * columns // 16),
           ("model.embed_tokens.weight", "U8", [filler], filler)]
header, at = {}, 0
for name, dtype, shape, size in tensors:
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + struct.pack("<f", 0.0123))
    out.write(os.urandom(rows * columns // 2))
    out.write(bytes(byte & 0x7B for byte in os.urandom(rows * columns // 16)))  # no code for NaN
    for _ in range(filler // 50_000_000):
        out.write(os.urandom(50_000_000))
PYTHON
# shellcheck disable=SC2086
step "$kvfit" boot --gpu auto $model --util 0.5 --limit 4GiB --hold 0 --checkpoint "$work"

if command -v compute-sanitizer >/dev/null 2>&1; then
  # shellcheck disable=SC2086
  step compute-sanitizer --error-exitcode 9 "$kvfit" boot --gpu auto $model --kv-cache-memory-bytes 256MiB --limit 2GiB --hold 0 --no-progress
else
  printf '\ncompute-sanitizer is not installed: skipped\n'
fi

[ -z "$failed" ] || {
  printf '\nfailed:%s\n' "$failed"
  exit 1
}
printf '\nall of it holds\n'
