#!/usr/bin/env python3
"""What machines read of `kvfit check`: `check_formats_test.py KVFIT GOLDEN_DIR DEPLOYMENTS`. JSON against the schema that
kvfit prints, SARIF against tests/cli/sarif-kvfit.schema.json and its own rules, JUnit against its counts, annotations against
their grammar. Exit 77 (skipped) when python3-jsonschema is not installed."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_schema import closed  # noqa: E402

KVFIT, GOLDEN, DEPLOYMENTS = sys.argv[1:]
FAULTS = []


def fault(where, text):
    FAULTS.append(f"{where}: {text}")


def output(form):
    command = [KVFIT, "check", "--config", "none", "--gpu", "rtx5090-32g", "--format", form, "-q", "."]
    return subprocess.run(command, capture_output=True, text=True, cwd=DEPLOYMENTS).stdout


def texts(form, ending):
    for path in sorted(Path(GOLDEN).glob(f"check-*.{ending}")):
        yield path.name, path.read_text(encoding="utf-8")
    yield "tests/deployments", output(form)


def validate(where, value, schema):
    for error in schema.iter_errors(value):
        fault(where, f"{'/'.join(map(str, error.absolute_path))}: {error.message}")


def check_json():
    printed = json.loads(subprocess.run([KVFIT, "schema", "check"], capture_output=True, text=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(printed)
    schema = jsonschema.Draft202012Validator(closed(printed))
    for where, text in texts("json", "json"):
        report = json.loads(text)
        validate(where, report, schema)
        summary = report["result"]["summary"]
        if summary["deployments"] != len(report["result"]["deployments"]):
            fault(where, "the summary counts other deployments")
        counted = summary["errors"] + summary["warnings"] + summary["notes"] + summary["allowed"] + summary["known"]
        if counted != len(report["findings"]):
            fault(where, "the summary counts other findings")
        report["format_version"] = "2.0"
        if schema.is_valid(report):
            fault(where, "a report of another major version passes")


def check_sarif():
    own = json.loads(Path(__file__).with_name("sarif-kvfit.schema.json").read_text(encoding="utf-8"))
    schema = jsonschema.Draft202012Validator(own)
    for where, text in texts("sarif", "sarif"):
        log = json.loads(text)
        validate(where, log, schema)
        run = log["runs"][0]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        if len(set(rules)) != len(rules):
            fault(where, "a rule stands twice")
        for result in run["results"]:
            if rules[result["ruleIndex"]] != result["ruleId"]:
                fault(where, f"{result['ruleId']} points at another rule")
            if not result["partialFingerprints"]["kvfit/v1"]:
                fault(where, f"{result['ruleId']} has no fingerprint")


def check_junit():
    for where, text in texts("junit", "xml"):
        root = ElementTree.fromstring(text)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")):
            for holder in [root, *root.iter("testsuite")]:
                if int(holder.get(name)) != len(list(holder.iter(tag))):
                    fault(where, f"{holder.tag} counts other {name}")


def check_github():
    pattern = re.compile(r"^::(error|warning|notice) ((file|line|col|title)=[^,:\r\n]*,?)+::[^\r\n]+$")
    for where, text in texts("github", "github"):
        lines = [line for line in text.splitlines() if line.startswith("::")]
        for line in lines:
            if not pattern.match(line):
                fault(where, f"not a workflow command: {line}")
        for kind in ("error", "warning", "notice"):
            if sum(line.startswith(f"::{kind} ") for line in lines) > 10:
                fault(where, f"more than ten of kind {kind}")


for check in (check_json, check_sarif, check_junit, check_github):
    check()
print("\n".join(FAULTS) or "all valid")
sys.exit(1 if FAULTS else 0)
