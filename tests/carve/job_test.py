#!/usr/bin/env python3
"""A carve in parts: `job_test.py KVFIT`. Parts in any order, run twice, then merged, give what one run gives; a merge before
its time says which parts are missing; what `launch` writes is checked, and run where GNU parallel is installed."""

import os
import shutil
import subprocess
import sys
import tempfile

import make_checkpoint
from harness import KVFIT, digests, finish

problems = []


def kvfit(*words, expect=0, **environment):
    done = subprocess.run([KVFIT, "carve", *words], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    if done.returncode != expect:
        problems.append(f"kvfit carve {' '.join(words)}: exit {done.returncode}, not {expect}\n{done.stdout}{done.stderr}")
    return done


def check(holds, what):
    if not holds:
        problems.append(what)


with tempfile.TemporaryDirectory() as place:
    source, whole, target, job = (os.path.join(place, n) for n in ("source", "whole", "target", "job.json"))
    make_checkpoint.write_checkpoint(make_checkpoint.options(shards=7, mtp="fused"), source)
    kvfit("run", source, whole, "--keep", "8", "-q")
    expected = digests(whole)

    kvfit("job", source, target, "--keep", "8", "--parts", "3", "-o", job)
    kvfit("run", "--job", job, "--part", "2/3", "-q")
    early = kvfit("merge", "--job", job, expect=2)
    check("these parts have not been written: 0, 1" in early.stderr, f"an early merge: {early.stderr}")
    kvfit("run", "--job", job, "--part", "auto", "-q", SLURM_ARRAY_TASK_ID="0")
    kvfit("run", "--job", job, "--part", "auto", "-q", JOB_COMPLETION_INDEX="1", OMPI_COMM_WORLD_RANK="0")
    again = kvfit("run", "--job", job, "--part", "1")
    check("files were there already" in again.stdout, f"a part that ran is written again: {again.stdout}")
    wrong = kvfit("run", "--job", job, "--part", "3/3", expect=2)
    check("is no part of 0 to 2" in wrong.stderr, f"a part too many: {wrong.stderr}")
    wrong = kvfit("run", "--job", job, "--part", "0/4", expect=2)
    check("the job has 3 parts" in wrong.stderr, f"parts of another job: {wrong.stderr}")
    kvfit("merge", "--job", job, "-q")
    check(digests(target) == expected, "parts merged differ from one run")

    scripts = {"parallel": [], "slurm": [], "kubernetes": ["--image", "example.org/kvfit:1", "--claim", "models"]}
    for engine, flags in scripts.items():
        path = os.path.join(place, engine)
        kvfit("launch", "--job", job, "--with", engine, "--program", KVFIT, "-o", path, *flags)
        if engine != "kubernetes" and shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", path], capture_output=True, text=True)
            check(done.returncode == 0, f"shellcheck of {engine}: {done.stdout}")
    with open(os.path.join(place, "kubernetes"), encoding="utf-8") as handle:
        text = handle.read()
    for line in ("completionMode: Indexed", "completions: 3", "restartPolicy: Never", "backoffLimitPerIndex: 3"):
        check(line in text, f"the manifest lacks {line}")
    try:
        import yaml
        kinds = [(d["apiVersion"], d["kind"], d["spec"]["template"]["spec"]["restartPolicy"]) for d in yaml.safe_load_all(text)]
        check(kinds == [("batch/v1", "Job", "Never")] * 2, f"the manifest holds {kinds}")
    except ImportError:
        print("note: python3-yaml is missing, the manifest is checked as text only")
    if shutil.which("parallel"):
        shutil.rmtree(target)
        done = subprocess.run(["sh", os.path.join(place, "parallel")], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0 and digests(target) == expected, f"GNU parallel: {done.stdout}{done.stderr}")
    else:
        print("note: GNU parallel is not installed, its script was only checked")

finish(problems)
