#!/usr/bin/env python3
"""An independent re-implementation of the expert carve, for tests only.

Shares no code and no tables with the C++: it reads whole shards, decides what is an expert, scores, selects, slices with numpy and
writes the checkpoint that `kvfit carve run --canonical-pad --reproducible` must equal byte for byte.

    carve_oracle.py carve SRC DST --keep K [--score ID] [--mtp carve|drop] [--manifest FILE]
    carve_oracle.py compare A B          exit 0 when every tensor file is byte-identical and JSON side files parse equal
    carve_oracle.py scores SRC --score ID    one JSON object {block prefix: [scores]}

With --manifest the kept sets are read from FILE ("blocks": [{"prefix", "kept"}]) and only checked against the scores.
"""

import argparse
import hashlib
import json
import os
import re
import struct
import sys

import numpy as np

BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}
PROJECTIONS = {"gate_proj", "up_proj", "down_proj", "w1", "w2", "w3", "gate_up_proj"}
COUNT_KEYS = {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts"}
TOP_K_KEYS = {"num_experts_per_tok", "moe_k", "moe_topk", "top_k_experts", "experts_per_token", "moe_top_k"}


class Refused(Exception):
    """The checkpoint must not be carved; the message says why."""


# ---- safetensors ---------------------------------------------------------------------------------------------------------

class Tensor:
    def __init__(self, name, dtype, shape, data):
        self.name, self.dtype, self.shape, self.data = name, dtype, list(shape), data

    def slab(self, count):
        """Bytes of one slice along axis 0."""
        if len(self.data) % count:
            raise Refused(f"{self.name}: {len(self.data)} bytes do not divide into {count} slices")
        return len(self.data) // count


def unique_object(pairs):
    out = {}
    for key, value in pairs:
        if key in out:
            raise Refused(f"duplicate key {key}")
        out[key] = value
    return out


def read_shard(path):
    with open(path, "rb") as handle:
        blob = handle.read()
    if len(blob) < 8:
        raise Refused(f"{path}: header too small")
    (length,) = struct.unpack("<Q", blob[:8])
    if length > 100_000_000:
        raise Refused(f"{path}: header too large")
    if 8 + length > len(blob):
        raise Refused(f"{path}: invalid header length")
    text = blob[8:8 + length].decode("utf-8")
    if not text.startswith("{"):
        raise Refused(f"{path}: header does not start with an object")
    header = json.loads(text, object_pairs_hook=unique_object)
    metadata = header.pop("__metadata__", None)
    entries = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    tensors, at = [], 0
    for name, info in entries:
        begin, end = info["data_offsets"]
        if begin != at or end < begin:
            raise Refused(f"{path}: invalid offset for tensor {name}")
        bits = BITS[info["dtype"]]
        for size in info["shape"]:
            bits *= size
        if bits % 8 or bits // 8 != end - begin:
            raise Refused(f"{path}: invalid shape, data type, or offset of {name}")
        tensors.append(Tensor(name, info["dtype"], info["shape"], blob[8 + length + begin:8 + length + end]))
        at = end
    if 8 + length + at != len(blob):
        raise Refused(f"{path}: incomplete metadata, file not fully covered")
    return metadata, tensors


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_shard(path, metadata, tensors):
    parts, at = [], 0
    if metadata is not None:
        parts.append('"__metadata__":' + compact(metadata))
    for tensor in tensors:
        end = at + len(tensor.data)
        parts.append(compact(tensor.name) + ':{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' %
                     (tensor.dtype, compact(tensor.shape), at, end))
        at = end
    header = ("{" + ",".join(parts) + "}").encode("utf-8")
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as handle:
        handle.write(struct.pack("<Q", len(header)) + header)
        for tensor in tensors:
            handle.write(tensor.data)


# ---- numbers -------------------------------------------------------------------------------------------------------------

def e4m3_table():
    out = np.empty(256)
    for code in range(256):
        sign = -1.0 if code & 0x80 else 1.0
        exponent, mantissa = (code >> 3) & 15, code & 7
        if code & 0x7F == 0x7F:
            out[code] = float("nan")
        elif exponent == 0:
            out[code] = sign * mantissa * 2.0 ** -9
        else:
            out[code] = sign * (1 + mantissa / 8) * 2.0 ** (exponent - 7)
    return out


E4M3 = e4m3_table()


def numbers(tensor):
    if tensor.dtype == "BF16":
        return (np.frombuffer(tensor.data, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if tensor.dtype == "F16":
        return np.frombuffer(tensor.data, "<f2").astype(np.float64)
    if tensor.dtype == "F32":
        return np.frombuffer(tensor.data, "<f4").astype(np.float64)
    if tensor.dtype == "F64":
        return np.frombuffer(tensor.data, "<f8").copy()
    if tensor.dtype == "I64":
        return np.frombuffer(tensor.data, "<i8")
    if tensor.dtype == "F8_E4M3":
        return E4M3[np.frombuffer(tensor.data, np.uint8)]
    raise Refused(f"{tensor.name}: cannot read {tensor.dtype} as numbers")


# ---- recognising experts -------------------------------------------------------------------------------------------------

PER_EXPERT = re.compile(r"^(.+)\.experts\.(\d+)\.(.+)$")
SWAPPED = re.compile(r"^(.+)\.experts\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.(\d+)\.(.+)$")
FUSED = re.compile(r"^(.+)\.experts\.([a-z0-9_]+(?:\.[a-z_0-9]+)?)$")
SWITCH = re.compile(r"^(.+)\.switch_mlp\.([a-z_]+\.[a-z_]+)$")
FLAT = re.compile(r"^(.+)\.experts\.mlp\.(w1|v1|w2)$")
TABLE = re.compile(r"^(.+)\.gate\.tid2eid$")
GRANITE = re.compile(r"^(.+block_sparse_moe)\.(input_linear|output_linear)\.(.+)$")
ROUTERS = re.compile(r"^(.+?)\.(gate|router|router\.proj|router\.layer|router\.gate|gate\.wg)\."
                     r"(weight|bias|scales|biases|e_score_correction_bias|expert_bias)$")
VECTORS = re.compile(r"^(.+?)\.(e_score_correction_bias|expert_bias|router_bias|router\.per_expert_scale|"
                     r"experts\.e_score_correction_bias|moe_statics\.e_score_correction_bias)$")
KEPT = re.compile(r"\.(shared_experts?|share_expert|shared_expert_gate|fc1_latent_proj|fc2_latent_proj)(\.|$)")


class Block:
    def __init__(self, prefix):
        self.prefix = prefix
        self.per_expert = {}  # expert -> {rest: tensor}
        self.fused = []
        self.router = None
        self.table = None
        self.flat = 0  # experts of a flattened block


def recognise(tensors, stated=0):
    """-> ({prefix: Block}, {tensor name: (kind, prefix, expert, rest)})."""
    blocks, kinds = {}, {}

    def note(tensor, kind, prefix, expert=None, rest=None):
        kinds[tensor.name] = (kind, prefix, expert, rest)
        return blocks.setdefault(prefix, Block(prefix))

    for tensor in tensors:
        if KEPT.search(tensor.name):
            continue
        swapped = SWAPPED.match(tensor.name)
        direct = PER_EXPERT.match(tensor.name)
        if swapped:
            rest = swapped[2] + "." + swapped[4]
            block = note(tensor, "swapped", swapped[1], int(swapped[3]), rest)
            block.per_expert.setdefault(int(swapped[3]), {})[rest] = tensor
        elif direct:
            block = note(tensor, "expert", direct[1], int(direct[2]), direct[3])
            block.per_expert.setdefault(int(direct[2]), {})[direct[3]] = tensor
    for tensor in tensors:
        if tensor.name in kinds or KEPT.search(tensor.name) or VECTORS.match(tensor.name):
            continue
        fused = FUSED.match(tensor.name) or GRANITE.match(tensor.name) or SWITCH.match(tensor.name)
        if FLAT.match(tensor.name):
            block = note(tensor, "flat", FLAT.match(tensor.name)[1])
            block.fused.append(tensor)
            block.flat = stated
        elif fused:
            note(tensor, "fused", fused[1]).fused.append(tensor)
    for tensor in tensors:
        vector = VECTORS.match(tensor.name)
        if tensor.name not in kinds and vector and vector[1] in blocks:
            note(tensor, "vector", vector[1])
        table = TABLE.match(tensor.name)
        if table and table[1] in blocks:
            note(tensor, "table", table[1]).table = tensor
    for tensor in tensors:
        router = ROUTERS.match(tensor.name)
        if tensor.name not in kinds and router and router[1] in blocks:
            block = note(tensor, "router" if router[3] == "weight" else "vector", router[1])
            if router[3] == "weight":
                block.router = tensor
    return blocks, kinds


def expert_count(block):
    if block.per_expert:
        ids = sorted(block.per_expert)
        if ids != list(range(len(ids))):
            raise Refused(f"{block.prefix}: expert ids are not 0..{len(ids) - 1}")
        names = {frozenset(rests) for rests in block.per_expert.values()}
        if len(names) != 1:
            raise Refused(f"{block.prefix}: experts do not all have the same tensors")
        return len(ids)
    return block.flat or block.fused[0].shape[0]


# ---- scores --------------------------------------------------------------------------------------------------------------

def row_norms(router):
    rows = numbers(router).reshape(router.shape)
    return np.sqrt((rows * rows).sum(axis=1))


SCALES = {"weight_scale", "weight_scale_inv", "scales", "scale", "scale_inv"}


def scale_numbers(tensor):
    """gpt-oss stores powers of two as their biased exponent."""
    if tensor.dtype in ("U8", "F8_E8M0"):
        return 2.0 ** (np.frombuffer(tensor.data, np.uint8).astype(np.float64) - 127)
    return numbers(tensor)


def expert_scales(block, count, effective):
    """Mean stored weight scale of each expert, all projections pooled; None where the block has no scales."""
    sums, sizes = np.zeros(count), np.zeros(count)
    for expert, rests in block.per_expert.items():
        for rest, tensor in sorted(rests.items()):
            stem, _, last = rest.rpartition(".")
            if last not in SCALES or stem not in PROJECTIONS:
                continue
            values = scale_numbers(tensor)
            factor = 1.0
            if effective and stem + ".weight_scale_2" in rests:
                factor = float(numbers(rests[stem + ".weight_scale_2"])[0])
            elif effective and stem + ".weight_global_scale" in rests:
                factor = 1.0 / float(numbers(rests[stem + ".weight_global_scale"])[0])
            sums[expert] += values.sum() * factor
            sizes[expert] += values.size
    for tensor in block.fused:
        if tensor.name.endswith(("_scales", "_proj_scale", "_weight_scale", "_scale_inv")):
            values = scale_numbers(tensor).reshape(count, -1)
            sums += values.sum(axis=1)
            sizes += values.shape[1]
    return sums / sizes if sizes.all() else None


def plain_block_scales(block, count):
    """What an NVFP4 effective scale would be, from plain weights: mean over runs of 16 inputs of max|w| / 6."""
    sums, sizes = np.zeros(count), np.zeros(count)

    def add(expert, values, width):
        values = np.abs(values.reshape(-1, width))
        if width % 16:
            raise Refused("rows are not a multiple of 16")
        peaks = values.reshape(values.shape[0], width // 16, 16).max(axis=2) / 6
        sums[expert] += peaks.sum()
        sizes[expert] += peaks.size

    for expert, rests in block.per_expert.items():
        for rest, tensor in sorted(rests.items()):
            if rest.endswith(".weight") and tensor.dtype in ("BF16", "F16", "F32"):
                add(expert, numbers(tensor), tensor.shape[-1])
    for tensor in block.fused:
        if tensor.dtype in ("BF16", "F16", "F32") and (len(tensor.shape) == 3 or block.flat):
            values = numbers(tensor).reshape(count, -1)
            for expert in range(count):
                add(expert, values[expert], tensor.shape[-1])
    return sums / sizes if sizes.all() else None


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def dequantised(rests, stem):
    """All weights of one linear module as numbers."""
    weight = rests.get(stem + ".weight", rests.get(stem + ".weight_packed"))
    if weight.dtype == "U8":
        codes = np.frombuffer(weight.data, np.uint8)
        values = E2M1[np.stack([codes & 15, codes >> 4], axis=1).ravel()].reshape(weight.shape[0], -1)
        values = values * np.repeat(numbers(rests[stem + ".weight_scale"]).reshape(weight.shape[0], -1), 16, axis=1)
        if stem + ".weight_scale_2" in rests:
            return values * float(numbers(rests[stem + ".weight_scale_2"])[0])
        return values / float(numbers(rests[stem + ".weight_global_scale"])[0])
    values = numbers(weight).reshape(weight.shape)
    if stem + ".weight_scale_inv" in rests:
        scale = rests[stem + ".weight_scale_inv"]
        tiles = np.kron(numbers(scale).reshape(scale.shape), np.ones((128, 128)))
        return values * tiles[:weight.shape[0], :weight.shape[1]]
    return values


def stable_rank(matrix):
    """By singular values, not by power iteration."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    return (singular ** 2).sum() / singular[0] ** 2


def weight_scores(block, score):
    out = []
    for expert in range(expert_count(block)):
        if block.per_expert:
            rests = block.per_expert[expert]
            parts = [dequantised(rests, stem) for stem in sorted({r.rpartition(".")[0] for r in rests})]
        else:
            parts = [numbers(t).reshape(t.shape)[expert] for t in block.fused]
        if score == "stable-rank":
            out.append(np.mean([stable_rank(part) for part in parts]))
            continue
        values = np.concatenate([part.ravel() for part in parts])
        rms = np.sqrt((values * values).mean())
        out.append(np.sqrt((values * values).sum()) if score == "frob" else -np.abs(values).mean() / rms)
    return np.array(out)


def block_scores(block, score):
    count = expert_count(block)
    if score in ("aimer", "frob", "stable-rank"):
        return weight_scores(block, score)
    if block.table is not None and score != "scale":
        return np.bincount(numbers(block.table), minlength=count).astype(np.float64)
    norms = row_norms(block.router)
    if score == "router-norm":
        return norms
    scales = expert_scales(block, count, effective=score in ("kirigami-eff", "scale"))
    if scales is None:
        scales = plain_block_scales(block, count)
    if scales is None:
        raise Refused(f"{block.prefix}: no scales to score by")
    return scales if score == "scale" else norms * scales


def select(scores, keep, groups=1):
    if not np.isfinite(scores).all() or np.all(scores == scores[0]):
        raise Refused("scores are all equal or not finite")
    out, size = [], len(scores) // groups
    for group in range(groups):
        ids = range(group * size, (group + 1) * size)
        out += sorted(ids, key=lambda e: (-scores[e], e))[:keep // groups]
    return sorted(out)


# ---- rewriting -----------------------------------------------------------------------------------------------------------

def remap(table, router, kept):
    """Dropped experts of a table become the kept one with the most similar router row that the row does not name yet."""
    rows = numbers(router).reshape(router.shape)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    nearest = {}
    for expert in range(len(rows)):
        if expert not in kept:
            alike = rows[kept] @ rows[expert]
            nearest[expert] = sorted(range(len(kept)), key=lambda new: (-alike[new], new))
    out = []
    for row in numbers(table).reshape(table.shape).tolist():
        new = [kept.index(e) if e in kept else None for e in row]
        for i, expert in enumerate(row):
            if new[i] is None:
                new[i] = next(n for n in nearest[expert] if n not in new)
        out.append(new)
    return Tensor(table.name, table.dtype, table.shape, np.array(out, "<i8").tobytes())


def carve_tensor(tensor, kind, kept, count, block):
    what, _, expert, _ = kind
    if what in ("expert", "swapped"):
        if expert not in kept:
            return None
        new = kept.index(expert)
        pattern = r"\.experts\.%d\." if what == "expert" else r"\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.%d\."
        if what == "expert":
            name = re.sub(pattern % expert, ".experts.%d." % new, tensor.name, count=1)
        else:
            name = re.sub(pattern % expert, lambda m: ".%s.%d." % (m[1], new), tensor.name, count=1)
        return Tensor(name, tensor.dtype, tensor.shape, tensor.data)
    if what == "table":
        return remap(tensor, block.router, kept)
    if what == "flat":
        slab = tensor.slab(count)
        data = b"".join(tensor.data[e * slab:(e + 1) * slab] for e in kept)
        return Tensor(tensor.name, tensor.dtype, [tensor.shape[0] // count * len(kept)] + tensor.shape[1:], data)
    if tensor.shape and tensor.shape[0] == count:
        slab = tensor.slab(count)
        data = b"".join(tensor.data[e * slab:(e + 1) * slab] for e in kept)
        return Tensor(tensor.name, tensor.dtype, [len(kept)] + tensor.shape[1:], data)
    if len(tensor.shape) == 2 and tensor.shape[1] == count:
        cells = np.frombuffer(tensor.data, np.dtype("V%d" % (BITS[tensor.dtype] // 8))).reshape(tensor.shape)
        return Tensor(tensor.name, tensor.dtype, [tensor.shape[0], len(kept)], cells[:, kept].tobytes())
    raise Refused(f"{tensor.name}: no axis of {count} experts")


def edit_counts(value, old, new, prefix_sets):
    """config.json with every expert count changed and every list of modules renumbered."""
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            if key in COUNT_KEYS and item == old:
                item = new
            elif key == "moe_capacity" and isinstance(item, list):
                item = [new if x == old else x for x in item]
            renamed = rename_module(key, prefix_sets)
            if renamed is not None:
                out[renamed] = edit_counts(item, old, new, prefix_sets)
        return out
    if isinstance(value, list):
        out = []
        for item in value:
            if isinstance(item, str):
                renamed = rename_module(item, prefix_sets)
                if renamed is not None:
                    out.append(renamed)
            else:
                out.append(edit_counts(item, old, new, prefix_sets))
        return out
    return value


def rename_module(name, prefix_sets):
    """The module's new name, None when its expert was dropped."""
    match = re.match(r"^(.+)\.experts\.(\d+)(\..+)?$", name)
    if match and match[1] in prefix_sets:
        kept = prefix_sets[match[1]]
        expert = int(match[2])
        return None if expert not in kept else f"{match[1]}.experts.{kept.index(expert)}{match[3] or ''}"
    match = re.match(r"^(.+)\.experts\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.(\d+)(\..+)?$", name)
    if match and match[1] in prefix_sets:
        kept = prefix_sets[match[1]]
        expert = int(match[3])
        return None if expert not in kept else f"{match[1]}.experts.{match[2]}.{kept.index(expert)}{match[4] or ''}"
    return name


def find_number(config, keys):
    for scope in (config, config.get("text_config") or {}, config.get("ffn_config") or {}):
        for key in keys:
            if isinstance(scope.get(key), int):
                return scope[key]
    return None


def load(source):
    shards = {}
    for name in sorted(os.listdir(source)):
        if name.endswith(".safetensors"):
            shards[name] = read_shard(os.path.join(source, name))
    everything = [tensor for _, tensors in shards.values() for tensor in tensors]
    if len({tensor.name for tensor in everything}) != len(everything):
        raise Refused("a tensor name stands in two files")
    with open(os.path.join(source, "config.json"), encoding="utf-8") as handle:
        config = json.load(handle)
    return shards, everything, config


def kept_sets(blocks, keep, score, groups, manifest):
    if manifest is None:
        return {p: select(block_scores(b, score), keep, groups) for p, b in sorted(blocks.items())}
    with open(manifest, encoding="utf-8") as handle:
        named = {block["prefix"]: block["kept"] for block in json.load(handle)["blocks"]}
    if set(named) != set(blocks):
        raise Refused("the manifest names other blocks")
    for prefix, kept in named.items():
        if kept != sorted(set(kept)) or len(kept) != keep:
            raise Refused(f"{prefix}: kept ids are not {keep} ascending ids")
        if score:
            scores = block_scores(blocks[prefix], score)
            dropped = [scores[e] for e in range(len(scores)) if e not in set(kept)]
            if dropped and groups == 1 and min(scores[kept]) < max(dropped) * (1 - 1e-12):
                raise Refused(f"{prefix}: a dropped expert scores higher than a kept one")
    return named


def renumbered(names):
    """Output file of each surviving shard: numbered sets are numbered anew when a shard vanished."""
    numbered = [n for n in names if re.match(r"^model-\d{5}-of-\d{5}\.safetensors$", n)]
    out = {n: n for n in names}
    if numbered and int(numbered[0][15:20]) != len(numbered):
        for index, name in enumerate(sorted(numbered), 1):
            out[name] = "model-%05d-of-%05d.safetensors" % (index, len(numbered))
    return out


def carve(source, destination, keep, score, mtp, manifest):
    shards, everything, config = load(source)
    blocks, kinds = recognise(everything, find_number(config, sorted(COUNT_KEYS)))
    if mtp == "drop":
        blocks = {p: b for p, b in blocks.items() if not p.startswith("mtp.")}
    counts = {expert_count(block) for block in blocks.values()}
    if len(counts) != 1:
        raise Refused(f"blocks have different expert counts: {sorted(counts)}")
    count = counts.pop()
    top_k = find_number(config, sorted(TOP_K_KEYS))
    if top_k is not None and keep <= top_k:
        raise Refused(f"{keep} experts are too few: the router picks {top_k}")
    groups = find_number(config, ["n_group"]) or 1
    sets = kept_sets(blocks, keep, score, groups, manifest)
    os.makedirs(destination)
    survivors = {}
    for name, (metadata, tensors) in shards.items():
        out = []
        for tensor in tensors:
            if mtp == "drop" and tensor.name.startswith("mtp."):
                continue
            kind = kinds.get(tensor.name)
            carved = carve_tensor(tensor, kind, sets[kind[1]], count, blocks[kind[1]]) if kind else tensor
            if carved is not None:
                out.append(carved)
        if out:
            survivors[name] = (metadata, out)
    files = renumbered(sorted(survivors))
    weight_map = {}
    for name, (metadata, tensors) in survivors.items():
        write_shard(os.path.join(destination, files[name]), metadata, tensors)
        weight_map.update({tensor.name: files[name] for tensor in tensors})
    edited = edit_counts(config, count, keep, sets)
    if mtp == "drop":
        for scope in (edited, edited.get("text_config") or {}):
            for key in ("mtp_num_hidden_layers", "num_nextn_predict_layers"):
                if key in scope:
                    scope[key] = 0
    with open(os.path.join(destination, "config.json"), "w", encoding="utf-8") as handle:
        json.dump(edited, handle, indent=2)
    if os.path.exists(os.path.join(source, "model.safetensors.index.json")):
        total = sum(len(t.data) for _, tensors in survivors.values() for t in tensors)
        with open(os.path.join(destination, "model.safetensors.index.json"), "w", encoding="utf-8") as handle:
            json.dump({"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}, handle, indent=2)
    for name in shards:
        if files.get(name):
            read_shard(os.path.join(destination, files[name]))


def digest(path):
    with open(path, "rb") as handle:
        return hashlib.sha256(handle.read()).hexdigest()


def compare(a, b):
    tensors = [sorted(n for n in os.listdir(d) if n.endswith(".safetensors")) for d in (a, b)]
    problems = [] if tensors[0] == tensors[1] else [f"files differ: {tensors[0]} and {tensors[1]}"]
    for name in sorted(set(tensors[0]) & set(tensors[1])):
        if digest(os.path.join(a, name)) != digest(os.path.join(b, name)):
            problems.append(f"{name}: bytes differ")
    for name in ("config.json", "model.safetensors.index.json"):
        paths = [os.path.join(d, name) for d in (a, b)]
        present = [os.path.exists(p) for p in paths]
        if present[0] != present[1]:
            problems.append(f"{name}: only on one side")
        elif present[0]:
            values = [json.load(open(p, encoding="utf-8")) for p in paths]
            if name.endswith("index.json"):
                values = [{"total_size": v["metadata"]["total_size"], "weight_map": v["weight_map"]} for v in values]
            if values[0] != values[1]:
                problems.append(f"{name}: values differ")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("carve")
    run.add_argument("source")
    run.add_argument("destination")
    run.add_argument("--keep", type=int, required=True)
    run.add_argument("--score", default="kirigami")
    run.add_argument("--mtp", choices=["carve", "drop"], default="carve")
    run.add_argument("--manifest")
    both = verbs.add_parser("compare")
    both.add_argument("a")
    both.add_argument("b")
    show = verbs.add_parser("scores")
    show.add_argument("source")
    show.add_argument("--score", default="kirigami")
    args = parser.parse_args()
    try:
        if args.verb == "carve":
            carve(args.source, args.destination, args.keep, args.score, args.mtp, args.manifest)
        elif args.verb == "scores":
            blocks, _ = recognise(load(args.source)[1])
            print(json.dumps({p: block_scores(b, args.score).tolist() for p, b in sorted(blocks.items())}))
        else:
            problems = compare(args.a, args.b)
            print("\n".join(problems) if problems else "identical")
            return 1 if problems else 0
    except Refused as why:
        print(f"refused: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
