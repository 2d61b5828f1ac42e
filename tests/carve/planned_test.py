#!/usr/bin/env python3
"""The planner and the carve together: `planned_test.py KVFIT`.

The planner picks the count (`carve run --gpu`, `plan --carve-to`), sizes from the config alone are those of the headers to the byte, and
what was carved is a model that `models inspect`, `models lint` and `plan` read: the new count everywhere and no tensor of the old width.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

from harness import KVFIT, digests, finish, kvfit

HIDDEN, INNER, EXPERTS, LAYERS, HEADS, HEAD, VOCAB = 256, 256, 128, 4, 32, 256, 4096
CONFIG = {
    "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "head_dim": HEAD, "intermediate_size": 512,
    "moe_intermediate_size": INNER, "num_experts": EXPERTS, "num_experts_per_tok": 8, "norm_topk_prob": True, "decoder_sparse_step": 1,
    "mlp_only_layers": [], "vocab_size": VOCAB, "max_position_embeddings": 1048576, "torch_dtype": "bfloat16",
    "tie_word_embeddings": False, "rms_norm_eps": 1e-06,
}
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def shapes():
    out = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for n in range(LAYERS):
        layer = f"model.layers.{n}"
        for name, shape in (("q_proj", [HEADS * HEAD, HIDDEN]), ("k_proj", [HEADS * HEAD, HIDDEN]), ("v_proj", [HEADS * HEAD, HIDDEN]),
                            ("o_proj", [HIDDEN, HEADS * HEAD])):
            out[f"{layer}.self_attn.{name}.weight"] = shape
        for name, width in (("self_attn.q_norm", HEAD), ("self_attn.k_norm", HEAD), ("input_layernorm", HIDDEN),
                            ("post_attention_layernorm", HIDDEN)):
            out[f"{layer}.{name}.weight"] = [width]
        out[f"{layer}.mlp.gate.weight"] = [EXPERTS, HIDDEN]
        for e in range(EXPERTS):
            for name, shape in (("gate_proj", [INNER, HIDDEN]), ("up_proj", [INNER, HIDDEN]), ("down_proj", [HIDDEN, INNER])):
                out[f"{layer}.mlp.experts.{e}.{name}.weight"] = shape
    return out


def write_source(place):
    """True names and shapes; data is a hole but for the routers and a few weights of each expert, so that scores differ."""
    header, end, filled = {"__metadata__": {"format": "pt"}}, 0, []
    for i, (name, shape) in enumerate(shapes().items()):
        size = 2
        for extent in shape:
            size *= extent
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        if ".mlp." in name:
            filled.append((end, struct.pack("<256H", *(0x3C00 + (i * 7919 + j * 104729) % 0x380 for j in range(256)))))
        if name.endswith("gate.weight"):
            rows = b"".join(struct.pack("<H", 0x3C00 + (i + e * 37) % 0x300) * HIDDEN for e in range(EXPERTS))
            filled.append((end, rows))
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(place)
    with open(os.path.join(place, "model.safetensors"), "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text)
        handle.truncate(8 + len(text) + end)
        for at, data in filled:
            handle.seek(8 + len(text) + at)
            handle.write(data)
    with open(os.path.join(place, "config.json"), "w", encoding="utf-8") as handle:
        json.dump(CONFIG, handle, indent=2)
    return end


def header_of(place):
    with open(os.path.join(place, "model.safetensors"), "rb") as handle:
        (length,) = struct.unpack("<Q", handle.read(8))
        return {n: t for n, t in json.loads(handle.read(length)).items() if n != "__metadata__"}


def plan(model, *flags):
    """A plan whatever its verdict."""
    done = subprocess.run([KVFIT, "plan", "--gpu", "rtx5090-24g", "--model", model, "-f", "json", "-q", *flags], capture_output=True,
                          text=True, timeout=120)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["result"]


def crowded(model):
    """A context so long that the planner drops experts, and how many it keeps; found by halving, as estimates move with versions."""
    low, high = 8192, 400000
    while high - low > 100:
        length = (low + high) // 2
        seen = plan(model, "--max-model-len", str(length), "--max-num-seqs", "1")
        if seen["verdict"] in ("fits", "tight") and seen["model"]["planned_experts"] < EXPERTS:
            return length, seen["model"]["planned_experts"]
        if seen["verdict"] == "fits":
            low = length
        else:
            high = length
    raise AssertionError("no context makes the planner drop experts")


with tempfile.TemporaryDirectory() as place:
    source, ours, planned, bare = (os.path.join(place, n) for n in ("source", "ours", "planned", "bare"))
    total = write_source(source)
    os.mkdir(bare)
    with open(os.path.join(bare, "config.json"), "w", encoding="utf-8") as handle:
        json.dump(CONFIG, handle)

    for keep in (96, 64, 32, 12):
        carved = json.loads(kvfit("carve", "plan", source, "--keep", str(keep), "-f", "json", "-q"))["result"]
        derived = plan(os.path.join(bare, "config.json"), "--experts", str(keep))["ladder"][0]["checkpoint_bytes"]
        # by hand: an expert is 3 x 256 x 256 weights of 2 bytes and a router row of 256, in each of 4 layers
        by_hand = total - (EXPERTS - keep) * LAYERS * 2 * (3 * INNER * HIDDEN + HIDDEN)
        check(carved["tensor_bytes"] == derived == by_hand, f"{keep} experts: {carved['tensor_bytes']}, {derived} and {by_hand} bytes")

    length, keep = crowded(source)
    flags = ["--gpu", "rtx5090-24g", "--max-model-len", str(length), "--max-num-seqs", "1"]
    done = subprocess.run([KVFIT, "carve", "run", source, ours, *flags, "--no-progress"], capture_output=True, text=True, timeout=300)
    check(done.returncode == 0 and done.stderr.startswith(f"note: the planner keeps {keep} experts for this machine\n"),
          f"carve run --gpu: exit {done.returncode}: {done.stderr}")
    done = subprocess.run([KVFIT, "plan", "--model", source, *flags, "--carve-to", planned], capture_output=True, text=True, timeout=300)
    check(done.returncode == 0 and f"with {keep} of {EXPERTS} experts" in done.stderr, f"plan --carve-to: {done.returncode}: {done.stderr}")
    check(digests(planned) == digests(ours), "plan --carve-to writes something else than carve run")

    seen = json.loads(kvfit("carve", "inspect", ours, "-f", "json"))["result"]
    check(seen["experts"] == keep and len(seen["blocks"]) == LAYERS, f"carve inspect sees {seen['experts']} experts")
    bytes_now = total - (EXPERTS - keep) * LAYERS * 2 * (3 * INNER * HIDDEN + HIDDEN)
    seen = json.loads(kvfit("models", "inspect", ours, "-f", "json"))["result"]
    check(seen["exact"] and seen["checkpoint_bytes"] == bytes_now, f"models inspect sees {seen['checkpoint_bytes']} bytes, not {bytes_now}")
    check(kvfit("models", "lint", ours).startswith("1 model checked, 0 at fault"), "models lint finds fault with what was carved")
    again = plan(ours, "--max-model-len", str(length), "--max-num-seqs", "1")
    check(again["model"]["experts"] == keep and again["verdict"] in ("fits", "tight"), f"plan of what was carved: {again['model']}")
    left = [n for n, t in header_of(ours).items() if EXPERTS in t["shape"] or any(f".experts.{e}." in n for e in range(keep, EXPERTS))]
    check(not left, f"{len(left)} tensors of the old width, as {left[:1]}")

finish(problems)
