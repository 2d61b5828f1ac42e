#!/usr/bin/env python3
"""What copying takes from the machine: `memory_test.py KVFIT`. --memory holds as the kernel counts it, or is refused; --direct copies
the same bytes and says where a file system refuses it; neither changes a byte of the output."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from harness import KVFIT, digests, finish, kvfit

MIB = 1 << 20
EXPERTS, SLAB = 16, 8 * MIB
problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def peak(*words):
    """(peak resident bytes, exit code, stderr) by wait4(). The kernel counts from the fork on, so this program must be small itself."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([KVFIT, *words], stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return usage.ru_maxrss * 1024, process.returncode, errors.read().decode()


def write_source(directory):
    """A layer of 16 experts in one stack of 128 MiB, mostly a hole in the file."""
    os.mkdir(directory)
    block = "model.layers.0.mlp"
    entries, at = {}, 0
    for name, dtype, shape, size in ((f"{block}.gate.weight", "BF16", [EXPERTS, 64], EXPERTS * 128),
                                     (f"{block}.experts.gate_up_proj", "U8", [EXPERTS, SLAB // 4096, 4096], EXPERTS * SLAB)):
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8 + 8)  # an odd place, so that no direct read begins where a block does
    with open(os.path.join(directory, "model.safetensors"), "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text)
        handle.write(b"\1\77" * (EXPERTS * 64))
        for expert in range(EXPERTS):
            handle.seek(8 + len(text) + EXPERTS * 128 + expert * SLAB)
            handle.write(bytes([expert]) * 5000)
        handle.truncate(8 + len(text) + at)
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as handle:
        json.dump({"model_type": "qwen3_moe", "num_experts": EXPERTS, "num_experts_per_tok": 2, "num_hidden_layers": 1}, handle)


with tempfile.TemporaryDirectory() as place:
    source, plain = os.path.join(place, "source"), os.path.join(place, "plain")
    write_source(source)
    run = ["carve", "run", source]
    how = ["--keep", "8", "--score", "random", "--no-progress", "--reflink", "never"]
    bare, _, _ = peak("version")
    if bare > 32 * MIB:
        print("skipped: this build is instrumented, or this Python is large")
        sys.exit(77)

    many, code, said = peak(*run, plain, *how, "--threads", "16")
    check(code == 0 and 32 * MIB < many <= 64 * MIB, f"without a cap 16 threads take {many / MIB:.1f} MiB: {said}")
    expected = digests(plain)

    for cap in (24, 32, 64):
        for direct in ([], ["--direct"]):
            target = os.path.join(place, f"capped{cap}")
            used, code, said = peak(*run, target, *how, "--threads", "16", "--memory", f"{cap}MiB", *direct)
            check(code == 0, f"--memory {cap}MiB {direct}: {said}")
            check(used <= cap * MIB, f"--memory {cap}MiB {direct} takes {used / MIB:.1f} MiB")
            check(digests(target) == expected, f"--memory {cap}MiB {direct} changes the output")
            shutil.rmtree(target, ignore_errors=True)
    target = os.path.join(place, "small")
    _, code, said = peak(*run, target, *how, "--memory", "4MiB")
    words = re.fullmatch(r"error: --memory: 4 MiB are too few: kvfit itself and the headers of this checkpoint take \d+ MiB\n"
                         r"  help: --memory (\d+)MiB or more\n", said)
    check(code == 2 and words, f"a cap too small: exit {code}: {said}")
    check(not os.path.exists(target + ".kvfit-tmp"), "a cap too small leaves a directory")
    if words:
        used, code, said = peak(*run, target, *how, "--memory", f"{words[1]}MiB")
        check(code == 0 and used <= int(words[1]) * MIB, f"the cap it asks for: exit {code}, {used / MIB:.1f} MiB: {said}")

    # Around the page cache, on this disk and where that cannot be had.
    done = subprocess.run([KVFIT, *run, os.path.join(place, "direct"), *how, "--direct"], capture_output=True, text=True)
    check(done.returncode == 0 and digests(os.path.join(place, "direct")) == expected, f"--direct differs: {done.stderr}")
    refusing = os.path.join(place, "refusing")
    os.mkdir(refusing)
    mounted = subprocess.run(["mount", "-t", "ramfs", "ramfs", refusing], capture_output=True, text=True)
    if mounted.returncode:
        print(f"note: no file system without direct reads can be mounted here ({mounted.stderr.strip()})")
    else:
        try:
            done = subprocess.run([KVFIT, *run, os.path.join(refusing, "target"), *how, "--direct"], capture_output=True, text=True)
            note = "the file system refuses direct reads or writes here: --direct went through the page cache"
            check(done.returncode == 0 and note in done.stderr, f"--direct where it cannot be: exit {done.returncode}: {done.stderr}")
            check(digests(os.path.join(refusing, "target")) == expected, "--direct where it cannot be differs")
            shutil.copytree(source, os.path.join(refusing, "source"))
            done = subprocess.run([KVFIT, "carve", "run", os.path.join(refusing, "source"), os.path.join(place, "back"), *how, "--direct"],
                                  capture_output=True, text=True)
            check(done.returncode == 0 and note in done.stderr, f"--direct from where it cannot be: {done.stderr}")
            check(digests(os.path.join(place, "back")) == expected, "--direct from where it cannot be differs")
        finally:
            subprocess.run(["umount", refusing], check=True)

finish(problems)
