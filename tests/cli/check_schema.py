#!/usr/bin/env python3
"""Golden plans, and plans that KVFIT makes, against the schema it prints: `check_schema.py KVFIT GOLDEN_DIR`.

The schema allows keys it does not know, so that a new minor version stays readable; here every object is closed first, so
that a misspelt key is found. Exit 77 (skipped) when python3-jsonschema is not installed."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def closed(schema):
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    if out.get("type") == "object":
        out["additionalProperties"] = False
    return out


PLANS = [
    ["--gpu", "rtx5090-24g"],
    ["--gpu", "rtx5090-24g", "--experts", "256", "--max-model-len", "8192"],
    ["--gpu", "rtx3090-24g"],
    ["--gpu", "rtx5090-32g", "--gpus", "2", "--model", "nvidia/Qwen3.6-27B-NVFP4", "--mtp", "3", "--util", "0.85"],
    ["--gpu", "h200", "--tp", "8", "--pp", "2", "--model", "deepseek-v3"],
    ["--gpu", "gb10", "--model", "Qwen/Qwen3-8B"],
]


def plans(kvfit, folder):
    for path in sorted(Path(folder).glob("plan-*.json")):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))
    for flags in PLANS:
        done = subprocess.run([kvfit, "plan", *flags, "--format", "json"], capture_output=True, text=True)
        yield " ".join(flags), json.loads(done.stdout)


BOOTS = [
    (["boot", "--gpu", "rtx5090-24g", "--max-model-len", "8192", "--hold", "0", "--limit", "20GiB"], {}),
    (["boot", "--gpu", "rtx5090-24g", "--max-model-len", "8192", "--hold", "0"], {"KVFIT_FAKE_USED_MIB": "6000"}),
    (["boot", "--gpu", "rtx5090-24g", "--max-model-len", "8192", "--hold", "0"], {"KVFIT_FAKE_FLIP": "1:77"}),
    (["boot", "--gpu", "rtx5090-24g", "--engine", "vllm", "--timeout", "5", "--", "false"], {}),
]


def check_boots(kvfit):
    """Faults of `kvfit boot` against the fake driver, by its schema with every object closed."""
    schema = json.loads(subprocess.run([kvfit, "schema", "boot"], capture_output=True, text=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    strict = jsonschema.Draft202012Validator(closed(schema))
    faults = 0
    for words, settings in BOOTS:
        env = {**os.environ, "LD_LIBRARY_PATH": os.environ["KVFIT_FAKES"], **settings}
        done = subprocess.run([kvfit, *words[:-2], "--format", "json", *words[-2:]], env=env, capture_output=True, text=True)
        for error in strict.iter_errors(json.loads(done.stdout)):
            print(f"{' '.join(words)} {settings}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            faults += 1
    return faults


LOG = """INFO Initializing a V1 LLM engine (v0.19.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', max_seq_len=8192
INFO Model loading took 17.20 GiB memory and 3.42 seconds
INFO Model loading took nan GiB memory and 3.42 seconds
INFO Available KV cache memory: 58.11 GiB
INFO GPU KV cache size: 476,016 tokens
"""


def check_calibrations(kvfit):
    """A log with a line that is off, one that cannot be used, and an assumed utilisation, by its schema, closed."""
    schema = json.loads(subprocess.run([kvfit, "schema", "calibrate"], capture_output=True, text=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    done = subprocess.run([kvfit, "calibrate", "--gpu", "h100-sxm", "--format", "json", "-"], input=LOG, capture_output=True,
                          text=True)
    report = json.loads(done.stdout)
    assert {"cause", "assumed", "utilization", "unusable", "first_outside"} <= report["result"]["boots"][0].keys()
    errors = list(jsonschema.Draft202012Validator(closed(schema)).iter_errors(report))
    for error in errors:
        print(f"calibrate: {'/'.join(map(str, error.absolute_path))}: {error.message}")
    return len(errors)


def main():
    kvfit, folder = sys.argv[1:]
    schema = json.loads(subprocess.run([kvfit, "schema", "plan"], capture_output=True, text=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    strict = jsonschema.Draft202012Validator(closed(schema))
    faults = checked = 0
    for name, plan in plans(kvfit, folder):
        checked += 1
        for error in strict.iter_errors(plan):
            print(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            faults += 1
        later = copy.deepcopy(plan)
        later["format_version"] = "2.0"
        if strict.is_valid(later):
            print(f"{name}: a plan of another major version passes")
            faults += 1
        for rank in plan["result"]["ranks"]:
            if sum(entry["bytes"] for entry in rank["ledger"]) != rank["total_bytes"]:
                print(f"{name}: rank {rank['rank']} does not sum")
                faults += 1
    faults += check_boots(kvfit) + check_calibrations(kvfit)
    print(f"{checked} plans and {len(BOOTS)} boots checked")
    sys.exit(1 if faults or checked < len(PLANS) + 6 else 0)


if __name__ == "__main__":
    main()
