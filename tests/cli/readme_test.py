#!/usr/bin/env python3
"""What README shows is what kvfit prints: `readme_test.py KVFIT README`. Holds for blocks that are one `plan` or `emit` command and
its whole output; --update writes them anew."""

import re
import subprocess
import sys
from pathlib import Path

kvfit, readme = sys.argv[1], Path(sys.argv[2])
text = readme.read_text(encoding="utf-8")
new, wrong, seen = text, 0, 0
for block in re.findall(r"^```\n(\$ (?:\./dev run|kvfit) (?:plan|emit) .*?)^```$", text, re.M | re.S):
    command, shown = block.split("\n", 1)
    words = re.sub(r"^\$ (\./dev run|kvfit) ", "", command).split()
    printed = subprocess.run([kvfit, *words], capture_output=True, text=True, check=False).stdout.rstrip("\n") + "\n"
    seen += 1
    if printed == shown:
        continue
    wrong += 1
    new = new.replace(block, f"{command}\n{printed}")
    print(f"README shows something else than `kvfit {' '.join(words)}` prints")
if "--update" in sys.argv:
    readme.write_text(new, encoding="utf-8")
elif wrong or seen < 2:
    sys.exit(f"{wrong} of {seen} outputs differ: tests/cli/readme_test.py KVFIT README.md --update")
