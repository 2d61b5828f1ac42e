#!/usr/bin/env python3
"""What a case file cannot do: full disks, readers that go away, Ctrl-C. `streams_test.py KVFIT`."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KVFIT = str(Path(sys.argv[1]).resolve())


class Streams(unittest.TestCase):
    def test_a_full_disk_under_stdout_exits_4(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([KVFIT, "schema"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "error: cannot write to stdout: No space left on device\n")

    def test_a_reader_that_goes_away_is_quiet(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([KVFIT, "schema"], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "")

    def test_ctrl_c_exits_130(self):
        # reads the model from stdin and waits: the signal finds it there
        process = subprocess.Popen(
            [KVFIT, "plan", "--gpu", "rtx5090-24g", "--model", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        try:
            process.wait(0.5)
            self.fail("did not wait for its input")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, out, err), (130, b"", b""))

    def test_a_file_appears_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "schema.json")
            done = subprocess.run([KVFIT, "schema", "-o", str(path)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertTrue(path.read_text().startswith("{"))
            self.assertEqual(os.listdir(folder), ["schema.json"])
            os.chmod(folder, 0o500)
            missing = Path(folder, "no", "schema.json")
            done = subprocess.run([KVFIT, "schema", "-o", str(missing)], capture_output=True, text=True)
            os.chmod(folder, 0o700)
            self.assertEqual(done.returncode, 4)
            self.assertEqual(done.stderr, f"error: cannot write '{missing}': No such file or directory\n")
            self.assertEqual(os.listdir(folder), ["schema.json"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
