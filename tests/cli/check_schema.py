#!/usr/bin/env python3
"""Golden plans against the schema that `kvfit schema plan` prints: `check_schema.py SCHEMA GOLDEN_DIR`.

The schema allows keys it does not know, so that a new minor version stays readable; here every object is closed first, so
that a misspelt key is found. Exit 77 (skipped) when python3-jsonschema is not installed."""

import copy
import json
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


def main():
    schema = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    strict = jsonschema.Draft202012Validator(closed(schema))
    plans = sorted(Path(sys.argv[2]).glob("plan-*.json"))
    faults = 0 if plans else 1
    for path in plans:
        plan = json.loads(path.read_text(encoding="utf-8"))
        for error in strict.iter_errors(plan):
            print(f"{path.name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            faults += 1
        later = copy.deepcopy(plan)
        later["format_version"] = "2.0"
        if strict.is_valid(later):
            print(f"{path.name}: a plan of another major version passes")
            faults += 1
        for rank in plan["result"]["ranks"]:
            if sum(entry["bytes"] for entry in rank["ledger"]) != rank["total_bytes"]:
                print(f"{path.name}: rank {rank['rank']} does not sum")
                faults += 1
    print(f"{len(plans)} plans checked")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
