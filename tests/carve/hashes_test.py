#!/usr/bin/env python3
"""Hashes of tensors in carve_manifest.json: `hashes_test.py KVFIT`. Every tensor of the output has one, it is what `xxhsum -H2` says of
its bytes (where that is installed), `verify` names the tensor that changed, with the source and without it."""

import json
import os
import shutil
import struct
import subprocess
import tempfile

import make_checkpoint
from harness import KVFIT, finish, kvfit

problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def manifest(directory):
    with open(os.path.join(directory, "carve_manifest.json"), encoding="utf-8") as handle:
        return json.load(handle)


def tensors(path):
    """name -> (place in the file, bytes), in the order of the data."""
    with open(path, "rb") as handle:
        blob = handle.read()
    (length,) = struct.unpack("<Q", blob[:8])
    entries = [(e["data_offsets"], n) for n, e in json.loads(blob[8:8 + length]).items() if n != "__metadata__"]
    return {n: (8 + length + begin, blob[8 + length + begin:8 + length + end]) for (begin, end), n in sorted(entries, key=lambda e: e[0])}


def spoil(path, at):
    with open(path, "r+b") as handle:
        handle.seek(at)
        byte = handle.read(1)
        handle.seek(at)
        handle.write(bytes([byte[0] ^ 1]))


with tempfile.TemporaryDirectory() as place:
    source, target = os.path.join(place, "source"), os.path.join(place, "target")
    make_checkpoint.write_checkpoint(make_checkpoint.options(shards=3, mtp="fused", empty=True, scale=8), source)
    kvfit("carve", "run", source, target, "--keep", "8", "-q", "--reflink", "never")
    count, by_bytes = 0, {}
    for output in manifest(target)["outputs"]:
        inside = tensors(os.path.join(target, output["name"]))
        stated = output["tensor_xxh3_128"]
        check(list(stated) == list(inside), f"{output['name']}: hashes of {len(stated)} tensors, not of {len(inside)} in their order")
        check("sha256" not in output, f"{output['name']}: a hash of the file that nobody asked for")
        count += len(inside)
        for name, (_, data) in inside.items():
            known = by_bytes.setdefault(data, stated[name])
            check(known == stated[name] and len(known) == 32, f"{name}: equal bytes have two hashes")
    check(len(set(by_bytes.values())) == len(by_bytes), "different bytes have one hash")
    check(by_bytes[b""] == "99aa06d3014798d86001c324468d497f", f"the hash of no bytes: {by_bytes[b'']}")
    if shutil.which("xxhsum"):
        for data, stated in list(by_bytes.items())[::10]:
            said = subprocess.run(["xxhsum", "-H2"], input=data, capture_output=True).stdout.split()[0].decode()
            check(said == stated, f"xxhsum says {said} of {len(data)} bytes, not {stated}")
    else:
        print("note: xxhsum is not installed; the test vectors of the unit test must do")

    said = f"{count} tensors have the hashes of carve_manifest.json"
    check(kvfit("carve", "verify", source, target) == f"headers, sizes and texts are as planned, and {said} (--full compares every byte)\n",
          "verify says something else")
    check(kvfit("carve", "verify", source, target, "--full") == f"every byte is the source's, and {said}\n", "verify --full says something else")
    check(kvfit("carve", "verify", source, target, "--no-hash") ==
          "headers, sizes and texts are as planned (--full compares every byte)\n", "verify --no-hash says something else")
    check(kvfit("carve", "verify", target) == f"{said}; the source was not looked at\n", "verify of the output alone says something else")

    # One bit of one tensor.
    file = manifest(target)["outputs"][1]["name"]
    path = os.path.join(target, file)
    name, (at, data) = max(tensors(path).items(), key=lambda t: len(t[1][1]))
    spoil(path, at + 7)
    wrong = f"wrong: {file}: the tensor '{name}' has another hash than carve_manifest.json states\n"
    done = {how: subprocess.run([KVFIT, "carve", "verify", *words], capture_output=True, text=True)
            for how, words in (("hashes", [source, target]), ("alone", [target]), ("full", [source, target, "--full"]))}
    check(all(d.returncode == 1 for d in done.values()), f"a spoilt tensor is found by {[h for h, d in done.items() if d.returncode == 1]}")
    check(done["hashes"].stdout == wrong and done["alone"].stdout == wrong, f"a spoilt tensor: {done['hashes'].stdout}{done['alone'].stdout}")
    check(done["full"].stdout == f"wrong: {file}: the tensor '{name}' differs from the source at byte {at + 7} of the file\n",
          f"a spoilt tensor against the source: {done['full'].stdout}")
    check(kvfit("carve", "verify", source, target, "--no-hash") != "", "headers alone do not show it")
    spoil(path, at + 7)
    kvfit("carve", "verify", target)

    # A changed text is found without the source too.
    config = os.path.join(target, "config.json")
    spoil(config, 3)
    for words in ([source, target], [target]):
        done = subprocess.run([KVFIT, "carve", "verify", *words], capture_output=True, text=True)
        check((done.returncode, done.stdout) == (1, "wrong: config.json has another content\n"), f"a spoilt config: {done.stdout}")
    spoil(config, 3)

    # A manifest of another carve, a file too many, a file cut short, a name that leads away.
    shutil.copy(path, os.path.join(target, "stranger.safetensors"))
    done = subprocess.run([KVFIT, "carve", "verify", target], capture_output=True, text=True)
    check((done.returncode, done.stdout) == (1, "wrong: stranger.safetensors belongs to no part of the carve\n"), f"a stranger: {done.stdout}")
    os.remove(os.path.join(target, "stranger.safetensors"))
    os.truncate(path, os.path.getsize(path) - 1)
    done = subprocess.run([KVFIT, "carve", "verify", target], capture_output=True, text=True)
    check(done.returncode == 1 and done.stdout.startswith(f"wrong: {file} has "), f"cut short: {done.stdout}{done.stderr}")
    changed = manifest(target)
    changed["outputs"][0]["name"] = "../source/model.safetensors"
    with open(os.path.join(target, "carve_manifest.json"), "w", encoding="utf-8") as handle:
        json.dump(changed, handle)
    check("this is no plain file name" in kvfit("carve", "verify", target, expect=2), "a name that leads away is followed")
    for output in changed["outputs"]:
        del output["tensor_xxh3_128"]
    with open(os.path.join(target, "carve_manifest.json"), "w", encoding="utf-8") as handle:
        json.dump(changed, handle)
    said = kvfit("carve", "verify", target, expect=2)
    check("it states no hashes of tensors" in said and "kvfit carve verify SRC DST" in said, f"a manifest without hashes: {said}")
    check("only hashes can be compared" in kvfit("carve", "verify", target, "--full", expect=2), "--full without a source")

    # --hash adds the files' own, and hashes do not depend on pieces, threads or the page cache.
    reference = None
    for flags in ([], ["--threads", "7"], ["--direct"], ["--memory", "40MiB", "--threads", "3"]):
        other = os.path.join(place, "other")
        kvfit("carve", "run", source, other, "--keep", "8", "-q", "--hash", "--reflink", "never", *flags)
        outputs = manifest(other)["outputs"]
        check(all(len(o["sha256"]) == 64 for o in outputs), "--hash leaves out a file")
        reference = reference or outputs
        check(outputs == reference, f"{flags} give other hashes")
        shutil.rmtree(other)

finish(problems)
