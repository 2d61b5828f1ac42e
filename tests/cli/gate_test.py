#!/usr/bin/env python3
"""The gate as the CI systems run it, without them: `gate_test.py KVFIT ROOT`. A scratch repository with one deployment that
fits and one that does not, as README's section says; the Action's, GitLab's and pre-commit's files are held against it."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KVFIT, ROOT = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
FITS = "vllm serve Qwen/Qwen3-8B --max-model-len 16384 --max-num-seqs 32 --kv-cache-dtype fp8\n"
FAILS = "vllm serve Qwen/Qwen3-32B --max-model-len 16384 --max-num-seqs 32 --kv-cache-dtype fp8\n"


class Gate(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "deploy").mkdir()
        (self.folder / "kvfit.yaml").write_text("gpu: l4\n")
        (self.folder / "deploy/good.sh").write_text(FITS)
        self.bad = self.folder / "deploy/bad.sh"

    def run_gate(self, *paths, **settings):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KVFIT": KVFIT, **settings}
        return subprocess.run(["sh", str(ROOT / "ci/gate.sh"), *paths], capture_output=True, text=True, cwd=self.folder, env=env)

    def test_a_deployment_that_fits_passes_and_one_that_does_not_fails(self):
        self.assertEqual(self.run_gate("deploy").returncode, 0)
        self.bad.write_text(FAILS)
        done = self.run_gate("deploy")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error KVF001 deploy/bad.sh:1:", done.stdout)
        self.assertIn("FAIL  2 deployments: 1 fits, 1 does not fit", done.stdout)

    def test_on_github_annotations_go_to_the_log_and_a_page_to_the_summary(self):
        self.bad.write_text(FAILS)
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        done = self.run_gate("deploy", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary), KVFIT_REPORTS="reports")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^::error file=deploy/bad\.sh,line=1,col=\d+,title=KVF001 does not fit::")
        self.assertTrue(summary.read_text().startswith("before\n### kvfit check: fail\n"))
        for name in ("kvfit.json", "kvfit.sarif", "kvfit.xml"):
            self.assertTrue((self.folder / "reports" / name).stat().st_size > 0, name)

    def test_settings_reach_kvfit(self):
        (self.folder / "kvfit.yaml").unlink()
        self.assertEqual(self.run_gate("deploy").returncode, 2)
        self.assertEqual(self.run_gate("deploy", KVFIT_GPU="l4").returncode, 0)
        self.bad.write_text(FAILS)
        self.assertEqual(self.run_gate("deploy", KVFIT_GPU="l4", KVFIT_FAIL_ON="never").returncode, 0)
        self.assertEqual(self.run_gate("deploy", KVFIT_GPU="l4", KVFIT_ARGS="--exit-zero --quiet").returncode, 0)

    def test_the_action_hands_over_every_input_it_declares_and_no_other(self):
        text = (ROOT / "action.yml").read_text()
        declared = set(re.findall(r"(?m)^  ([a-z-]+):$", text.split("\noutputs:")[0]))
        used = set(re.findall(r"inputs\.([a-z-]+)", text))
        self.assertEqual(declared, used)
        known = set(re.findall(r"\bKVFIT_[A-Z_]+", (ROOT / "ci/gate.sh").read_text())) | {"KVFIT_PATHS"}
        self.assertLessEqual(set(re.findall(r"\bKVFIT_[A-Z_]+", text)), known)

    def test_the_action_s_own_step_runs(self):
        text = (ROOT / "action.yml").read_text()
        script = "\n".join(line[8:] for line in text.split("run: |\n")[1].splitlines())
        self.bad.write_text(FAILS)
        output = self.folder / "output"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KVFIT": KVFIT, "GITHUB_ACTION_PATH": str(ROOT),
               "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true", "KVFIT_PATHS": "deploy", "KVFIT_REPORTS": ""}
        done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(output.read_text(), "exit-code=1\n")

    def test_gitlab_s_job_runs(self):
        text = (ROOT / "ci/gitlab.yml").read_text()
        script = re.search(r"(?m)^    - (sh .*)$", text).group(1)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KVFIT": KVFIT, "KVFIT_GATE": str(ROOT / "ci/gate.sh"),
               "KVFIT_PATHS": "deploy", "KVFIT_REPORTS": "kvfit-reports"}
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / re.search(r"junit: (\S+)", text).group(1)).exists())

    def test_the_pre_commit_hook_is_a_script_that_takes_files(self):
        text = (ROOT / ".pre-commit-hooks.yaml").read_text()
        entry = re.search(r"entry: (\S+)", text).group(1)
        self.assertTrue(os.access(ROOT / entry, os.X_OK))
        files = re.compile(re.search(r"files: (\S+)", text).group(1))
        exclude = re.compile(re.search(r"exclude: (\S+)", text).group(1))
        self.assertTrue(files.search("deploy/good.sh") and files.search("compose.yml"))
        self.assertTrue(exclude.search("kvfit.yaml") and not exclude.search("deploy/llm.yaml"))
        self.bad.write_text(FAILS)
        self.assertEqual(self.run_gate("deploy/good.sh", "deploy/bad.sh").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
