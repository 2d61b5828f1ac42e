#!/usr/bin/env python3
"""Runs one tests/cli/*.test file against kvfit: `run_case.py KVFIT VERSION CASE`. Exit 0 when all of it holds.

A case is one behaviour. Lines before the first section belong to the head:

    # what a reader should know
    env: NAME=VALUE             for every step below (the environment is otherwise empty but for PATH and HOME)
    args: plan --gpu x          starts a step; quoted as in a POSIX shell; several steps run one after the other
    exit: 2                     expected exit code of the step, 0 when not given
    terminal: 100               the step runs on a terminal so many columns wide; its output is checked as `stdout`
    mask: REGEX                 what it matches in the output is replaced by <masked> before the comparison (seconds, sizes)

A section runs from its `--- ` line to the next:

    --- file NAME               made before the first step, in the directory where kvfit runs
    --- stdin                   fed to the step
    --- stdout                  the whole text
    --- stdout has              these lines occur, in this order; each as part of a line
    --- stdout lacks            none of these lines occurs as part of a line
    --- stdout json             JSON; each line `path.to[0].value = JSON` holds, `path = *` only asks that it is there
    --- stdout golden NAME      the whole text of tests/golden/NAME
    --- stdout any              whatever it is
    (the same for stderr; a stream without a section must be empty)

Blank lines at the end of a section are for the reader. In a case, {data} is tests/data, {fakes} the directory of the fake
driver libraries (for LD_LIBRARY_PATH), {version} is kvfit's version, and \\e an escape character. KVFIT_UPDATE_GOLDEN=1 rewrites whole-text
sections and golden files with what kvfit printed; read the difference before you commit it.
"""

import difflib
import errno
import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = str(HERE.parent / "data")
GOLDEN = HERE.parent / "golden"
TIMEOUT = 60


class Section:
    def __init__(self, head, line):
        self.words = head.split()
        self.line = line
        self.lines = []

    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Step:
    def __init__(self, args):
        self.args = shlex.split(args)
        self.exit = 0
        self.terminal = 0
        self.masks = []
        self.sections = []


class Failure(Exception):
    pass


def parse(lines):
    """The environment, the files and the steps of a case."""
    env, files, steps, section = {}, [], [], None
    for number, line in enumerate(lines, 1):
        if line.startswith("--- "):
            section = Section(line[4:], number)
            if section.words[0] == "file":
                files.append(section)
            elif steps:
                steps[-1].sections.append(section)
            else:
                raise Failure(f"line {number}: a section before `args:`")
            continue
        match = re.match(r"(env|args|exit|terminal|mask): ?(.*)$", line)
        if match and (section is None or match[1] == "args"):
            section = None
            name, value = match.groups()
            if name == "args":
                steps.append(Step(value))
            elif name == "env":
                env.update([value.split("=", 1)])
            elif name == "mask":
                steps[-1].masks.append(value)
            else:
                setattr(steps[-1], name, int(value))
        elif section is not None:
            section.lines.append(line)
        elif line.strip() and not line.startswith("#"):
            raise Failure(f"line {number}: not understood: {line}")
    if not steps:
        raise Failure("no `args:`")
    return env, files, steps


def run_piped(command, env, cwd, stdin):
    done = subprocess.run(command, env=env, cwd=cwd, input=stdin, capture_output=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def run_on_terminal(command, env, cwd, columns):
    """Both streams on a pseudo-terminal: what a person sees."""
    child, master = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execve(command[0], command, env)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            piece = b""
        if not piece:
            break
        seen += piece
    os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.replace(b"\r\n", b"\n"), b""


def look_up(value, path):
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            raise Failure(f"no {path} in the JSON") from None
    return value


class Case:
    def __init__(self, kvfit, version, path):
        self.kvfit, self.version, self.path = kvfit, version, path
        self.update = os.environ.get("KVFIT_UPDATE_GOLDEN") == "1"
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.replaced = {}  # section line -> new lines

    def filled(self, text):
        return text.replace("{data}", DATA).replace("{fakes}", os.environ.get("KVFIT_FAKES", "")).replace("{version}", self.version).replace("\\e", "\x1b")

    def emptied(self, text):
        text = text.replace(DATA, "{data}").replace("\x1b", "\\e")
        return re.sub(r'(kvfit(?:_version)?[" :v]+)' + re.escape(self.version), r"\1{version}", text)

    def run(self):
        env, files, steps = parse(self.lines)
        with tempfile.TemporaryDirectory(prefix="kvfit-case-") as cwd:
            for section in files:
                target = Path(cwd, section.words[1])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(self.filled(section.text()), encoding="utf-8")
            kept = {name: value for name, value in os.environ.items() if name in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
            base = {**kept, "HOME": cwd, "LC_ALL": "C.UTF-8",
                    **{name: self.filled(value) for name, value in env.items()}}
            for step in steps:
                self.run_step(step, base, cwd)
        if self.replaced:
            self.rewrite()

    def run_step(self, step, env, cwd):
        command = [self.kvfit, *(self.filled(arg) for arg in step.args)]
        stdin = "".join(s.text() for s in step.sections if s.words == ["stdin"])
        if step.terminal:
            code, out, err = run_on_terminal(command, {"TERM": "xterm-256color", **env}, cwd, step.terminal)
        else:
            code, out, err = run_piped(command, env, cwd, self.filled(stdin).encode())
        shown = " ".join(["kvfit", *step.args])
        streams = {"stdout": out.decode("utf-8", "replace"), "stderr": err.decode("utf-8", "replace")}
        for mask in step.masks:
            streams = {name: re.sub(mask, "<masked>", text) for name, text in streams.items()}
        if code != step.exit:
            raise Failure(f"{shown}: exit {code}, {step.exit} expected\n--- stdout\n{streams['stdout']}--- stderr\n{streams['stderr']}")
        for name, text in streams.items():
            sections = [s for s in step.sections if s.words[0] == name]
            for section in sections:
                try:
                    self.check(section, text)
                except Failure as failure:
                    raise Failure(f"{shown}: {name}: {failure}") from None
            if not sections and text:
                raise Failure(f"{shown}: nothing expected on {name}, found:\n{text}")

    def check(self, section, text):
        how = section.words[1:2]
        if not how:
            self.whole(section.text(), text, lambda new: self.replaced.__setitem__(section.line, new.splitlines()))
        elif how == ["golden"]:
            golden = GOLDEN / section.words[2]
            self.whole(golden.read_text(encoding="utf-8") if golden.exists() else "", text, golden.write_text)
        elif how == ["has"]:
            rest = text.splitlines()
            for wanted in filter(None, map(self.filled, section.lines)):
                found = next((i for i, line in enumerate(rest) if wanted in line), None)
                if found is None:
                    raise Failure(f"no line has (in this order): {wanted}\n{text}")
                rest = rest[found + 1 :]
        elif how == ["lacks"]:
            for unwanted in filter(None, map(self.filled, section.lines)):
                if unwanted in text:
                    raise Failure(f"has: {unwanted}\n{text}")
        elif how == ["json"]:
            self.json(section, text)
        elif how != ["any"]:
            raise Failure(f"line {section.line}: unknown section")

    def whole(self, expected, found, store):
        if found and not found.endswith("\n"):
            raise Failure(f"does not end its last line:\n{found}")
        found = self.emptied(found)
        if found.rstrip("\n") == expected.rstrip("\n"):
            return
        if self.update:
            store(found)
            return
        difference = difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
        raise Failure("\n".join(["differs; if it should, ./dev test --update-golden", *difference]))

    def json(self, section, text):
        try:
            value = json.loads(text)
        except ValueError as error:
            raise Failure(f"not JSON: {error}\n{text}") from None
        for line in filter(None, section.lines):
            path, wanted = (part.strip() for part in line.split("=", 1))
            found = look_up(value, path)
            if wanted != "*" and found != json.loads(self.filled(wanted)):
                raise Failure(f"{path} is {json.dumps(found)}, {wanted} expected")

    def rewrite(self):
        out, skipping = [], False
        for number, line in enumerate(self.lines, 1):
            if line.startswith(("--- ", "args: ")):
                skipping = False
            if not skipping:
                out.append(line)
            if number in self.replaced:
                out.extend(self.replaced[number])
                skipping = True
        self.path.write_text("".join(line + "\n" for line in out), encoding="utf-8")
        print(f"rewrote {self.path.name}")


def main():
    kvfit, version, path = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    try:
        Case(str(Path(kvfit).resolve()), version, path).run()
    except Failure as failure:
        sys.exit(f"{path.name}: {failure}")


if __name__ == "__main__":
    main()
