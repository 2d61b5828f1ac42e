#!/usr/bin/env python3
"""Emitted files under the eyes of others: `emit_validators.py KVFIT FOLDER`, FOLDER with the node_modules of tests/validators.

Each target is written for a real plan and given to what reads such files elsewhere: PyYAML (YAML 1.1, strict about
duplicates), JSON Schema subsets of the formats' own definitions (tests/data/emit/*.schema.json), systemd-analyze, shellcheck,
bash, zsh, fish, groff, dclint (compose), kubernetes-models (Kubernetes' own API) and ajv (kvfit's JSON). A validator that this machine lacks is named in a line "skipped"; with none at all the exit code is 77.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent.parent / "data" / "emit"
ONE = ["--gpu", "rtx5090-24g", "--experts", "192", "--max-model-len", "8192", "--prefix-caching", "off"]
HUB = ["--gpu", "h100-sxm", "--model", "qwen3-8b", "--tp", "2", "--max-model-len", "32K"]
MANY = ["--gpu", "h200", "--tp", "8", "--pp", "2", "--model", "deepseek-v3.2", "--max-model-len", "65536"]
DATA = ["--gpu", "h200", "--tp", "1", "--dp", "8", "--nodes", "2", "--model", "qwen3-8b", "--max-model-len", "32K"]

failures, passed, skipped = [], [], []


def emit(kvfit, target, flags):
    done = subprocess.run([kvfit, "emit", "--to", target, *flags], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        failures.append(f"{target}: kvfit emit exits {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def ran(what, command, quiet, **more):
    """The program's exit must be 0, and where `quiet` it must say nothing."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    said = (done.stdout + done.stderr).strip()
    if done.returncode != 0 or (quiet and said):
        failures.append(f"{what}: {command[0]} exits {done.returncode}: {said}")
    passed.append(f"{what} ({command[0]})")


def have(program):
    if shutil.which(program):
        return True
    if program not in skipped:
        skipped.append(program)
    return False


def yaml_files(kvfit):
    try:
        import yaml
    except ImportError:
        skipped.append("python3-yaml")
        return
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
        skipped.append("python3-jsonschema")

    class Strict(yaml.SafeLoader):
        pass

    def no_duplicates(loader, node, deep=False):
        keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.YAMLError(f"duplicate key at {node.start_mark}")
        return yaml.SafeLoader.construct_mapping(loader, node, deep)

    Strict.add_constructor("tag:yaml.org,2002:map", no_duplicates)
    for target, flags in [("compose", ONE), ("compose", HUB), ("vllm-config", ONE), ("kubernetes", ONE), ("kubernetes", HUB),
                          ("kserve", HUB), ("ray-serve", ONE), ("leaderworkerset", MANY), ("leaderworkerset", DATA)]:
        text = emit(kvfit, target, flags)
        what = f"{target} {flags[1]}"
        try:
            documents = [document for document in yaml.load_all(text, Loader=Strict)]
        except yaml.YAMLError as error:
            failures.append(f"{what}: {error}")
            continue
        passed.append(f"{what} (yaml, {len(documents)} documents)")
        for document in documents:
            if target == "vllm-config":
                check_config(what, document)
            if jsonschema is not None:
                kind = document.get("kind", target).lower()
                schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text())
                found = sorted(jsonschema.Draft202012Validator(schema).iter_errors(document), key=str)
                failures.extend(f"{what}: {kind}: {'/'.join(map(str, e.absolute_path))}: {e.message}" for e in found)
                passed.append(f"{what} (schema {kind})")
    if jsonschema is not None:
        schemas_refuse(jsonschema)


def check_config(what, document):
    """The engine's reader drops false and makes "None" of null; one of the two budgets is stated."""
    for key, value in document.items():
        if value is False or value is None:
            failures.append(f"{what}: {key} is {value}")
    budgets = [key for key in ("gpu-memory-utilization", "kv-cache-memory-bytes") if key in document]
    if len(budgets) != 1:
        failures.append(f"{what}: budgets {budgets}")


def schemas_refuse(jsonschema):
    """A schema that takes everything proves nothing: a misspelt key must be named."""
    schema = json.loads((SCHEMAS / "deployment.schema.json").read_text())
    wrong = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replica": 1}}
    if jsonschema.Draft202012Validator(schema).is_valid(wrong):
        failures.append("the schema of a Deployment takes a misspelt key")


def scripts(kvfit, folder):
    if not have("shellcheck"):
        return
    for target, flags in [("command", ONE), ("ray", MANY), ("sglang", ONE),
                          ("llama-server", HUB + ["--gguf", "Qwen/Qwen3-8B-GGUF:Q8_0"])]:
        path = folder / f"{target}.sh"
        path.write_text(emit(kvfit, target, flags))
        ran(target, ["shellcheck", str(path)], True)
        ran(target, ["sh", "-n", str(path)], True)


def units(kvfit, folder):
    if not have("systemd-analyze"):
        return
    for name, flags in [("one", ONE), ("hub", HUB)]:
        # The program must exist for the check; the working directory and everything else stay as written.
        text = emit(kvfit, "systemd", flags).replace("/opt/vllm/bin/vllm serve", "/bin/true serve")
        path = folder / f"kvfit-{name}.service"
        path.write_text(text)
        ran(f"systemd {name}", ["systemd-analyze", "verify", "--man=no", str(path)], True)


def quadlets(kvfit):
    """podman's generator where it is; else the keys that podman-systemd.unit(5) knows, so that a misspelt one is found."""
    known = {"Unit": {"Description"},
             "Container": {"ContainerName", "Image", "Entrypoint", "Exec", "AddDevice", "PublishPort", "Volume", "WorkingDir",
                           "Environment", "ShmSize", "HealthCmd", "HealthStartPeriod", "Notify"},
             "Service": {"Restart", "TimeoutStartSec"}, "Install": {"WantedBy"}}
    section, joined = "", False
    for line in emit(kvfit, "quadlet", ONE).splitlines():
        if line.startswith("[") and not joined:
            section = line.strip("[]")
        elif "=" in line and not joined and not line.startswith("#"):
            key = line.split("=", 1)[0]
            if key not in known.get(section, set()):
                failures.append(f"quadlet: [{section}] {key}")
        joined = line.endswith("\\")
    passed.append("quadlet (keys)")


def refuses(what, command):
    """A validator that takes everything proves nothing."""
    if subprocess.run(command, capture_output=True, text=True, timeout=120).returncode == 0:
        failures.append(f"{what}: {command[0]} takes a broken file")


def from_npm(kvfit, folder, place):
    """dclint, kubernetes-models and ajv, each also shown a file that is wrong."""
    programs = place / "node_modules" / ".bin"
    if not (programs / "dclint").exists() or not shutil.which("node"):
        skipped.extend(["dclint", "kubernetes-models", "ajv"])
        return
    style = ["--disable-rule", "no-unbound-port-interfaces"]  # who may reach the port is the user's to say
    for name, flags in [("one", ONE), ("hub", HUB)]:
        path = folder / f"{name}-compose.yaml"
        path.write_text(emit(kvfit, "compose", flags))
        ran(f"compose {name}", [str(programs / "dclint"), "-q", str(path), *style], True)
    path.write_text(path.read_text().replace("capabilities", "capabilites"))
    refuses("compose", [str(programs / "dclint"), "-q", str(path), *style])
    kubernetes(kvfit, folder, place)
    schema, plan = folder / "plan.schema.json", folder / "plan.json"
    for verb, words in [("plan", ONE), ("check", ["--fail-on", "never", *ONE, "--model", "qwen3-8b"])]:
        words = [word for word in words if verb == "plan" or word not in ("--experts", "192")]
        schema.write_text(subprocess.run([kvfit, "schema", verb], capture_output=True, text=True, check=True).stdout)
        plan.write_text(subprocess.run([kvfit, verb, *words, "--format", "json"], capture_output=True, text=True).stdout)
        ajv = [str(programs / "ajv"), "validate", "--spec=draft2020", "-s", str(schema), "-d", str(plan)]
        ran(f"{verb} json", ajv, False)
    plan.write_text(plan.read_text().replace('"format_version": "1.0"', '"format_version": "9.0"'))
    refuses("json", ajv)


def kubernetes(kvfit, folder, place):
    try:
        import yaml
    except ImportError:
        skipped.append("kubernetes-models (needs python3-yaml)")
        return
    check = ["node", str(Path(__file__).resolve().parent.parent / "validators" / "kubernetes.mjs"), str(place)]
    path = folder / "objects.json"
    for target, flags in [("kubernetes", ONE), ("kubernetes", HUB), ("leaderworkerset", MANY), ("kserve", HUB)]:
        objects = list(yaml.safe_load_all(emit(kvfit, target, flags)))
        if target == "leaderworkerset":  # the pods in it are Kubernetes' own
            group = objects[0]["spec"]["leaderWorkerTemplate"]
            for role in ("leaderTemplate", "workerTemplate"):
                objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": group[role]["spec"]})
        path.write_text(json.dumps(objects))
        ran(f"{target} {flags[1]} (kubernetes-models)", [*check, str(path)], False)
    objects = list(yaml.safe_load_all(emit(kvfit, "kubernetes", ONE)))
    objects[0]["spec"]["replicas"] = "two"
    path.write_text(json.dumps(objects))
    refuses("kubernetes", [*check, str(path)])


def completions(kvfit, folder):
    for shell, check in [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])]:
        text = subprocess.run([kvfit, "completions", shell], capture_output=True, text=True, check=True).stdout
        path = folder / f"kvfit.{shell}"
        path.write_text(text)
        if have(check[0]):
            ran(f"completions {shell}", [*check, str(path)], True)
    if have("bash"):
        asked = 'source "$1"; COMP_WORDS=(kvfit emit --to c); COMP_CWORD=3; _kvfit; echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", asked, "bash", str(folder / "kvfit.bash")], capture_output=True, text=True)
        if done.stdout.split() != ["command", "compose"]:
            failures.append(f"completions bash: --to c completes to {done.stdout!r} {done.stderr!r}")
        passed.append("completions bash (completes)")


def pages(kvfit):
    if not have("groff"):
        return
    for verb in ["", "plan", "emit", "carve", "diff"]:
        text = subprocess.run([kvfit, "man", *([verb] if verb else [])], capture_output=True, text=True, check=True).stdout
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or done.stderr.strip():
            failures.append(f"man {verb}: {done.stderr.strip()}")
        if ".SH EXIT STATUS" not in text:
            failures.append(f"man {verb}: no exit status")
        passed.append(f"man {verb or 'kvfit'} (groff)")


def main():
    kvfit = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yaml_files(kvfit)
        scripts(kvfit, folder)
        units(kvfit, folder)
        quadlets(kvfit)
        from_npm(kvfit, folder, Path(sys.argv[2]))
        completions(kvfit, folder)
        pages(kvfit)
    for program in ("docker-compose", "kubeconform", "podman"):
        if not shutil.which(program):
            skipped.append(program)
    print("\n".join(f"ok: {line}" for line in passed))
    print("\n".join(f"skipped: {program} is not here" for program in skipped))
    print("\n".join(f"FAILED: {line}" for line in failures))
    return 1 if failures else 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())
