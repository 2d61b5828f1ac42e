#!/usr/bin/env python3
"""kvfit boot, the whole program, against the fake driver: `boot_test.py KVFIT FAKES [STUB]`.

Every driver call of a boot test fails once (the n-th, for each n until the run succeeds); each time the exit code is right, one
error is on stderr, nothing on stdout, and the fake's books show that nothing is left."""

import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

KVFIT, FAKES = str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())
STUB = sys.argv[3] if len(sys.argv) > 3 else ""
# No entry is large enough to be timed, so that the number of calls does not depend on the machine's mood.
SMALL = ["--gpu", "rtx5090-24g", "--tp", "4", "--model", "Qwen/Qwen3-0.6B", "--kv-cache-memory-bytes", "240MiB",
         "--max-model-len", "4096", "--max-num-seqs", "4"]


def expect(condition, text):
    if not condition:
        sys.exit(f"boot_test: {text}")


def run(arguments, report=None, libraries=FAKES, **settings):
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LD_LIBRARY_PATH": libraries, **settings}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    if report:
        env["KVFIT_FAKE_REPORT"] = report
    return subprocess.run([KVFIT, *arguments], env=env, capture_output=True, text=True, timeout=300)


def books(path):
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {name: value if name == "failed_call" else int(value) for name, value in lines}


def safetensors(path, tensors):
    """tensors: (name, dtype, shape, bytes)."""
    header, at = {}, 0
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for *_, data in tensors))


def checkpoint(folder):
    """One expert in ModelOpt's NVFP4, and a tensor whose bytes end in the middle of a word and span several pieces."""
    expert = "model.layers.0.mlp.experts.0.down_proj"
    safetensors(Path(folder, "model.safetensors"), [
        (f"{expert}.weight_scale_2", "F32", [], struct.pack("<f", 0.01)),
        (f"{expert}.weight", "U8", [64, 128], bytes(i * 37 % 256 for i in range(64 * 128))),
        (f"{expert}.weight_scale", "F8_E4M3", [64, 16], bytes(0x20 + i % 32 for i in range(64 * 16))),
        ("model.embed_tokens.weight", "U8", [17 << 20 | 3], bytes(range(256)) * ((17 << 20) // 256) + b"abc"),
    ])
    return str(folder)


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


def leftovers(found, but=()):
    return {name: value for name, value in found.items() if name.startswith("live_") and value and name not in but}


def test_faults(folder):
    """Exit 4 whichever call fails, and 1 where an allocation finds no memory."""
    plan, report, tensors = str(Path(folder, "plan.json")), str(Path(folder, "report")), checkpoint(folder)
    done = run(["plan", *SMALL, "--format", "json", "-o", plan, "-q"])
    expect(done.returncode == 0, done)
    boot = ["boot", plan, "--hold", "0", "--checkpoint", tensors]
    done = run([*boot, "--format", "json"], report)
    expect(done.returncode == 0 and done.stderr == "", done)
    expect(not leftovers(books(report)), books(report))
    expect(json.loads(done.stdout)["result"]["verdict"] == "fits", done.stdout)
    seen, n = set(), 0
    while True:
        n += 1
        done = run(boot, report, KVFIT_FAKE_FAIL_AT=str(n))
        found = books(report)
        failed = found["failed_call"]
        if failed == "none":
            break
        seen.add(failed)
        # When the context cannot be ended, its memory has been freed before; only the context itself is left.
        but = ("live_contexts",) if failed == "cuDevicePrimaryCtxRelease_v2" else ()
        expect(not leftovers(found, but), f"call {n} ({failed}) leaves {leftovers(found)}")
        expect(done.returncode == 4 and done.stdout == "", f"call {n} ({failed}): {done}")
        expect(done.stderr.startswith("error: the CUDA driver failed: unknown error (") and done.stderr.count("error:") == 1,
               f"call {n}: {done.stderr}")
    expect(done.returncode == 0 and not leftovers(found), f"call {n}: {done}")
    expect(len(seen) == 27, f"{len(seen)} entry points were tried: {sorted(seen)}")
    print(f"faults: {n - 1} calls of {len(seen)} entry points, each failed once: exit 4, nothing left")

    n = 0
    while True:
        n += 1
        done = run([*boot, "--format", "json"], report, KVFIT_FAKE_FAIL_CALL="cuMemAlloc_v2", KVFIT_FAKE_FAIL_AT=str(n),
                   KVFIT_FAKE_FAIL_WITH="2")
        found = books(report)
        expect(not leftovers(found), f"allocation {n} leaves {leftovers(found)}")
        if found["failed_call"] == "none":
            break
        expect(done.returncode == 1 and json.loads(done.stdout)["result"]["verdict"] == "does-not-fit", f"{n}: {done}")
    expect(done.returncode == 0 and n > 10, done)
    print(f"faults: each of {n - 1} allocations refused once: exit 1, nothing left")


def test_nvml_faults(folder):
    """Whatever NVML does, CUDA still says which GPU it is."""
    for n in range(1, 12):
        done = run(["gpus", "detect", "--format", "json"], KVFIT_FAKE_NVML_FAIL_AT=str(n))
        expect(done.returncode == 0 and json.loads(done.stdout)["result"]["gpus"][0]["profile"] == "rtx5090-24g", done)


def test_nvml_only(folder):
    """A driver that does not start CUDA: NVML still says what is there, and why CUDA was not asked."""
    done = run(["gpus", "detect", "--format", "json"], KVFIT_FAKE_FAIL_CALL="cuInit", KVFIT_FAKE_FAIL_AT="1",
               KVFIT_FAKE_FAIL_WITH="803")
    found = json.loads(done.stdout)["result"]
    expect(done.returncode == 0 and found["source"] == "NVML" and found["gpus"][0]["profile"] == "rtx5090-24g", done)
    expect(found["remarks"] == [
        "the driver's library and kernel module differ in version (cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH 803)",
        "an update is half done: reboot, or load the new module"], found["remarks"])


def test_nvidia_smi(folder):
    """Neither library can be loaded: nvidia-smi is asked, and what it prints is read as a saved query is."""
    if has_driver():
        print("nvidia-smi: skipped, this machine has a driver")
        return
    program = Path(folder, "nvidia-smi")
    program.write_text("#!/bin/sh\n[ \"$2\" = --format=csv ] || exit 9\n"
                       "echo 'uuid, pci.bus_id, name, compute_cap, memory.total [MiB], memory.used [MiB], driver_version'\n"
                       "echo 'GPU-0a, 00000000:01:00.0, NVIDIA GeForce RTX 5090 Laptop GPU, 12.0, 24463 MiB, 12 MiB, 580.95'\n")
    program.chmod(0o755)
    done = run(["gpus", "detect", "--format", "json"], libraries="", PATH=f"{folder}:{os.environ['PATH']}")
    found = json.loads(done.stdout)["result"]
    expect(done.returncode == 0 and found["source"] == "nvidia-smi" and found["gpus"][0]["match"] == "exact", done)
    program.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    done = run(["gpus", "detect"], libraries="", PATH=f"{folder}:{os.environ['PATH']}")
    expect(done.returncode == 4 and done.stdout == "" and done.stderr.startswith("error: no NVIDIA driver"), done)


def test_interrupt(folder):
    """Ctrl-C while everything is held: exit 130, and the GPU is given back."""
    report = str(Path(folder, "report"))
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LD_LIBRARY_PATH": FAKES, "KVFIT_FAKE_REPORT": report}
    running = subprocess.Popen([KVFIT, "boot", *SMALL, "--hold", "600", "--progress"], env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if line.startswith("holding"):
            break
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    expect(running.returncode == 130 and out == "" and err == "error: stopped\n  help: nothing is left on the GPU\n",
           f"{running.returncode} {out}{err}")
    expect(not leftovers(books(report)), books(report))


def test_host_memory(folder):
    """22 GiB are tested with at most 64 MiB of host memory beyond what planning takes."""
    plan = ["--gpu", "rtx5090-24g", "--max-model-len", "98304"]

    def peak(arguments, *tail):
        # ru_maxrss of children is the largest so far: a fresh interpreter for each.
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LD_LIBRARY_PATH": FAKES}
        done = subprocess.run([sys.executable, "-c", script, KVFIT, *arguments, *tail], env=env, capture_output=True, text=True)
        expect(done.returncode == 0, done)
        return int(done.stdout)

    done = run(["boot", *plan, "--hold", "0", "--format", "json"])
    held = json.loads(done.stdout)["result"]["held_bytes"]
    expect(held >= 21 << 30, done)
    planning, testing = peak(["plan", *plan]), peak(["boot", *plan, "--hold", "0"])
    print(f"host memory: {held / 2**30:.2f} GiB tested with {testing / 1024:.1f} MiB resident, {planning / 1024:.1f} to plan alone")
    expect(testing - planning <= 64 * 1024, f"{testing - planning} KiB")


def test_no_driver(folder):
    """Exit 4, one error with its remedy, nothing else."""
    if has_driver():
        print("no driver: skipped, this machine has one")
        return
    for arguments in (["boot"], ["boot", "--gpu", "rtx5090-24g"], ["gpus", "detect"], ["plan", "--gpu", "auto"]):
        done = run(arguments, libraries="")
        expect(done.returncode == 4 and done.stdout == "", done)
        expect(done.stderr == "error: no NVIDIA driver on this machine: libcuda.so.1 is not there\n"
                              "  help: install the driver until nvidia-smi lists the GPU; start a container with --gpus all; "
                              "under WSL2 install the Windows driver only\n", done.stderr)


def test_stub(folder):
    """The toolkit's stub library is told from a machine without a GPU."""
    wanted = "error: the CUDA library found is the toolkit's stub for linking, not the driver (cuInit: CUDA_ERROR_STUB_LIBRARY 34)"
    done = run(["boot"], KVFIT_FAKE_FAIL_CALL="cuInit", KVFIT_FAKE_FAIL_AT="1", KVFIT_FAKE_FAIL_WITH="34")
    expect(done.returncode == 4 and done.stdout == "" and done.stderr.startswith(wanted), done)
    if not STUB:
        print("stub: NVIDIA's own was not found; the fake said what it says")
        return
    Path(folder, "libcuda.so.1").symlink_to(STUB)
    done = run(["boot"], libraries=folder)
    expect(done.returncode == 4 and done.stdout == "" and done.stderr.startswith(wanted), done)


def test_damaged_checkpoint(folder):
    """A byte that changes on its way is found, with its tensor."""
    tensors = checkpoint(folder)
    # The test's own memory: results, then one allocation an entry. The stream's: results, then the file.
    entries = len(json.loads(run(["boot", *SMALL, "--hold", "0", "--format", "json"]).stdout)["result"]["entries"])
    done = run(["boot", *SMALL, "--hold", "0", "--checkpoint", tensors, "--format", "json"],
               KVFIT_FAKE_FLIP=f"{1 + entries + 1}:{16 << 20 | 5}")
    found = json.loads(done.stdout)["result"]
    remark = next(check["remark"] for check in found["checks"] if check["id"] == "checkpoint")
    expect(done.returncode == 1 and found["verdict"] == "does-not-fit", done)
    expect("(tensor model.embed_tokens.weight)" in remark, remark)


def test_broken_expert(folder):
    """Scales that are no numbers: a carve that mixed its tensors up."""
    expert = "model.layers.0.mlp.experts.0.down_proj"
    safetensors(Path(folder, "model.safetensors"), [
        (f"{expert}.weight_scale_2", "F32", [], struct.pack("<f", 0.01)),
        (f"{expert}.weight", "U8", [8, 16], bytes(8 * 16)),
        (f"{expert}.weight_scale", "F8_E4M3", [8, 2], bytes([0x7F] * 16)),
    ])
    done = run(["boot", *SMALL, "--hold", "0", "--checkpoint", str(folder), "--format", "json"])
    found = json.loads(done.stdout)["result"]
    check = next(check for check in found["checks"] if check["id"] == "expert")
    expect(done.returncode == 1 and check["verdict"] == "does-not-fit" and "16 values that are no numbers" in check["remark"], check)


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory(prefix="kvfit-boot-") as folder:
                test(Path(folder))
            print(f"{name}: holds")


if __name__ == "__main__":
    main()
