#!/usr/bin/env python3
"""What a person sees of a carve beside its result: `accidents_test.py KVFIT`. A bar on a terminal and plain lines elsewhere, a dry run
that writes nothing, a disk without room (exit 4, nothing left, the source as it was)."""

import os
import pty
import re
import select
import subprocess
import tempfile

import make_checkpoint
from harness import KVFIT, digests, finish, kvfit

problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def on_terminal(words):
    """Exit code and everything that reaches a terminal on stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    seen = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        try:
            piece = os.read(ours, 65536) if ready else b""
        except OSError:  # the other side is closed
            piece = b""
        if not piece:
            break
        seen += piece
    os.close(ours)
    return process.wait(), seen.decode()


with tempfile.TemporaryDirectory() as place:
    source = os.path.join(place, "source")
    make_checkpoint.write_checkpoint(make_checkpoint.options(shards=3, mtp="fused", scale=4), source)
    before = digests(source)

    code, seen = on_terminal([KVFIT, "carve", "run", source, os.path.join(place, "drawn"), "--keep", "8"])
    check(code == 0 and "\r\x1b[K" in seen and "100%" in seen, f"a terminal sees {seen!r}")
    for phase in ("scoring", "writing"):
        check(re.search(rf"\r\x1b\[K{phase} +\d+% \S+", seen), f"no bar of {phase}: {seen!r}")
    code, seen = on_terminal([KVFIT, "carve", "run", source, os.path.join(place, "quiet"), "--keep", "8", "-q"])
    check((code, seen) == (0, ""), f"-q draws {seen!r}")

    done = subprocess.run([KVFIT, "carve", "run", source, os.path.join(place, "logged"), "--keep", "8"], capture_output=True, text=True)
    lines = done.stderr.splitlines()
    check(done.returncode == 0 and "\x1b" not in done.stderr and "\r" not in done.stderr, f"a pipe gets {done.stderr!r}")
    check(all(re.fullmatch(r"\w+ \d+%: \d+\.\d\d of \d+\.\d\d MB(, \d+ MB/s)?", line) for line in lines), f"plain lines: {lines}")
    check([line.split()[0] for line in lines if "100%" in line] == ["scoring", "writing"], f"each phase ends in a line: {lines}")
    check(len(lines) <= 40, f"{len(lines)} lines of progress")

    left = sorted(os.listdir(place))
    dry = kvfit("carve", "run", source, os.path.join(place, "dry"), "--keep", "8", "--dry-run", "-q")
    check(dry == kvfit("carve", "plan", source, "--keep", "8", "-q"), f"a dry run says {dry}")
    check(sorted(os.listdir(place)) == left, "a dry run writes")

    # A snapshot of the Hugging Face cache: every file is a link to a blob. The output has no links.
    cache = os.path.join(place, "cache")
    for directory in ("blobs", "snapshots/main"):
        os.makedirs(os.path.join(cache, directory))
    for n, name in enumerate(sorted(os.listdir(source))):
        os.link(os.path.join(source, name), os.path.join(cache, "blobs", str(n)))
        os.symlink(f"../../blobs/{n}", os.path.join(cache, "snapshots/main", name))
    linked = os.path.join(place, "linked")
    kvfit("carve", "run", os.path.join(cache, "snapshots/main"), linked, "--keep", "8", "-q")
    check(not any(os.path.islink(os.path.join(linked, n)) for n in os.listdir(linked)), "a link is carried as a link")
    by_place = {"README.md", "carve_manifest.json"}  # they name the directory
    same = [n for n, d in digests(linked).items() if n not in by_place and digests(os.path.join(place, "quiet")).get(n) != d]
    check(not same and len(os.listdir(linked)) == len(os.listdir(os.path.join(place, "quiet"))), f"from links, {same} differ")

    small = os.path.join(place, "small")
    os.mkdir(small)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        print(f"note: no small disk can be mounted here ({mounted.stderr.strip()}); room is not tried")
    else:
        try:
            done = subprocess.run([KVFIT, "carve", "run", source, os.path.join(small, "ours"), "--keep", "8", "-q"], capture_output=True,
                                  text=True)
            said = rf"error: [\d,]+ bytes are to be written and [\d,]+ are free\n  --> {small}/ours\.kvfit-tmp\n" \
                   r"  help: make room, or name a destination on another disk\n"
            check(done.returncode == 4 and re.fullmatch(said, done.stderr), f"no room: exit {done.returncode}: {done.stderr}")
            check(os.listdir(small) == [], f"no room leaves {os.listdir(small)}")
        finally:
            subprocess.run(["umount", small], check=True)
    check(digests(source) == before, "the source changed")

finish(problems)
