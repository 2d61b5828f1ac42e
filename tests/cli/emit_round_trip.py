#!/usr/bin/env python3
"""What kvfit writes, kvfit reads again: `emit_round_trip.py KVFIT`.

1. A plan, written for every target, is answered by `kvfit check` as `kvfit plan` answered it: same verdict, settings, pool
   and checks, to the byte.
2. Published deployments (the serve line of the 28B carve, two compose tiers of Qwen3.6-27B NVFP4) are written for every
   target and back as a command line: no flag and no value is lost.
3. Two files of one deployment do not differ for `kvfit diff`.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DEPLOYMENTS = Path(__file__).resolve().parent.parent / "deployments"
ONE_MACHINE = {"command": "x.sh", "vllm-config": "x.yaml", "compose": "compose.yaml", "quadlet": "x.container",
               "systemd": "x.service", "kubernetes": "x.yaml", "kserve": "x.yaml", "ray-serve": "x.yaml"}
SEVERAL = {"leaderworkerset": "x.yaml", "ray": "x.sh"}
SAME = ("verdict", "binding", "serving", "checks", "kv", "gates")

PLANS = [
    ["--gpu", "rtx5090-24g", "--experts", "192", "--max-model-len", "8192"],
    ["--gpu", "rtx5090-24g", "--experts", "192", "--max-model-len", "8192", "--mtp", "4", "--prefix-caching", "off",
     "--enforce-eager"],
    ["--gpu", "h100-sxm", "--model", "qwen3-8b", "--tp", "2", "--max-model-len", "32K", "--max-num-batched-tokens", "4096",
     "--kv-cache-dtype", "fp8"],
    ["--gpu", "l4", "--model", "qwen3-8b", "--max-model-len", "16K", "--max-num-seqs", "4", "--kv-cache-memory-bytes", "3GiB"],
    ["--gpu", "h200", "--model", "deepseek-v3.2", "--tp", "8", "--ep", "--max-model-len", "65536", "--engine-version", "0.22.1"],
]
MANY = [
    ["--gpu", "h200", "--model", "deepseek-v3.2", "--tp", "8", "--pp", "2", "--max-model-len", "65536"],
]
# Published: the card of the 28B carve of Qwen3.6-35B-A3B for a 24 GB laptop 5090 (July 2026).
SERVE_LINE = ["vllm", "serve", "./Qwen3.6-35B-A3B-NVFP4-192e", "--kv-cache-dtype", "fp8", "--max-model-len", "8192",
              "--gpu-memory-utilization", "0.94", "--max-num-seqs", "16", "--limit-mm-per-prompt", '{"image":0,"video":0}',
              "--speculative-config", '{"method":"qwen3_5_mtp","num_speculative_tokens":4}']

failures = []


def run(kvfit, *words, code=0):
    """`code` None: whatever the verdict, it must be one."""
    done = subprocess.run([kvfit, *words], capture_output=True, text=True, timeout=60)
    if done.returncode != code and not (code is None and done.returncode in (0, 1)):
        failures.append(f"kvfit {shlex.join(words)}: exit {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


def plans(kvfit, folder):
    for flags in PLANS + MANY:
        planned = json.loads(run(kvfit, "plan", *flags, "--format", "json"))["result"]
        targets = SEVERAL if flags in MANY else ONE_MACHINE
        for target, name in targets.items():
            path = folder / name
            # A configuration file, a unit and a script carry no image: the release is said again.
            path.write_text(run(kvfit, "emit", "--to", target, *flags))
            version = ["--engine-version", flags[flags.index("--engine-version") + 1]] if "--engine-version" in flags else []
            text = run(kvfit, "check", "--gpu", flags[1], *version, "--fail-on", "never", "--format", "json", str(path))
            for found in json.loads(text)["result"]["deployments"] if text else [{}]:
                for key in SAME:
                    if found.get(key) != planned.get(key):
                        failures.append(f"{target} of {shlex.join(flags)}: {key}: {planned.get(key)} is read as {found.get(key)}")


def command(text):
    """Model, {flag: values} and environment of a command file."""
    words = shlex.split(text.replace("\\\n", " "), comments=True)
    if "vllm" not in words:
        return "", {}, []
    at = words.index("vllm")
    environment = sorted(words[:at])
    flags, last = {}, None
    for word in words[at + 3:]:
        if word.startswith("--"):
            last = word
            flags[last] = []
        else:
            flags[last].append(json.dumps(json.loads(word), sort_keys=True) if word.startswith("{") else word)
    return words[at + 2], flags, environment


def published(kvfit, folder):
    sources = [("28B serve line", "rtx5090-24g", ["--", *SERVE_LINE])]
    for name in ("qwen3.6-27b-nvfp4-single.yml", "qwen3.6-27b-nvfp4-dual.yml"):
        sources.append((name, "rtx5090-32g", [str(DEPLOYMENTS / "compose" / name)]))
    for what, gpu, source in sources:
        first = command(run(kvfit, "emit", "--gpu", gpu, "--force", "--to", "command", *source, code=None))
        if what == "28B serve line" and first != command(shlex.join(SERVE_LINE)):
            failures.append(f"{what}: {first}")
        for target, name in ONE_MACHINE.items():
            path = folder / name
            path.write_text(run(kvfit, "emit", "--gpu", gpu, "--force", "--to", target, *source, code=None))
            again = command(run(kvfit, "emit", "--gpu", gpu, "--force", "--to", "command", str(path), code=None))
            # The environment stands in the header of the one and is Ray's own to set in the other.
            if target in ("vllm-config", "ray-serve"):
                again = (*again[:2], first[2])
            if again != first:
                lost = [(a, b) for a, b in zip(first, again) if a != b]
                failures.append(f"{what}: by {target}: {lost}")


def same_for_diff(kvfit, folder):
    flags = PLANS[0]
    one, two = folder / "one.yaml", folder / "two.yaml"
    one.write_text(run(kvfit, "emit", "--to", "compose", *flags))
    two.write_text(run(kvfit, "emit", "--to", "kubernetes", *flags))
    if "nothing differs" not in run(kvfit, "diff", "--gpu", flags[1], str(one), str(two)):
        failures.append("diff: compose and kubernetes of one plan differ")
    two.write_text(two.read_text().replace("--max-num-seqs=16", "--max-num-seqs=4"))
    if "max_num_seqs" not in run(kvfit, "diff", "--gpu", flags[1], str(one), str(two), code=1):
        failures.append("diff: fewer sequences are no difference")


def diff_schema(kvfit, folder):
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return
    schema = json.loads(run(kvfit, "schema", "diff"))
    jsonschema.Draft202012Validator.check_schema(schema)
    one, two = folder / "one.json", folder / "two.json"
    one.write_text(run(kvfit, "plan", *PLANS[0], "--format", "json"))
    two.write_text(run(kvfit, "plan", *PLANS[1], "--format", "json"))
    text = run(kvfit, "diff", "--format", "json", str(one), str(two), code=1)
    failures.extend(f"diff: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)))


def main():
    kvfit = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plans(kvfit, folder)
        published(kvfit, folder)
        same_for_diff(kvfit, folder)
        diff_schema(kvfit, folder)
    print("\n".join(failures) or "all files come back as they were planned")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
