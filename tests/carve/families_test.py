#!/usr/bin/env python3
"""Checkpoints by the names of published families, carved by kvfit and by the oracle: `families_test.py KVFIT`.

Bytes must be the same, no tensor may keep its old width, every counting key must be changed, and a second carve of the result must
find the new count. Exit 77 (a visible skip) when numpy is missing.
"""

import json
import os
import subprocess
import sys
import tempfile

from harness import finish, kvfit, require_numpy

require_numpy()
import carve_oracle  # noqa: E402
import families  # noqa: E402
import make_checkpoint  # noqa: E402

KEEP = 8
# What the oracle cannot score is chosen by kvfit at random and only checked for its bytes.
BY_CHANCE = {"mlx", "rank_sliced"}
FLAGS = {"deepseek_v4": ["--hash-remap", "nearest"], "rank_sliced": ["--tr3-drop-manifest"]}
AGAIN = {"deepseek_v3": "8"}  # of a second carve: two experts a group is the least
problems = []


def write(family, place):
    maker = make_checkpoint.Maker(3)
    config = family(maker)
    os.makedirs(place)
    with open(os.path.join(place, "config.json"), "w", encoding="utf-8") as handle:
        json.dump(config, handle, indent=2)
    names = sorted(maker.tensors)
    half = len(names) // 2
    index = {"metadata": {"total_size": sum(len(t[2]) for t in maker.tensors.values())}, "weight_map": {}}
    for i, part in enumerate((names[:half], names[half:]), 1):
        file = f"model-{i:05}-of-00002.safetensors"
        make_checkpoint.write_shard(os.path.join(place, file), {n: maker.tensors[n] for n in part})
        index["weight_map"].update({n: file for n in part})
    with open(os.path.join(place, "model.safetensors.index.json"), "w", encoding="utf-8") as handle:
        json.dump(index, handle, indent=2)
    if family is families.rank_sliced:
        with open(os.path.join(place, "EXL3_MANIFEST.json"), "w", encoding="utf-8") as handle:
            handle.write("{}")
    return config


def widths(source, ours):
    """Tensors whose experts were cut must all have the new width; the rest must be as they were."""
    out = []
    before = {t.name: t for _, ts in carve_oracle.load(source)[0].values() for t in ts}
    after = {t.name: t for _, ts in carve_oracle.load(ours)[0].values() for t in ts}
    changed = {n for n in after if after[n].shape != before[n].shape}
    if any(f".experts.{e}." in n for n in after for e in range(KEEP, families.EXPERTS)):
        out.append("an old expert number is left")
    for name in changed:
        if families.EXPERTS in after[name].shape[:1] and families.EXPERTS in before[name].shape[:1]:
            out.append(f"{name} is still {after[name].shape}")
    return out


def counts(config):
    if isinstance(config, dict):
        for key, value in config.items():
            if key in carve_oracle.COUNT_KEYS:
                yield value
            yield from counts(value)


for family in families.FAMILIES:
    name = family.__name__
    with tempfile.TemporaryDirectory() as place:
        source, ours, theirs, again = (os.path.join(place, n) for n in ("source", "ours", "theirs", "again"))
        config = write(family, source)
        try:
            score = "random" if name in BY_CHANCE else "kirigami"
            flags = FLAGS.get(name, [])
            kvfit("carve", "run", source, ours, "--keep", str(KEEP), "--score", score, "--canonical-pad", "--reproducible", "-q", *flags)
            manifest = os.path.join(ours, "carve_manifest.json") if name in BY_CHANCE else None
            carve_oracle.carve(source, theirs, KEEP, None if manifest else score, "carve", manifest)
            found = carve_oracle.compare(ours, theirs) + widths(source, ours)
            with open(os.path.join(ours, "config.json"), encoding="utf-8") as handle:
                if set(counts(json.load(handle))) != {KEEP} or set(counts(config)) != {families.EXPERTS}:
                    found.append("config.json still states another count")
            kvfit("carve", "verify", source, ours, "--full")
            seen = json.loads(kvfit("carve", "inspect", ours, "-f", "json", *flags))["result"]
            if seen["experts"] != KEEP:
                found.append(f"inspect sees {seen['experts']} experts")
            if os.path.exists(os.path.join(ours, "EXL3_MANIFEST.json")):
                found.append("a manifest of old hashes is carried")
            kvfit("carve", "run", ours, again, "--keep", AGAIN.get(name, "4"), "--score", "random", "-q", *flags)
        except AssertionError as error:
            found = [str(error)]
        except carve_oracle.Refused as error:
            found = [f"the oracle refuses: {error}"]
        problems += [f"{name}: {what}" for what in found]

finish(problems, f"{len(families.FAMILIES)} families hold")
