#!/usr/bin/env python3
"""What a baseline hides: `check_baseline_test.py KVFIT`. The findings it has, wherever their lines move, and no others: not the
same rule's for another flag, model or GPU, and not a second one that is like the first."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KVFIT = str(Path(sys.argv.pop(1)).resolve())
CALL = "vllm serve Qwen/Qwen3-32B --max-model-len 16384 --max-num-seqs 32 --kv-cache-dtype fp8 --first-typo 1\n"


class Baseline(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.check(CALL, "-o", "json=old.json")

    def check(self, text, *words, gpu="l4"):
        (self.folder / "a.sh").write_text(text)
        command = [KVFIT, "check", "--config", "none", "--gpu", gpu, "-q", *words, "a.sh"]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def new(self, text, **more):
        """Ids of the errors that count beside the baseline."""
        done = self.check(text, "--baseline", "old.json", "--format", "json", **more)
        found = json.loads(done.stdout)["findings"]
        return sorted(one["id"] for one in found if one["level"] == "error" and not one.get("known"))

    def test_the_same_findings_are_known_wherever_they_stand(self):
        self.assertEqual(self.new(CALL), [])
        self.assertEqual(self.new("#!/bin/sh\n\n# moved\n" + CALL.replace("16384", "8192")), [])

    def test_another_flag_is_another_finding(self):
        self.assertEqual(self.new(CALL.replace("first", "second")), ["KVF016"])

    def test_another_model_or_gpu_is_another_deployment(self):
        self.assertEqual(self.new(CALL.replace("Qwen3-32B", "Qwen3-30B-A3B")), ["KVF001", "KVF016"])
        self.assertEqual(self.new(CALL, gpu="rtx4090-24g"), ["KVF001", "KVF016"])

    def test_a_second_one_that_is_alike_counts(self):
        self.assertEqual(self.new(CALL + CALL.replace("seqs 32", "seqs 64")), ["KVF001", "KVF016"])


if __name__ == "__main__":
    unittest.main()
