#!/usr/bin/env python3
"""Rules of the house that no compiler checks. `check.py ROOT RULE...` prints each breach as FILE:LINE: message; exit 1 if any.

layers    who may include whom (DESIGN.md), and third-party headers only behind their wrappers
silence   nothing below cli/ prints or exits
size      one concept a file: headers to 120 lines, sources to 400, tests to 600
first     X.cc includes X.h before anything else, which proves that X.h compiles alone
paths     no file names a directory of one machine
"""

import os
import re
import subprocess
import sys
from pathlib import Path

MAY_INCLUDE = {
    "profiles": set(),
    "hardware": {"profiles"},
    "models": {"profiles"},
    "planner": {"profiles", "hardware", "models"},
    "carve": {"profiles", "models", "planner"},
    "runtime": {"profiles", "hardware", "models", "planner"},
    "cli": {"profiles", "hardware", "models", "planner", "carve", "runtime"},
}

# A header of another library, and the only files that may include it.
WRAPPERS = {
    r"fmt/": r"profiles/text\.h",
    r"nlohmann/": r"profiles/json\.h|profiles/document_json\.cc",
    r"yaml-cpp/": r"profiles/document[a-z_]*\.(h|cc)",
    r"openssl/": r"carve/digest\.cc",
    r"xxhash": r"carve/tensor_hash\.cc",
    r"boost/(asio|beast)/": r"runtime/http\.cc",
    r"boost/(?!asio/|beast/)": r"cli/args[a-z_]*\.(h|cc)",
    r"doctest": r"tests/.*",
}

# profiles/embed.cc is a program of the build, with a main of its own.
PROGRAMS = {"profiles/embed.cc"}
PRINTS = re.compile(r"std::(cout|cerr|clog)\b|\b(printf|fprintf|puts|putchar|perror)\s*\(|fmt::print|\b(exit|_exit|abort|quick_exit)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
MACHINE_PATH = re.compile(r"(?<![\w.*}])/(home|root|Users|work|mnt|media)/\w")


def folder(path):
    return path.split("/", 1)[0]


def without_comments(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//", 1)[0]


def layers(path, lines):
    top = folder(path)
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        included = found.group(1)
        other = folder(included)
        if top in MAY_INCLUDE and other in {*MAY_INCLUDE, "tests"} - {top} and other not in MAY_INCLUDE[top]:
            yield number, f"{top}/ may not include {included}"
        for header, wrapper in WRAPPERS.items():
            if re.match(header, included) and not re.fullmatch(wrapper, path):
                yield number, f"<{included}> belongs behind {wrapper}"


def silence(path, lines):
    if folder(path) not in MAY_INCLUDE or folder(path) == "cli" or path in PROGRAMS:
        return
    for number, line in enumerate(lines, 1):
        if PRINTS.search(without_comments(line)):
            yield number, "only cli/ prints or exits"


def size(path, lines):
    limit = 600 if folder(path) == "tests" else 120 if path.endswith(".h") else 400
    if len(lines) > limit:
        yield limit + 1, f"{len(lines)} lines, {limit} allowed: one concept a file"


def first(path, lines):
    header = re.sub(r"\.cc$", ".h", path)
    if path.endswith(".cc") and Path(header).exists():
        found = next((INCLUDE.match(line).group(1) for line in lines if INCLUDE.match(line)), "nothing")
        if found != header:
            yield 1, f"includes {found} first; {header} must be"


def paths(path, lines):
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "names a directory of one machine"


RULES = {rule.__name__: rule for rule in (layers, silence, size, first, paths)}


def tracked_files():
    """Of the git checkout, or of an unpacked archive."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted(path for path in set(listed.stdout.splitlines()) if Path(path).is_file())
    return sorted(str(path) for path in Path(".").rglob("*") if path.is_file() and not str(path).startswith("build"))


def main():
    root, *names = sys.argv[1:]
    os.chdir(root)
    breaches = 0
    for path in tracked_files():
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for name in names or RULES:
            if name != "paths" and not path.endswith((".h", ".cc")):
                continue
            for number, message in RULES[name](path, lines):
                print(f"{path}:{number}: {message}")
                breaches += 1
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
