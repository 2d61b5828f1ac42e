#!/usr/bin/env python3
"""Every deployment of cases.txt against kvfit: `deployments_test.py KVFIT`. KVFIT_UPDATE_GOLDEN=1 rewrites what kvfit says.

Beside the lines themselves: every finding that a deployment can have is shown by one and absent from another, at least 60
deployments are there, and no file is left out of the list."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

KVFIT = str(Path(sys.argv[1]).resolve())
HERE = Path(__file__).resolve().parent
CASES = HERE / "cases.txt"
# Shown elsewhere (tests/cli/check-*, checkpoint_test.py): no deployment by itself has them.
ELSEWHERE = {"KVF013", "KVF030", "KVF031", "KVF032", "KVF034"}


def checked(path, flags):
    command = [KVFIT, "check", "--config", "none", "--format", "json", *flags.split(), path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    if not done.stdout:
        return str(done.returncode), "-", done.stderr.splitlines()[0] if done.stderr else "-"
    report = json.loads(done.stdout)
    verdicts = " ".join(one["verdict"] for one in report["result"]["deployments"])
    findings = " ".join(f"{one['id']}@{one.get('line', '-')}" for one in report["findings"])
    return str(done.returncode), verdicts, findings or "-"


def pages():
    out = set()
    for number in range(40):
        done = subprocess.run([KVFIT, "explain", f"KVF{number:03d}"], capture_output=True, text=True)
        if done.returncode == 0:
            out.add(f"KVF{number:03d}")
    return out


def main():
    update = os.environ.get("KVFIT_UPDATE_GOLDEN") == "1"
    lines, faults, shown, files, without = [], 0, set(), set(), {}
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            lines.append(line)
            continue
        path, flags, ended, *expected = (part.strip() for part in line.split("|"))
        files.add(path)
        found = checked(path, flags)
        ids = set(re.findall(r"KVF\d\d\d", found[2]))
        shown |= ids
        for other in ids:
            without.setdefault(other, set()).add(path)
        if list(found) != expected:
            faults += not update
            print(f"{path}: expected {' | '.join(expected)}\n{' ' * len(path)}  found    {' | '.join(found)}")
        lines.append(" | ".join([path, flags, ended, *found]))
    if update:
        CASES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    there = {str(p.relative_to(HERE)) for p in HERE.rglob("*") if p.is_file() and p.parent != HERE}
    for path in sorted(there ^ files):
        print(f"{path}: {'not in cases.txt' if path in there else 'no such file'}")
        faults += 1
    for one in sorted(pages() - ELSEWHERE - shown):
        print(f"{one}: no deployment shows it")
        faults += 1
    for one, where in without.items():
        if len(where) == len(files):
            print(f"{one}: every deployment has it")
            faults += 1
    print(f"{len(files)} deployments, {len(shown)} kinds of finding")
    sys.exit(1 if faults or len(files) < 60 else 0)


if __name__ == "__main__":
    main()
