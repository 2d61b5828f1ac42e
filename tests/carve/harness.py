"""What the tests of a carve share: where kvfit is, how it is run, what a directory holds."""

import hashlib
import os
import subprocess
import sys

KVFIT = os.path.abspath(sys.argv[1])


def require_numpy():
    """Ends the test as a visible skip when the oracle cannot run."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("skipped: python3-numpy is not installed")
        sys.exit(77)


def kvfit(*words, expect=0, **environment):
    """What it printed; an AssertionError with everything it said when the exit code is another."""
    done = subprocess.run([KVFIT, *words], capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    if done.returncode != expect:
        raise AssertionError(f"kvfit {' '.join(words)}: exit {done.returncode}, not {expect}\n{done.stdout}{done.stderr}")
    return done.stdout if expect == 0 else done.stderr


def digests(directory):
    """SHA-256 of every file below a directory, by its name from there."""
    out = {}
    for folder, _, files in os.walk(directory):
        for name in files:
            path = os.path.join(folder, name)
            sum256 = hashlib.sha256()
            with open(path, "rb") as handle:
                for piece in iter(lambda: handle.read(1 << 20), b""):  # the test's own memory counts where a carve's is measured
                    sum256.update(piece)
            out[os.path.relpath(path, directory)] = sum256.hexdigest()
    return out


def finish(problems, held="all hold"):
    print("\n".join(problems) if problems else held)
    sys.exit(1 if problems else 0)
