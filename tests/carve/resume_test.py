#!/usr/bin/env python3
"""What can go wrong while a carve is written: `resume_test.py KVFIT`.

Killed at random points and run again, the output is the same; a full disk leaves the source untouched, a clear error and a
directory that goes on; nothing finished is ever overwritten.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import make_checkpoint
from harness import KVFIT, digests, finish

# Whether calls can be made to fail here: strace is installed and may trace.
TRACES = bool(shutil.which("strace")) and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
problems = []


def run(source, target, *flags, limit=None):
    def lower():
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run([KVFIT, "carve", "run", source, target, "--keep", "8", *flags], capture_output=True, text=True,
                          timeout=120, preexec_fn=lower)


def check(holds, what):
    if not holds:
        problems.append(what)


with tempfile.TemporaryDirectory() as place:
    source, whole = os.path.join(place, "source"), os.path.join(place, "whole")
    make_checkpoint.write_checkpoint(make_checkpoint.options(shards=7, layers=4, mtp="fused", lists=True, scale=2), source)
    before = digests(source)
    began = time.monotonic()
    done = run(source, whole, "-q")
    takes = time.monotonic() - began
    check(done.returncode == 0, f"a plain run fails: {done.stderr}")
    expected = digests(whole)

    def resumes(target, what):
        """After a run that was killed: the same command gives the same output and leaves nothing else."""
        if not os.path.exists(target):
            again = run(source, target, "-q")
            check(again.returncode == 0, f"{what} does not resume: {again.stderr}")
        else:  # killed after publishing: nothing to do, and the remains go
            again = run(source, target, "-q")
            check(again.returncode == 2 and "the destination exists" in again.stderr, f"{what}: {again.stderr}")
        check(digests(target) == expected, f"{what} differs")
        check(not os.path.exists(target + ".kvfit-tmp"), f"{what} leaves its working directory")
        shutil.rmtree(target, ignore_errors=True)

    # Runs that end before they are killed do not count, so that a fast machine kills as often as a slow one.
    chance = random.Random(11)
    killed = attempts = 0
    while killed < KILLS and attempts < 20 * KILLS:
        attempts += 1
        target = os.path.join(place, f"killed{attempts}")
        began = time.monotonic()
        process = subprocess.Popen([KVFIT, "carve", "run", source, target, "--keep", "8", "-q"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        time.sleep(chance.uniform(0, takes))
        process.kill()
        process.communicate()
        if process.returncode == -signal.SIGKILL:
            killed += 1
        else:
            takes = min(takes, time.monotonic() - began)
        resumes(target, f"kill {attempts}")
    check(killed == KILLS, f"only {killed} of {attempts} runs were caught while they ran")

    # The same at every call that changes what a later run finds.
    points = 0
    for call in ("fsync", "rename", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "flock") if TRACES else ():
        for nth in range(1, 200):
            target = os.path.join(place, f"{call}{nth}")
            done = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={nth}", KVFIT, "carve", "run",
                                   source, target, "--keep", "8", "-q"], capture_output=True, text=True)
            if done.returncode == 0:
                break
            points += 1
            resumes(target, f"a kill at {call} {nth}")
    check(points > 20 or not TRACES, f"only {points} calls to be killed at")

    target = os.path.join(place, "full")
    done = run(source, target, limit=100_000)
    check(done.returncode == 4 and "File too large" in done.stderr, f"a file limit: exit {done.returncode}: {done.stderr}")
    check(not os.path.exists(target), "a failed run publishes")
    check(run(source, target, "-q").returncode == 0 and digests(target) == expected, "a run does not go on after a full disk")

    # Another request is refused in what it left, and --restart begins again.
    target, other = os.path.join(place, "again"), os.path.join(place, "other-count")
    check(run(source, target, limit=100_000).returncode == 4, "a file limit is not met again")
    words = [KVFIT, "carve", "run", source, target, "--keep", "12", "-q"]
    done = subprocess.run(words, capture_output=True, text=True)
    check(done.returncode == 2 and "--restart wipes it and begins again" in done.stderr, f"another count goes on: {done.stderr}")
    done = subprocess.run([*words, "--restart"], capture_output=True, text=True)
    subprocess.run([*words[:4], other, *words[5:]], check=True, capture_output=True)
    check(done.returncode == 0 and digests(target) == digests(other), f"--restart: exit {done.returncode}: {done.stderr}")

    failures = {"EIO": "Input/output error", "ENOSPC": "No space left on device"}
    for call, error in (("pwrite64", "EIO"), ("fsync", "EIO"), ("pread64", "EIO"), ("pwrite64", "ENOSPC"), ("fallocate", "ENOSPC"),
                        ("fsync", "ENOSPC")) if TRACES else ():
        target = os.path.join(place, f"broken-{call}-{error}")
        after = 2 if call == "fallocate" else 9
        words = ["strace", "-f", "-o", "/dev/null", "-e", f"inject={call}:error={error}:when={after}+"]
        done = subprocess.run([*words, KVFIT, "carve", "run", source, target, "--keep", "8", "-q"], capture_output=True, text=True)
        check(done.returncode == 4 and failures[error] in done.stderr, f"{error} of {call}: exit {done.returncode}: {done.stderr}")
        check(not os.path.exists(target), f"a run publishes after {error} of {call}")
        check(run(source, target, "-q").returncode == 0 and digests(target) == expected, f"a run does not go on after {error} of {call}")

    done = run(source, whole)
    check(done.returncode == 2 and "the destination exists" in done.stderr, f"an existing destination: {done.stderr}")
    done = run(source, os.path.join(source, "inside"))
    check(done.returncode == 2 and "lie inside each other" in done.stderr, f"a destination inside the source: {done.stderr}")
    os.symlink(source, os.path.join(place, "link"))
    done = run(source, os.path.join(place, "link", "inside"))
    check(done.returncode == 2 and "lie inside each other" in done.stderr, f"the same through a link: {done.stderr}")

    target = os.path.join(place, "other")
    os.makedirs(target + ".kvfit-tmp/files")
    os.symlink("/etc/hostname", target + ".kvfit-tmp/files/model-00001-of-00007.safetensors.part")
    check(run(source, target, "-q").returncode == 0 and digests(target) == expected, "a planted link changes the output")

    # Ctrl-C as soon as the choice is kept: another request is refused then, the same one goes on. A run that ends before the
    # signal reaches it is tried again.
    refused = False
    for attempt in range(200):
        target = os.path.join(place, f"asked{attempt}")
        state = target + ".kvfit-tmp/state.json"
        process = subprocess.Popen([KVFIT, "carve", "run", source, target, "--keep", "8"], stderr=subprocess.PIPE)
        while process.poll() is None and not os.path.exists(state):
            time.sleep(0.0005)
        process.send_signal(signal.SIGINT)
        text = process.communicate()[1].decode()
        check(process.returncode in (0, 130), f"Ctrl-C: exit {process.returncode}: {text}")
        if process.returncode == 130:
            check(text.endswith("error: stopped\n  help: run the same command again: it goes on where it stopped\n"), f"Ctrl-C says {text}")
            done = subprocess.run([KVFIT, "carve", "run", source, target, "--keep", "12"], capture_output=True, text=True)
            refused = done.returncode == 2 and "another carve left this directory" in done.stderr
            check(refused, f"another request resumes: {done.stderr}")
            check(run(source, target, "-q").returncode == 0 and digests(target) == expected, "a run does not go on after Ctrl-C")
            break
        shutil.rmtree(target, ignore_errors=True)
    check(refused, "no Ctrl-C left a directory to go on with")
    check(digests(source) == before, "the source changed")

if not TRACES:
    print("note: strace is missing or may not trace here; failing disks and kills at single calls are not tried")
finish(problems)
