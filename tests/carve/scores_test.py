#!/usr/bin/env python3
"""Scores: those that read weights against the oracle's numbers, those of files, and the hard choices: `scores_test.py KVFIT`.

Exit 77 (a visible skip) when numpy is missing.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

from harness import KVFIT, finish, require_numpy

require_numpy()
import numpy  # noqa: E402
import carve_oracle  # noqa: E402
import make_checkpoint  # noqa: E402

problems = []


def plan(source, *flags, expect=0):
    words = [KVFIT, "carve", "plan", source, "-f", "json", "-q", *flags]
    done = subprocess.run(words if "--keep" in flags or "--fit" in flags else [*words, "--keep", "8"], capture_output=True,
                          text=True, timeout=60)
    if done.returncode != expect:
        problems.append(f"{flags}: exit {done.returncode}, not {expect}: {done.stderr}")
        return {"blocks": []}
    return json.loads(done.stdout)["result"] if expect == 0 else done.stderr


def check(holds, what):
    if not holds:
        problems.append(what)


def write(place, name, value):
    path = os.path.join(place, name)
    with open(path, "wb") as handle:
        handle.write(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def gguf(tensors):
    """A little-endian GGUF of version 3 with F32 tensors: {name: (extents, fastest first, values)}."""
    text = lambda t: struct.pack("<Q", len(t)) + t.encode()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 2)
    head += text("general.type") + struct.pack("<I", 8) + text("imatrix")
    head += text("imatrix.datasets") + struct.pack("<IIQ", 9, 8, 1) + text("calibration.txt")
    data = b""
    for name, (extents, values) in tensors.items():
        head += text(name) + struct.pack("<I", len(extents)) + b"".join(struct.pack("<Q", e) for e in extents)
        head += struct.pack("<IQ", 0, len(data))
        data += struct.pack(f"<{len(values)}f", *values)
        data += b"\0" * (-len(data) % 32)
    return head + b"\0" * (-len(head) % 32) + data


with tempfile.TemporaryDirectory() as place:
    source = os.path.join(place, "source")
    for layout, form in (("per-expert", "bf16"), ("per-expert", "nvfp4"), ("per-expert", "nvfp4-ct"), ("per-expert", "fp8-block"),
                         ("fused", "bf16"), ("swapped", "nvfp4")):
        path = os.path.join(place, f"{layout}-{form}")
        make_checkpoint.write_checkpoint(make_checkpoint.options(layout=layout, format=form, scale=3), path)
        blocks, _ = carve_oracle.recognise(carve_oracle.load(path)[1])
        for score in ("aimer", "frob", "kirigami", "router-norm"):
            for block in plan(path, "--score", score)["blocks"]:
                wanted = carve_oracle.block_scores(blocks[block["prefix"]], score)
                check(numpy.allclose(block["scores"], wanted, rtol=1e-9), f"{layout} {form} {score}: {block['prefix']} differs")

    path = os.path.join(place, "per-expert-nvfp4")
    blocks, _ = carve_oracle.recognise(carve_oracle.load(path)[1])
    for block in plan(path, "--score", "stable-rank")["blocks"]:  # an iteration comes near, from above
        wanted = carve_oracle.block_scores(blocks[block["prefix"]], "stable-rank")
        ratio = numpy.array(block["scores"]) / wanted
        check((ratio > 1 - 1e-9).all() and (ratio < 1.25).all(), f"stable-rank: {block['prefix']} is off by {ratio.min()} to {ratio.max()}")

    make_checkpoint.write_checkpoint(make_checkpoint.options(mtp="fused", vectors=("correction",)), source)
    ids = list(range(16))
    blocks, _ = carve_oracle.recognise(carve_oracle.load(source)[1])
    for block in plan(source, "--score", "sim")["blocks"]:
        rows = carve_oracle.numbers(blocks[block["prefix"]].router).reshape(16, -1)
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        alike, gone = rows @ rows.T, []
        while len(gone) < 15:  # of the most alike pair the higher number goes
            left = [e for e in ids if e not in gone]
            gone.append(max(((alike[a, b], -a, -b) for a in left for b in left if a < b))[2] * -1)
        wanted = [gone.index(e) if e in gone else 15 for e in ids]
        check(block["scores"] == wanted, f"sim of {block['prefix']}: {block['scores']}, not {wanted}")
    trunk = plan(source, "--score", "bias", "--mtp", "drop")["blocks"][0]
    bias = {t.name: t for t in carve_oracle.load(source)[1]}[trunk["prefix"] + ".gate.e_score_correction_bias"]
    check(trunk["scores"] == (-carve_oracle.numbers(bias)).tolist(), f"bias scores {trunk['scores']}")
    both = plan(source, "--score", "kirigami,frob", "--combine", "rank-sum")["blocks"]
    single = [plan(source, "--score", s)["blocks"] for s in ("kirigami", "frob")]
    for i, block in enumerate(both):
        order = [sorted(ids, key=lambda e: (-one[i]["scores"][e], e)) for one in single]
        wanted = [-(order[0].index(e) + order[1].index(e)) / 2 for e in ids]
        check(block["scores"] == wanted, f"rank-sum of {block['prefix']}: {block['scores']}, not {wanted}")

    make_checkpoint.write_checkpoint(make_checkpoint.options(mtp="fused"), source)
    rising = [float(e) for e in range(16)]
    own = {"format": "kvfit.expert_scores/1", "layers": {"0": rising, "1": rising[::-1], "mtp.layers.0.mlp": rising}}
    kept = [b["kept"] for b in plan(source, "--score-file", write(place, "own.json", own))["blocks"]]
    check(kept == [list(range(8, 16)), list(range(8)), list(range(8, 16))], f"own scores keep {kept}")
    own["higher_is_better"] = False
    kept = [b["kept"] for b in plan(source, "--score-file", write(place, "low.json", own))["blocks"]]
    check(kept == [list(range(8)), list(range(8, 16)), list(range(8))], f"scores where low is good keep {kept}")

    names = ["model.layers.0.mlp", "model.layers.1.mlp", "mtp.layers.0.mlp"]
    report = {name: list(range(0, 16, 2)) for name in names}
    kept = [b["kept"] for b in plan(source, "--score-file", write(place, "report.json", report))["blocks"]]
    check(kept == [list(range(0, 16, 2))] * 3, f"a report of kept experts keeps {kept}")

    dropped = {"0": list(range(8)), "1": list(range(8))}
    path = write(place, "pruned_experts.json", dropped)
    check("has no scores for 'mtp.layers.0.mlp'" in plan(source, "--score-file", path, expect=2), "a missing block passes")
    kept = [b["kept"] for b in plan(source, "--score-file", path, "--fill")["blocks"]]
    check(kept[:2] == [list(range(8, 16))] * 2 and len(kept[2]) == 8, f"a list of dropped experts keeps {kept}")

    rows = ["layer,expert_id,aimer_score,calib_free_score,is_pruned"]
    rows += [f"{layer},{e},0,{e / 16 if layer else 1 - e / 16},0" for layer in (0, 1) for e in range(16)]
    path = write(place, "calib_free_scores.csv", "\r\n".join(rows).encode() + b"\r\n")
    kept = [b["kept"] for b in plan(source, "--score-file", path, "--fill")["blocks"]]
    check(kept[:2] == [list(range(8, 16)), list(range(8))], f"AIMER's table keeps {kept}")  # a high score is removed first
    mixed = plan(source, "--score-file", path, "--score", "file,random", "--combine", "rank-sum", "--fill")
    check(mixed["request"]["combined_with"] == "random" and len(mixed["blocks"]) == 3, "a file's scores combined with random")

    # 16 experts, 2 inputs: counts fall with the number, energies rise four times as fast as counts fall.
    tensors = {}
    for layer in (0, 1):
        counts = [16.0 - e for e in range(16)]
        sums = [v for e in range(16) for v in (counts[e] * (e + 1) ** 4, 0.0)]
        tensors[f"blk.{layer}.ffn_down_exps.weight.counts"] = ([1, 16], counts)
        tensors[f"blk.{layer}.ffn_down_exps.weight.in_sum2"] = ([2, 16], sums)
    path = write(place, "imatrix.gguf", gguf(tensors))
    scores = plan(source, "--score-file", path, "--fill")["blocks"][0]["scores"]
    check(numpy.allclose(scores, [(16 - e) * (e + 1) ** 2 for e in range(16)]), f"an imatrix scores {scores}")
    check("cut short" in plan(source, "--score-file", write(place, "cut.gguf", gguf(tensors)[:200]), expect=2), "a cut imatrix")
    check("a pickle can run code" in plan(source, "--score-file", write(place, "a.pt", b"PK\3\4"), expect=2), "a pickle is read")
    short = {"format": "kvfit.expert_scores/1", "layers": {"0": [1.0]}}
    check("1 scores for 16 experts" in plan(source, "--score-file", write(place, "short.json", short), expect=2), "a short list")
    alien = {"format": "kvfit.expert_scores/1", "layers": {"77": rising}}
    check("'77' is no block" in plan(source, "--score-file", write(place, "alien.json", alien), expect=2), "an unknown layer")

    a, b = (plan(source, "--score", "random", "--seed", seed)["blocks"] for seed in ("1", "2"))
    check(a != b and a == plan(source, "--score", "random", "--seed", "1")["blocks"], "random scores do not follow their seed")
    kept = [b["kept"] for b in plan(source, "--protect", "0,1", "--drop", "15")["blocks"]]
    check(all(0 in k and 1 in k and 15 not in k for k in kept), f"protected and dropped experts: {kept}")
    kept = plan(source, "--protect", write(place, "ids.json", {"model.layers.1.mlp": [0, 1]}), "--score", "random")["blocks"]
    free = plan(source, "--score", "random")["blocks"]
    check({0, 1} <= set(kept[1]["kept"]) and kept[0] == free[0], "experts protected in one block only")
    check(plan(source, "--keep", "50%")["keep"] == 8 and plan(source, "--keep", "auto")["keep"] == 8, "shares and auto")
    size = plan(source, "--keep", "12")["tensor_bytes"]
    check(plan(source, "--fit", str(size))["keep"] == 12 and plan(source, "--fit", str(size - 1))["keep"] == 8, "--fit")

finish(problems)
