#!/usr/bin/env python3
"""Output files of a size: `reshard_test.py KVFIT`. The tensors are those of a plain carve, in the source's order; files are of at most
that size; names and index fit; parts, resuming, verifying and reading the result work as ever."""

import glob
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time

import make_checkpoint
from harness import KVFIT, digests, finish, kvfit

problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def read(path):
    """(__metadata__, [(name, dtype, shape, bytes)]) in the order of the data."""
    with open(path, "rb") as handle:
        blob = handle.read()
    (length,) = struct.unpack("<Q", blob[:8])
    entries = json.loads(blob[8:8 + length])
    metadata = entries.pop("__metadata__", None)
    order = sorted(entries.items(), key=lambda e: e[1]["data_offsets"])
    check(blob[8:9] == b"{" and length % 8 == 0, f"{path}: no header as the format wants it")
    return metadata, [(n, e["dtype"], e["shape"], blob[8 + length + e["data_offsets"][0]:8 + length + e["data_offsets"][1]]) for n, e in order]


def weights(directory):
    return sorted(n for n in os.listdir(directory) if n.endswith(".safetensors"))


def tensors(directory):
    return [t for name in weights(directory) for t in read(os.path.join(directory, name))[1]]


def check_files(directory, size, expected, what):
    names = weights(directory)
    check(tensors(directory) == expected, f"{what}: other tensors or another order")
    if len(names) == 1:
        check(names == ["model.safetensors"], f"{what}: one file called {names}")
        check(not os.path.exists(os.path.join(directory, "model.safetensors.index.json")), f"{what}: one file with an index")
        return
    check(names == [f"model-{i + 1:05}-of-{len(names):05}.safetensors" for i in range(len(names))], f"{what}: files {names}")
    with open(os.path.join(directory, "model.safetensors.index.json"), encoding="utf-8") as handle:
        index = json.load(handle)
    held = {}
    for name in names:
        metadata, inside = read(os.path.join(directory, name))
        held.update({t[0]: name for t in inside})
        check(metadata == {"format": "pt"}, f"{what}: {name} has the metadata {metadata}")
        bytes_here = os.path.getsize(os.path.join(directory, name))
        check(bytes_here <= size or len(inside) == 1, f"{what}: {name} has {bytes_here} bytes and {len(inside)} tensors")
    check(index["weight_map"] == held, f"{what}: the index names other places")
    check(index["metadata"]["total_size"] == sum(len(t[3]) for t in expected), f"{what}: total_size {index['metadata']}")


with tempfile.TemporaryDirectory() as place:
    for shards in (1, 3):
        source, whole = os.path.join(place, f"source{shards}"), os.path.join(place, f"whole{shards}")
        make_checkpoint.write_checkpoint(make_checkpoint.options(shards=shards, mtp="fused", lists=True, scale=2), source)
        kvfit("carve", "run", source, whole, "--keep", "8", "-q")
        expected = tensors(whole)
        largest = max(len(t[3]) for t in expected)
        said = kvfit("carve", "plan", source, "--keep", "8", "--reshard", str(largest))
        check(f"files are larger than {largest:,} bytes: one tensor each" in said, f"a tensor larger than a file is not noted: {said}")
        for size in (1, 20_000, largest + 9_000, 400_000, 1 << 30):
            target = os.path.join(place, f"target{shards}-{size}")
            kvfit("carve", "run", source, target, "--keep", "8", "--reshard", str(size), "-q")
            check_files(target, size, expected, f"{shards} files to {size} bytes")
            kvfit("carve", "verify", source, target, "--full")
            planned = json.loads(kvfit("carve", "plan", source, "--keep", "8", "--reshard", str(size), "-f", "json", "-q"))["result"]
            check([(o["name"], o["bytes"]) for o in planned["outputs"]] ==
                  [(n, os.path.getsize(os.path.join(target, n))) for n in weights(target)], f"{size}: the plan names other files")
            again = json.loads(kvfit("carve", "inspect", target, "-f", "json"))["result"]
            check(again["experts"] == 8, f"{size}: the result has {again['experts']} experts")

    # All experts kept: the same tensors, other files; and back again from many files to one.
    many, one = os.path.join(place, "many"), os.path.join(place, "one")
    kvfit("carve", "run", source, many, "--keep", "16", "--reshard", "60kB", "-q")
    check_files(many, 60_000, tensors(source), "keeping all")
    kvfit("carve", "run", many, one, "--keep", "16", "--reshard", "1GB", "-q")
    check_files(one, 10 ** 9, tensors(source), "back to one file")

    # Parts of a job give what one run gives, and say when they are told to do something else.
    size, job, target = "100kB", os.path.join(place, "job.json"), os.path.join(place, "parts")
    alone = os.path.join(place, "alone")
    kvfit("carve", "run", source, alone, "--keep", "8", "--reshard", size, "-q")
    expected = digests(alone)
    kvfit("carve", "job", source, target, "--keep", "8", "--reshard", size, "--parts", "3", "-o", job)
    said = kvfit("carve", "run", "--job", job, "--part", "0", "--reshard", "1MB", expect=2)
    check(said == "error: the job says what is carved: --reshard goes to kvfit carve job\n", f"a part told otherwise: {said}")
    for part in (2, 0, 1):
        kvfit("carve", "run", "--job", job, "--part", str(part), "-q")
    kvfit("carve", "merge", "--job", job, "-q")
    check(digests(target) == expected, "parts differ from one run")

    # Killed once something is written, then run again; another size is another carve.
    target = os.path.join(place, "killed")
    words = [KVFIT, "carve", "run", source, target, "--keep", "8", "--reshard", size, "-q"]
    for _ in range(100):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not glob.glob(target + ".kvfit-tmp/files/*.safetensors"):
            time.sleep(0.0005)
        process.kill()
        process.wait()
        if os.path.exists(target + ".kvfit-tmp/state.json"):
            break
        shutil.rmtree(target, ignore_errors=True)
    said = kvfit("carve", "run", source, target, "--keep", "8", "--reshard", "1MB", "-q", expect=2)
    check("another carve left this directory" in said, f"another size goes on: {said}")
    kvfit("carve", "run", source, target, "--keep", "8", "--reshard", size, "-q")
    check(digests(target) == expected, "resumed, the output differs")

    for words, answer in ((["--reshard", "0"], "--reshard 0: no file is that small"), (["--reshard", "small"], "such as 1.5GiB")):
        said = kvfit("carve", "plan", source, "--keep", "8", *words, expect=2)
        check(answer in said, f"{words}: {said}")

finish(problems)
