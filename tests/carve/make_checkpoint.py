#!/usr/bin/env python3
"""Writes small synthetic MoE checkpoints with the names, dtypes and layouts of published ones; tests/carve/*.py carve them.

    make_checkpoint.py DIR --layout per-expert --format nvfp4 [--shards 2] [--mtp fused] [--experts 16] [--scale 1]

Deterministic: the same arguments give the same bytes. Standard library only, so that the generator runs where numpy is missing.
"""

import argparse
import json
import os
import random
import struct

BITS = {"U8": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64}
RANK = ["U8", "F8_E4M3", "F8_E8M0", "I16", "F16", "BF16", "I32", "U32", "F32", "I64"]  # narrow to wide, as the reference writer sorts
PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


class Maker:
    """Collects tensors; bytes are random but of the kind the dtype asks for (no NaN scales, finite floats)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tensors = {}  # name -> (dtype, shape, bytes)

    def add(self, name, dtype, shape, data=None):
        count = 1
        for extent in shape:
            count *= extent
        self.tensors[name] = (dtype, list(shape), self.fill(dtype, count) if data is None else data)

    def fill(self, dtype, count):
        rng = self.random
        if dtype == "BF16":  # exponents near one, either sign
            return b"".join(struct.pack("<H", rng.randrange(0x3A00, 0x4000) | (rng.getrandbits(1) << 15)) for _ in range(count))
        if dtype == "F16":
            return b"".join(struct.pack("<e", rng.uniform(0.01, 2)) for _ in range(count))
        if dtype == "F32":
            return b"".join(struct.pack("<f", rng.uniform(0.001, 0.01)) for _ in range(count))
        if dtype == "F8_E4M3":
            return bytes(rng.randrange(0x08, 0x7F) for _ in range(count))
        if dtype == "F8_E8M0":
            return bytes(rng.randrange(0x60, 0x80) for _ in range(count))
        return rng.randbytes(count * BITS[dtype] // 8)


def scales(maker, count, level):
    """E4M3 scales around a level of the expert's own, so that experts differ by more than chance."""
    return bytes(min(0x7E, max(1, level + maker.random.randrange(-8, 9))) for _ in range(count))


def linear(maker, name, rows, columns, form, level):
    """One quantised or plain linear module, by the names of its format."""
    if form == "bf16":
        maker.add(name + ".weight", "BF16", [rows, columns])
    elif form == "nvfp4":
        maker.add(name + ".weight", "U8", [rows, columns // 2])
        maker.add(name + ".weight_scale", "F8_E4M3", [rows, columns // 16], scales(maker, rows * columns // 16, level))
        maker.add(name + ".weight_scale_2", "F32", [])
        maker.add(name + ".input_scale", "F32", [])
    elif form == "nvfp4-ct":
        maker.add(name + ".weight_packed", "U8", [rows, columns // 2])
        maker.add(name + ".weight_scale", "F8_E4M3", [rows, columns // 16], scales(maker, rows * columns // 16, level))
        maker.add(name + ".weight_global_scale", "F32", [1])
        maker.add(name + ".input_global_scale", "F32", [1])
    elif form == "fp8-block":
        maker.add(name + ".weight", "F8_E4M3", [rows, columns])
        maker.add(name + ".weight_scale_inv", "F32", [(rows + 127) // 128, (columns + 127) // 128])
    elif form == "gptq":
        maker.add(name + ".qweight", "I32", [columns // 8, rows])
        maker.add(name + ".qzeros", "I32", [columns // 32, rows // 8])
        maker.add(name + ".scales", "F16", [columns // 32, rows])
        maker.add(name + ".g_idx", "I32", [columns])
    elif form == "packed":
        maker.add(name + ".weight_packed", "I32", [rows, columns // 8])
        maker.add(name + ".weight_scale", "BF16", [rows, columns // 32])
        maker.add(name + ".weight_zero_point", "I32", [rows // 8, columns // 32])
        maker.add(name + ".weight_shape", "I64", [2])
    elif form == "exl3":
        bits = 3 + level % 2  # mixed bits: the last extent differs between experts
        maker.add(name + ".trellis", "I16", [columns // 16, rows // 16, 16 * bits])
        maker.add(name + ".suh", "F16", [columns])
        maker.add(name + ".svh", "F16", [rows])
    else:
        raise SystemExit(f"unknown format {form}")


def fused(maker, name, shape, form):
    """One projection of all experts, quantised."""
    count, rows, columns = shape
    if form == "fp8-block":
        maker.add(name, "F8_E4M3", shape)
        maker.add(name + "_scale_inv", "F32", [count, (rows + 127) // 128, (columns + 127) // 128])
        return
    packed, scale, tensor = {"nvfp4": ("", "_weight_scale", "_weight_scale_2"),
                             "nvfp4-ct": ("_packed", "_scale", "_global_scale")}[form]
    maker.add(name + packed, "U8", [count, rows, columns // 2])
    maker.add(name + scale, "F8_E4M3", [count, rows, columns // 16],
              b"".join(scales(maker, rows * columns // 16, maker.random.randrange(0x30, 0x70)) for _ in range(count)))
    maker.add(name + tensor, "F32", [count])


def experts(maker, block, layout, form, count, hidden, inner):
    if layout in ("per-expert", "swapped"):
        for expert in range(count):
            level = maker.random.randrange(0x30, 0x70)
            for projection in PROJECTIONS:
                rows, columns = (hidden, inner) if projection == "down_proj" else (inner, hidden)
                name = f"{block}.experts.{expert}.{projection}" if layout == "per-expert" else f"{block}.experts.{projection}.{expert}"
                linear(maker, name, rows, columns, form, level)
    elif layout == "fused" and form == "bf16":
        maker.add(f"{block}.experts.gate_up_proj", "BF16", [count, 2 * inner, hidden])
        maker.add(f"{block}.experts.down_proj", "BF16", [count, hidden, inner])
    elif layout == "fused" and form == "mxfp4":
        for stem, rows, columns in (("gate_up_proj", 2 * inner, hidden), ("down_proj", hidden, inner)):
            maker.add(f"{block}.experts.{stem}_blocks", "U8", [count, rows, columns // 32, 16])
            maker.add(f"{block}.experts.{stem}_scales", "U8", [count, rows, columns // 32],
                      bytes(maker.random.randrange(0x70, 0x80) for _ in range(count * rows * columns // 32)))
            maker.add(f"{block}.experts.{stem}_bias", "BF16", [count, rows])
    elif layout == "fused":
        for stem, rows, columns in (("gate_up_proj", 2 * inner, hidden), ("down_proj", hidden, inner)):
            fused(maker, f"{block}.experts.{stem}", [count, rows, columns], form)
    elif layout == "granite":
        maker.add(f"{block}.input_linear.weight", "BF16", [count, 2 * inner, hidden])
        maker.add(f"{block}.output_linear.weight", "BF16", [count, hidden, inner])
    else:
        raise SystemExit(f"no layout {layout} with {form}")


def block(maker, prefix, layout, form, count, hidden, inner, vectors):
    router = {"granite": "router.layer.weight", "mxfp4": "router.weight"}.get(form if form == "mxfp4" else layout, "gate.weight")
    maker.add(f"{prefix}.{router}", "BF16", [count, hidden])
    if form == "mxfp4":
        maker.add(f"{prefix}.router.bias", "BF16", [count])
    if "correction" in vectors:
        maker.add(f"{prefix}.gate.e_score_correction_bias", "F32", [count])
    if "statics" in vectors:
        maker.add(f"{prefix}.moe_statics.e_score_correction_bias", "F32", [1, count])
    experts(maker, prefix, layout, form, count, hidden, inner)
    if layout != "granite" and form != "mxfp4":
        linear(maker, f"{prefix}.shared_expert.up_proj", inner, hidden, "bf16", 0)
        maker.add(f"{prefix}.shared_expert_gate.weight", "BF16", [1, hidden])


def build(args):
    maker = Maker(args.seed)
    hidden, inner = 64 * args.scale, 32 * args.scale
    moe = "block_sparse_moe" if args.layout == "granite" else "mlp"
    prefix = "model.language_model" if args.wrapped else "model"
    maker.add(f"{prefix}.embed_tokens.weight", "BF16", [64, hidden])
    for layer in range(args.layers):
        maker.add(f"{prefix}.layers.{layer}.input_layernorm.weight", "BF16", [hidden])
        linear(maker, f"{prefix}.layers.{layer}.self_attn.q_proj", hidden, hidden, "bf16", 0)
        block(maker, f"{prefix}.layers.{layer}.{moe}", args.layout, args.format, args.experts, hidden, inner, args.vectors)
    maker.add(f"{prefix}.norm.weight", "BF16", [hidden])
    if args.empty:  # legal, if odd: tensors of no bytes, among experts too
        maker.add(f"{prefix}.nothing.weight", "BF16", [0, hidden])
        for expert in range(args.experts):
            maker.add(f"{prefix}.layers.0.mlp.experts.{expert}.up_proj.bias", "BF16", [0])
    maker.add("lm_head.weight", "BF16", [64, hidden])
    if args.mtp != "absent":
        maker.add("mtp.fc.weight", "BF16", [hidden, 2 * hidden])
        layout = "fused" if args.mtp in ("fused", "orphan") else "per-expert"
        form = args.mtp_format
        block(maker, "mtp.layers.0.mlp", layout, form, args.experts, hidden, inner, ())
    return maker.tensors


def write_shard(path, tensors):
    order = sorted(tensors, key=lambda name: (-RANK.index(tensors[name][0]), name))
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name in order:
        dtype, shape, data = tensors[name]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            handle.write(tensors[name][2])


def write_config(args, directory):
    inner = {"model_type": "qwen3_5_moe_text", "num_hidden_layers": args.layers, "hidden_size": 64 * args.scale,
             "num_experts": args.experts, "num_experts_per_tok": args.top_k, "norm_topk_prob": True}
    if args.groups > 1:
        inner.update({"n_group": args.groups, "topk_group": args.groups})
    if args.mtp != "absent":
        inner["mtp_num_hidden_layers"] = 1
    if "statics" in args.vectors:
        inner["moe_capacity"] = [args.experts, args.experts, args.experts]
    config = {"architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe"}
    if args.wrapped:
        config["text_config"] = inner
    else:
        config.update(inner)
    if args.lists:
        prefix = "model.language_model" if args.wrapped else "model"
        config["quantization_config"] = {
            "quant_method": "modelopt", "ignore": ["lm_head", "mtp*"] +
            [f"{prefix}.layers.0.mlp.experts.{e}.up_proj" for e in range(args.experts)],
            "quantized_layers": {f"{prefix}.layers.1.mlp.experts.{e}.down_proj": {"bits": 4} for e in range(args.experts)}}
    text = json.dumps(config, indent=2).replace('"norm_topk_prob": true', '"rms_norm_eps": 1e-06,\n  "norm_topk_prob": true')
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as handle:
        handle.write(text + "\n")


def write_checkpoint(args, directory):
    tensors = build(args)
    names = sorted(tensors)
    apart = [n for n in names if args.mtp == "orphan" and n.startswith("mtp.")]
    names = [n for n in names if n not in apart]
    os.makedirs(directory, exist_ok=True)
    write_config(args, directory)
    with open(os.path.join(directory, "tokenizer.json"), "w", encoding="utf-8") as handle:
        handle.write('{"version": "1.0"}\n')
    with open(os.path.join(directory, "README.md"), "w", encoding="utf-8") as handle:
        handle.write("# The original\n")
    if apart:
        write_shard(os.path.join(directory, "mtp.safetensors"), {n: tensors[n] for n in apart})
    if args.shards == 1:
        write_shard(os.path.join(directory, "model.safetensors"), {n: tensors[n] for n in names})
        if not apart:
            return
        parts = {"model.safetensors": names}
    elif args.lonely_expert:  # a shard that holds nothing but one expert vanishes when that expert goes
        lonely = [n for n in names if f".layers.0.mlp.experts.{args.lonely_expert}." in n]
        rest = [n for n in names if n not in lonely]
        parts = {"model-00001-of-00003.safetensors": rest[:len(rest) // 2], "model-00002-of-00003.safetensors": lonely,
                 "model-00003-of-00003.safetensors": rest[len(rest) // 2:]}
    else:
        cut = [len(names) * i // args.shards for i in range(args.shards + 1)]
        parts = {"model-%05d-of-%05d.safetensors" % (i + 1, args.shards): names[cut[i]:cut[i + 1]] for i in range(args.shards)}
    index = {"metadata": {"total_size": sum(len(tensors[n][2]) for n in names)}, "weight_map": {}}
    for file, members in parts.items():
        if not os.path.exists(os.path.join(directory, file)):
            write_shard(os.path.join(directory, file), {n: tensors[n] for n in members})
        index["weight_map"].update({n: file for n in members})
    index["weight_map"] = dict(sorted(index["weight_map"].items()))
    with open(os.path.join(directory, "model.safetensors.index.json"), "w", encoding="utf-8") as handle:
        json.dump(index, handle, indent=2)
        handle.write("\n")


def options(**changes):
    """The defaults of the command line as an object, for other scripts."""
    values = {"layout": "per-expert", "format": "nvfp4", "shards": 1, "mtp": "absent", "experts": 16, "top_k": 2, "layers": 2,
              "groups": 1, "vectors": (), "lists": False, "wrapped": True, "seed": 7, "scale": 1, "lonely_expert": None, "empty": False,
              "mtp_format": "bf16"}
    unknown = set(changes) - set(values)
    if unknown:
        raise TypeError(f"unknown options {unknown}")
    values.update(changes)
    return argparse.Namespace(**values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--layout", default="per-expert")
    parser.add_argument("--format", default="nvfp4")
    for name, value in (("shards", 1), ("experts", 16), ("top_k", 2), ("layers", 2), ("groups", 1), ("seed", 7), ("scale", 1)):
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--mtp-format", default="bf16")
    parser.add_argument("--mtp", choices=["fused", "per-expert", "absent", "orphan"], default="absent")
    args = parser.parse_args()
    given = {k: v for k, v in vars(args).items() if k != "directory"}
    write_checkpoint(options(**given), args.directory)


if __name__ == "__main__":
    main()
