#!/usr/bin/env python3
"""kvfit boot --engine against an engine that replays public boots: `engine_test.py KVFIT FAKES`.

The success and the lines of the failures are those that public logs print; the source stands beside each."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KVFIT, FAKES = str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())
ENGINE = str(Path(__file__).resolve().parent / "fake_engine.py")

# llm-d-incubation/llm-d-planner#205 accuracy/results/v0.19.0/logs: Llama-3.1-8B on an H100.
HEAD = """(EngineCore_DP0 pid=214) INFO 03-30 10:00:00 [core.py:97] Initializing a V1 LLM engine (v0.19.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=None, dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, enforce_eager=False, kv_cache_dtype=auto, enable_prefix_caching=False
(EngineCore_DP0 pid=214) INFO Chunked prefill is enabled with max_num_batched_tokens=8192.
"""
LOADED = """(EngineCore_DP0 pid=214) INFO Model loading took 14.99 GiB memory and 3.42 seconds
(EngineCore_DP0 pid=214) INFO Estimated CUDA graph memory: 0.84 GiB total
(EngineCore_DP0 pid=214) INFO Available KV cache memory: 58.11 GiB
(EngineCore_DP0 pid=214) INFO GPU KV cache size: 476,016 tokens
(EngineCore_DP0 pid=214) INFO Maximum concurrency for 8,192 tokens per request: 58.11x
"""
READY = """(EngineCore_DP0 pid=214) INFO Graph capturing finished in 12 secs, took 0.91 GiB
(EngineCore_DP0 pid=214) DEBUG Free memory on device (78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.95, 75.23 GiB). Actual usage is 14.99 GiB for weight, 1.89 GiB for peak activation, 0.25 GiB for non-torch memory, and 0.91 GiB for CUDAGraph memory.
(APIServer pid=1) INFO:     Application startup complete.
"""
FAILURES = {
    # llm-d-planner#205, codellama-34b tp2
    "free_memory": "ValueError: Free memory on device cuda:0 (60.87/79.19 GiB) on startup is less than desired GPU memory utilization (0.95, 75.23 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
    # vllm-project/vllm#23278
    "no_blocks": "INFO Available KV cache memory: -2.14 GiB\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
    # vllm-project/vllm#15617
    "kv_too_small": "ValueError: To serve at least one request with the models's max seq len (116160), (4.43 GiB KV cache is needed, which is larger than the available KV cache memory (3.48 GiB). Based on the available memory, Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    # vllm-project/recipes#551
    "mamba_blocks": "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (856). Each decode sequence requires one Mamba cache block, so CUDA graph capture cannot proceed.",
    # text of vllm/config, v0.17 to v0.24
    "align_block": "ValueError: In Mamba cache align mode, block_size (2096) must be <= max_num_batched_tokens (2048).",
    # llm-d-planner#205, gpt-oss-20b
    "oom": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB. GPU 0 has a total capacity of 79.19 GiB of which 552.50 MiB is free.",
    # text of vllm/config/model.py
    "length": "ValueError: User-specified max_model_len (200000) is greater than the derived max_model_len (max_position_embeddings=131072 or model_max_length=None in model's config.json).",
    "other": "RuntimeError: Engine core initialization failed. See root cause above.",
}
PLAN = ["--gpu", "h100-sxm", "--model", "meta-llama/Llama-3.1-8B-Instruct", "--max-model-len", "8192", "--util", "0.95",
        "--engine-version", "0.19.0", "--prefix-caching", "off"]


def expect(condition, text):
    if not condition:
        sys.exit(f"engine_test: {text}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(**more):
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LD_LIBRARY_PATH": FAKES, "KVFIT_FAKE_GPUS": "h100", **more}


def command(log, port, *engine, flags=()):
    return [KVFIT, "boot", *PLAN, "--engine", "vllm", "--port", str(port), "--no-progress", "--format", "json", *flags,
            "--", sys.executable, ENGINE, log, str(port), *engine]


def run(folder, log, *engine, flags=(), env=None):
    path = Path(folder, "boot.log")
    path.write_text(log)
    done = subprocess.run(command(str(path), free_port(), *engine, flags=flags), env=env or environment(),
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def result(out):
    try:
        return json.loads(out)["result"]
    except ValueError:
        sys.exit(f"engine_test: not JSON: {out}")


def gone(pid):
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_success(folder):
    memory, child, kept = (str(Path(folder, name)) for name in ("memory", "child", "kept.log"))
    Path(memory).write_text("500")
    code, out, err = run(folder, HEAD + LOADED + READY, "--memory", memory, "--child", child,
                         flags=["--long-prompt", "--log", kept], env=environment(KVFIT_FAKE_NVML_USED_FILE=memory))
    expect(code == 0 and err == "", f"success: exit {code}\n{out}{err}")
    found = result(out)
    expect(found["verdict"] == "fits" and found["end"] == "ready" and found["boot"] == "ready", found)
    lines = {line["id"]: line["agreement"] for line in found["comparison"]["lines"]}
    expect(lines["weights"] == "exact" and lines["tokens"] == "exact" and "outside" not in lines.values(), lines)
    expect(found["completion"] == {**found["completion"], "status": 200, "prompt_tokens": 8, "completion_tokens": 8}, found)
    # 8192 tokens of context less the 64 that stay free for the answer
    expect(found["long_prompt"]["prompt_tokens"] == 8192 - 64, found)
    # 12 lines: 1000 + 100 a line MiB at the last sample, 500 before
    expect(found["memory"]["peak_bytes"] == (1000 + 100 * len((HEAD + LOADED + READY).splitlines())) << 20, found["memory"])
    expect(found["memory"]["before_bytes"] == 500 << 20, found["memory"])
    expect(Path(kept).read_text() == HEAD + LOADED + READY, "the log was not kept as it was printed")
    expect(gone(int(Path(child).read_text())), "a process that the engine started is still there")


def test_failures(folder):
    for name, words in FAILURES.items():
        child = str(Path(folder, "child"))
        code, out, err = run(folder, HEAD + words + "\n", "--exit", "1", "--child", child)
        expect(code == 1 and err == "", f"{name}: exit {code}\n{out}{err}")
        found = result(out)
        expect(found["end"] == "exited" and found["exit_status"] == 1 and found["boot"] == name, f"{name}: {found}")
        expect(found["error"]["text"] in words, f"{name}: {found['error']}")
        expect(gone(int(Path(child).read_text())), f"{name}: a process is left")


def test_timeout(folder):
    child = str(Path(folder, "child"))
    code, out, _ = run(folder, HEAD, "--never-ready", "--child", child, flags=["--timeout", "1"])
    expect(code == 2 and result(out)["end"] == "timed_out" and result(out)["verdict"] == "unknown", f"timeout: {code} {out}")
    expect(gone(int(Path(child).read_text())), "timeout: a process is left")


def test_disagreement(folder):
    code, out, _ = run(folder, HEAD + LOADED.replace("14.99", "17.00") + READY.replace("14.99", "17.00"))
    expect(code == 1 and result(out)["comparison"]["first_outside"] == "weights", f"disagreement: {code} {out}")


def test_completions(folder):
    code, out, _ = run(folder, HEAD + LOADED + READY, "--limit", "4096", flags=["--long-prompt"])
    found = result(out)
    expect(code == 1 and found["completion"]["status"] == 200 and found["long_prompt"]["status"] == 400, f"limit: {found}")
    expect("maximum context length" in found["long_prompt"]["error"], found)
    code, out, _ = run(folder, HEAD + LOADED + READY, "--die-on-prompt")
    found = result(out)
    expect(code == 1 and found["completion"]["status"] == 0 and found["exit_status"] == 9, f"died: {found}")
    code, out, _ = run(folder, HEAD + LOADED + READY, flags=["--no-completion"])
    expect(code == 0 and "completion" not in result(out), f"none: {out}")


def test_not_started(folder):
    done = subprocess.run([KVFIT, "boot", *PLAN, "--engine", "vllm", "--port", str(free_port()), "--", "no-such-engine"],
                          env=environment(), capture_output=True, text=True, timeout=60)
    expect(done.returncode == 4 and done.stdout == "" and done.stderr ==
           "error: 'no-such-engine' cannot be started\n  help: install the engine, or give the command behind --\n",
           f"not started: {done}")


def test_port_in_use(folder):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        server = subprocess.Popen([sys.executable, ENGINE, os.devnull, str(port + 1 if port < 65535 else port - 1)])
        other = port + 1 if port < 65535 else port - 1
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", other)) == 0:
                        break
                time.sleep(0.05)
            done = subprocess.run(command(os.devnull, other), env=environment(), capture_output=True, text=True, timeout=60)
        finally:
            server.kill()
            server.wait()
    expect(done.returncode == 4 and done.stdout == "" and f"something already answers on port {other}" in done.stderr, done)


def test_interrupt(folder):
    path, child = Path(folder, "boot.log"), Path(folder, "interrupted")
    path.write_text(HEAD)
    running = subprocess.Popen(command(str(path), free_port(), "--never-ready", "--ignore-term", "--child", str(child)),
                               env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(200):
        if child.exists() and child.read_text():
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    expect(running.returncode == 130 and out == "" and err == "error: stopped\n  help: the engine was ended\n",
           f"interrupt: {running.returncode} {out}{err}")
    expect(gone(int(child.read_text())), "interrupt: a process is left")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="kvfit-engine-") as folder:
            test(folder)
        print(f"{test.__name__}: holds")


if __name__ == "__main__":
    main()
