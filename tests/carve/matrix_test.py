#!/usr/bin/env python3
"""kvfit against the oracle, byte for byte, over layouts, formats, shards and draft heads: `matrix_test.py KVFIT`.

Each case writes a small checkpoint, carves it with both, and compares every tensor file's bytes and every JSON file's values.
Exit 77 (a visible skip) when numpy is missing.
"""

import json
import os
import subprocess
import sys
import tempfile

from harness import KVFIT, kvfit, require_numpy

require_numpy()
import numpy  # noqa: E402
import carve_oracle  # noqa: E402
import make_checkpoint  # noqa: E402

FORMS = [("per-expert", "bf16"), ("per-expert", "nvfp4"), ("per-expert", "nvfp4-ct"), ("per-expert", "fp8-block"),
         ("per-expert", "gptq"), ("per-expert", "packed"), ("per-expert", "exl3"), ("swapped", "bf16"), ("swapped", "nvfp4"),
         ("swapped", "nvfp4-ct"), ("swapped", "fp8-block"), ("swapped", "gptq"), ("swapped", "packed"), ("swapped", "exl3"),
         ("fused", "bf16"), ("fused", "nvfp4"), ("fused", "nvfp4-ct"), ("fused", "fp8-block"), ("fused", "mxfp4"), ("granite", "bf16")]
HAS_NO_SCALES = {"exl3"}  # scored by router norms
failures = 0


def case(name, keep=8, score="kirigami", how="carve", flags=(), check=None, **options):
    global failures
    with tempfile.TemporaryDirectory() as place:
        source, ours, theirs = (os.path.join(place, n) for n in ("source", "ours", "theirs"))
        make_checkpoint.write_checkpoint(make_checkpoint.options(**options), source)
        if check is parameters:
            path = os.path.join(source, "model.safetensors.index.json")
            with open(path, encoding="utf-8") as handle:
                index = json.load(handle)
            index["metadata"]["total_parameters"] = sum(int(numpy.prod(t.shape)) for t in carve_oracle.load(source)[1])
            with open(path, "w", encoding="utf-8") as handle:
                json.dump(index, handle)
            with open(os.path.join(source, "recipe.yaml"), "w", encoding="utf-8") as handle:
                handle.write("ignore: ['re:.*experts.3.*']\n")
        try:
            kvfit("carve", "run", source, ours, "--keep", str(keep), "--score", score, "--mtp", how, "--canonical-pad", "-q", *flags)
            carve_oracle.carve(source, theirs, keep, score, how, None)
            problems = carve_oracle.compare(ours, theirs)
            problems += [f"left over: {n}" for n in os.listdir(ours) if n.endswith(".part") or n in ("state.json", ".lock", "parts")]
            kvfit("carve", "verify", source, ours, "--full")
            found = json.loads(kvfit("carve", "inspect", ours, "--format", "json"))["result"]["experts"]
            problems += [] if found == keep else [f"the output has {found} experts"]
            if check:
                problems += check(source, ours)
        except (AssertionError, carve_oracle.Refused) as why:
            problems = [str(why)]
    for problem in problems:
        print(f"{name}: {problem}")
    failures += bool(problems)


def identical(source, ours):
    """Keeping all experts changes no byte of a checkpoint the reference writer wrote."""
    out = []
    for name in sorted(os.listdir(source)):
        if name.endswith(".safetensors") or name in ("config.json", "model.safetensors.index.json", "tokenizer.json"):
            with open(os.path.join(source, name), "rb") as a, open(os.path.join(ours, name), "rb") as b:
                if a.read() != b.read():
                    out.append(f"{name} changed")
    return out


def only_spans_changed(source, ours):
    """Every line of config.json that names no expert and no count is where it was, byte for byte."""
    with open(os.path.join(source, "config.json"), encoding="utf-8") as a, open(os.path.join(ours, "config.json"), encoding="utf-8") as b:
        old = [l for l in a if ".experts." not in l and "num_experts\"" not in l]
        new = [l for l in b if ".experts." not in l and "num_experts\"" not in l]
    return [] if [l for l in old if "bits" not in l and l.strip() not in ("{", "}", "},")] == \
        [l for l in new if "bits" not in l and l.strip() not in ("{", "}", "},")] else ["config.json: other lines changed"]


def parameters(source, ours):
    """total_parameters is counted anew; recipe.yaml is carried, and a note says that it names old numbers."""
    with open(os.path.join(ours, "model.safetensors.index.json"), encoding="utf-8") as handle:
        stated = json.load(handle)["metadata"]
    counted = sum(int(numpy.prod(t.shape)) for t in carve_oracle.load(ours)[1])
    with open(os.path.join(ours, "carve_manifest.json"), encoding="utf-8") as handle:
        warnings = json.load(handle)["warnings"]
    out = [] if stated.get("total_parameters") == counted else [f"the index states {stated}, not {counted} parameters"]
    return out if warnings == ["recipe.yaml names experts by their old numbers and is carried as it is"] else out + [f"notes {warnings}"]


def renumbered(source, ours):
    files = sorted(n for n in os.listdir(ours) if n.endswith(".safetensors"))
    return [] if files == ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] else [f"files {files}"]


def default_padding(source, ours):
    """With the default padding tensors are the same; only spaces at the header's end differ."""
    with tempfile.TemporaryDirectory() as place:
        other = os.path.join(place, "padded")
        kvfit("carve", "run", source, other, "--keep", "8", "-q")
        out = []
        for name in sorted(n for n in os.listdir(ours) if n.endswith(".safetensors")):
            a, b = (carve_oracle.read_shard(os.path.join(d, name)) for d in (ours, other))
            if a[0] != b[0] or [(t.name, t.dtype, t.shape, t.data) for t in a[1]] != [(t.name, t.dtype, t.shape, t.data) for t in b[1]]:
                out.append(f"{name}: tensors differ under the default padding")
        return out


def dropped_expert():
    """An expert of layer 0 that the default case drops."""
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "source")
        make_checkpoint.write_checkpoint(make_checkpoint.options(), source)
        blocks, _ = carve_oracle.recognise(carve_oracle.load(source)[1])
        scores = carve_oracle.block_scores(blocks["model.language_model.layers.0.mlp"], "kirigami")
        return min(range(1, 16), key=lambda e: scores[e])


def refuses(name, keep, expected, **options):
    """kvfit says why, exits 2 and leaves nothing behind."""
    global failures
    with tempfile.TemporaryDirectory() as place:
        source, ours = os.path.join(place, "source"), os.path.join(place, "ours")
        make_checkpoint.write_checkpoint(make_checkpoint.options(**options), source)
        done = subprocess.run([KVFIT, "carve", "run", source, ours, "--keep", str(keep)], capture_output=True, text=True, timeout=60)
        left = [n for n in os.listdir(place) if n != "source"]
        if done.returncode != 2 or expected not in done.stderr or left:
            print(f"{name}: exit {done.returncode}, left {left}\n{done.stderr}")
            failures += 1


for layout, form in FORMS:
    score = "router-norm" if form in HAS_NO_SCALES else "kirigami"
    for shards in (1, 2, 7):
        case(f"{layout} {form}, {shards} shards", layout=layout, format=form, shards=shards, score=score, seed=shards)
for mtp in ("fused", "per-expert"):
    for how in ("carve", "drop"):
        case(f"draft head {mtp}, {how}", mtp=mtp, how=how, shards=2)
for form in ("nvfp4", "fp8-block", "packed", "gptq"):
    case(f"draft head per expert, {form}", mtp="per-expert", mtp_format=form, shards=2)
case("draft head per expert, exl3", mtp="per-expert", mtp_format="exl3", format="exl3", score="router-norm")
case("draft head fused, fp8-block", mtp="fused", mtp_format="fp8-block", shards=2)
case("draft head in a file of its own", mtp="orphan", flags=["--include-orphans"])
for score in ("kirigami-eff", "scale", "router-norm"):
    case(f"score {score}", score=score)
    case(f"score {score}, compressed-tensors", score=score, format="nvfp4-ct")
case("correction bias, groups of the router", vectors=("correction",), groups=4, top_k=2, experts=32, keep=16)
case("eight groups of the router", vectors=("correction",), groups=8, top_k=2, experts=32, keep=16)
case("tensors without a byte", empty=True, shards=2)
case("bias along the second axis", vectors=("statics",))
case("lists that name experts", lists=True, check=only_spans_changed)
case("lists that name experts, no wrapper", lists=True, wrapped=False, check=only_spans_changed)
case("an index that counts parameters", shards=2, check=parameters)
case("keeping all", keep=16, shards=2, lists=True, check=identical)
case("keeping all, one file", keep=16, layout="fused", format="bf16", check=identical)
case("a shard that vanishes", shards=3, lonely_expert=dropped_expert(), check=renumbered)
case("default padding", shards=2, check=default_padding)
refuses("as many as the router picks", 2, "2 experts are too few: the router picks 2 a token")
refuses("no multiple of four", 6, "6 experts: the count must be a multiple of 4")
refuses("groups that do not divide", 12, "experts do not divide into the router's 8 groups", groups=8, experts=16)
refuses("an orphan with experts", 8, "the index does not name this file, and it holds 'mtp.", mtp="orphan", shards=2)
print(f"{'all cases hold' if failures == 0 else str(failures) + ' cases fail'}")
sys.exit(1 if failures else 0)
