#!/usr/bin/env python3
"""On xfs and btrfs mounted from a file: `reflink_test.py KVFIT`. Kept experts are shared, not copied, and the output is byte for byte
what a copy gives. Exit 77 (a visible skip) when neither can be made and mounted here, which takes root and loop devices."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import make_checkpoint
from harness import KVFIT, digests

MAKERS = {"xfs": ["mkfs.xfs", "-q", "-m", "reflink=1"], "btrfs": ["mkfs.btrfs", "-q"]}
problems, tried = [], []


def carve(source, target, *flags):
    words = [KVFIT, "carve", "run", source, target, "--keep", "8", "-q", "-f", "json", *flags]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode:
        problems.append(f"{' '.join(words)}: exit {done.returncode}: {done.stderr}")
        return {}
    return json.loads(done.stdout)["result"]


def check(kind, mount):
    source = os.path.join(mount, "source")
    make_checkpoint.write_checkpoint(make_checkpoint.options(shards=2, layout="fused", format="bf16", mtp="fused", scale=8), source)
    shared = carve(source, os.path.join(mount, "shared"), "--reflink", "always")
    copied = carve(source, os.path.join(mount, "copied"), "--reflink", "never")
    hashed = [os.path.join(mount, name) for name in ("shared-hashed", "copied-hashed")]
    carve(source, hashed[0], "--reflink", "always", "--hash")
    carve(source, hashed[1], "--reflink", "never", "--hash")
    if not problems:
        if shared["shared_bytes"] < shared["bytes"] // 2 or copied["shared_bytes"] != 0:
            problems.append(f"{kind}: {shared['shared_bytes']} of {shared['bytes']} bytes are shared, {copied['shared_bytes']} of a copy")
        # Tensors are hashed as they pass; shared ones do not pass, so that the manifest has their hashes only with --hash.
        one, other = (digests(os.path.join(mount, name)) for name in ("shared", "copied"))
        differ = [name for name in {*one, *other} if one.get(name) != other.get(name)]
        if differ != ["carve_manifest.json"]:
            problems.append(f"{kind}: shared and copied outputs differ in {differ}")
        if digests(hashed[0]) != digests(hashed[1]):
            problems.append(f"{kind}: shared and copied outputs differ although both are hashed")


for kind, words in MAKERS.items():
    if not shutil.which(words[0]):
        print(f"skipped: {words[0]} is not installed")
        continue
    with tempfile.TemporaryDirectory() as place:
        image, mount = os.path.join(place, "image"), os.path.join(place, "mount")
        with open(image, "wb") as handle:
            handle.truncate(512 << 20)
        os.mkdir(mount)
        for step in ([*words, image], ["mount", "-o", "loop", image, mount]):
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                print(f"skipped: {kind}: {step[0]}: {done.stderr.strip()}")
                break
        else:
            tried.append(kind)
            try:
                check(kind, mount)
            finally:
                subprocess.run(["umount", mount], check=True)

print("\n".join(problems) if problems else f"holds on {', '.join(tried) or 'nothing'}")
sys.exit(1 if problems else 0 if tried else 77)
