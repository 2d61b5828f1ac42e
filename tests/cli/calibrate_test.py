#!/usr/bin/env python3
"""calibrate_test.py KVFIT TRUTH: every row of one published sweep of boots and boots of other releases (tests/data/truth),
written as the log its release prints, must come out of `kvfit calibrate` with what follows from the available KV memory exact,
whatever a container runtime or a logger wraps around the lines; a line that is off must have a likely cause."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KVFIT, TRUTH = Path(sys.argv[1]).resolve(), Path(sys.argv[2])


def release(row):
    return tuple(int(n) for n in re.findall(r"\d+", row["engine_version"])[:2])


def lines_of(row):
    """(process, text) pairs in the words of the row's release."""
    args, got, version = row["args"], row["measured"], release(row)
    tp = row["tp"] or 1
    worker = "Worker_TP0 pid=301" if tp > 1 else "EngineCore_DP0 pid=214"
    length = args.get("max_model_len") or got.get("at_len")
    config = [f"model='{row['model']}'", "speculative_config=None", "dtype=torch.bfloat16", f"tensor_parallel_size={tp}",
              f"pipeline_parallel_size={row['pp'] or 1}", f"enforce_eager={args.get('enforce_eager', False)}",
              f"kv_cache_dtype={args.get('kv_cache_dtype', 'auto')}"]
    if length:
        config.append(f"max_seq_len={length}")
    stated = {key: value for key, value in args.items() if isinstance(value, (bool, int, float, str))}
    yield "APIServer pid=1", f"[utils.py:1] non-default args: {stated!r}"
    yield "EngineCore_DP0 pid=214", (f"[core.py:97] Initializing a V1 LLM engine (v{row['engine_version']}) with config: "
                                     + ", ".join(config))
    memory = " memory" if version >= (0, 12) else ""
    if "weights_gib" in got:
        yield worker, f"[gpu_model_runner.py:1] Model loading took {got['weights_gib']:.4f} GiB{memory} and 3.42 seconds"
    if "graph_estimated_gib" in got:
        yield worker, f"[gpu_model_runner.py:1] Estimated CUDA graph memory: {got['graph_estimated_gib']} GiB total"
    yield worker, f"[gpu_worker.py:1] Available KV cache memory: {got['available_kv_gib']} GiB"
    tokens = f"[kv_cache_utils.py:1] GPU KV cache size: {got.get('kv_tokens', 0):,} tokens"
    most = ""
    if "max_concurrency" in got:
        most = f"Maximum concurrency for {length:,} tokens per request: {got['max_concurrency']:.2f}x"
    if "kv_tokens" in got and most and version >= (0, 27):
        yield "EngineCore_DP0 pid=214", f"{tokens}, {most}"
    elif "kv_tokens" in got:
        yield "EngineCore_DP0 pid=214", tokens
        if most:
            yield "EngineCore_DP0 pid=214", f"[kv_cache_utils.py:1] {most}"
    if "graph_gib" in got:
        yield worker, f"[gpu_model_runner.py:1] Graph capturing finished in 12 secs, took {got['graph_gib']} GiB"
    if "requested_gib" in got and "free_at_start_gib" in got and "non_torch_gib" in got:
        yield worker, (f"[gpu_worker.py:1] Free memory on device ({got['free_at_start_gib']}/{row['gpu_mem_gib']} GiB) on "
                       f"startup. Desired GPU memory utilization is ({args['gpu_memory_utilization']}, "
                       f"{got['requested_gib']} GiB). Actual usage is {got['weights_gib']} GiB for weight, "
                       f"{got['activation_gib']} GiB for peak activation, {got['non_torch_gib']} GiB for non-torch memory, "
                       f"and {got['graph_gib']} GiB for CUDAGraph memory. Replace gpu_memory_utilization config")


def docker(who, text):
    return json.dumps({"log": f"({who}) INFO 03-30 10:00:00 {text}\n", "stream": "stderr", "time": "2026-03-30T10:00:00Z"})


WRAPPINGS = {
    "plain": lambda who, text: f"({who}) INFO 03-30 10:00:00 {text}",
    "bare": lambda who, text: f"INFO 03-30 10:00:00 {text}",
    "colours": lambda who, text: f"\x1b[1;36m({who})\x1b[0;0m \x1b[32mINFO\x1b[0m 03-30 10:00:00 {text}",
    "compose": lambda who, text: f"vllm-1  | ({who}) INFO 03-30 10:00:00 {text}\r",
    "kubectl": lambda who, text: f"[pod/vllm-7f9c/vllm] 2026-03-30T10:00:00.123456789Z ({who}) INFO 03-30 10:00:00 {text}",
    "journal": lambda who, text: f"Mar 30 10:00:00 node1 vllm[123]: ({who}) INFO 03-30 10:00:00 {text}",
    "ray": lambda who, text: f"({who}) (RayWorkerWrapper pid=3333, ip=10.0.0.2) INFO 03-30 10:00:00 {text}",
    "json file": docker,
    "json lines": lambda who, text: json.dumps({"level": "INFO", "logger": "vllm", "message": text, "lineno": 3}),
    "json in json": lambda who, text: "vllm-0 | " + json.dumps({"log": json.dumps({"msg": f"\x1b[36m({who})\x1b[0m {text}"})}),
}


# Boots beside the sweep whose cache settings are stated, and on what: 0.10, 0.19, 0.26, 0.28 and 0.31-dev; hybrids, latent and
# packed caches.
FIELD = {
    "qwen3-next-80b-bf16-2xh200-0102": "h200",
    "minimax-m25-fp8-4xh100": "h100-sxm",
    "glm51-fp8-8xh200-v0191": "h200",
    "qwen38-27b-nvfp4-5090-192k": "rtx5090-32g",
    "qwen2vl-2b-awq-4gb-gmu065": "h100-sxm",
    "dsv4-flash-0731-8xh100": "h100-sxm",
}


def all_rows():
    for text in (TRUTH / "boots.jsonl").read_text().splitlines():
        row = json.loads(text)
        if str(row["args"].get("kv_cache_dtype")).startswith("auto"):
            row["args"]["kv_cache_dtype"] = "auto"
        yield row


def rows():
    for row in all_rows():
        got = row["measured"]
        whole = row["id"].startswith("planner-") and "weights_gib" in got and "available_kv_gib" in got
        if whole and row.get("engine_version") and row["args"].get("max_model_len") and "error" not in got:
            yield row


def compared(wrap, chosen, gpu="h100-sxm"):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, row in enumerate(chosen):
            names.append(f"{i}.log")
            Path(folder, names[-1]).write_text("".join(wrap(*line) + "\n" for line in lines_of(row)))
        command = [KVFIT, "calibrate", "--gpu", gpu, "--format", "json", *names]
        done = subprocess.run(command, cwd=folder, env={"HOME": folder}, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return json.loads(done.stdout)["result"]["boots"]


def main():
    chosen = list(rows())
    assert len(chosen) > 50, len(chosen)
    plain = compared(WRAPPINGS["plain"], chosen)
    given = 0
    for row, boot in zip(chosen, plain):
        assert "unusable" not in boot or row["args"].get("gpu_memory_utilization") is None, (row["id"], boot["unusable"])
        assert "first_outside" not in boot or boot["cause"]["text"], row["id"]
        for line in boot["lines"]:
            if not line["given_available_kv"]:
                continue
            given += 1
            # With pipeline stages the log prints the memory of one, and another may hold the fewest blocks.
            wanted = ("exact", "inside") if (row["pp"] or 1) > 1 else ("exact",)
            assert line["agreement"] in wanted, (row["id"], line)
    assert given > 100, given
    for name, wrap in WRAPPINGS.items():
        for row, one, other in zip(chosen, plain, compared(wrap, chosen)):
            assert one["lines"] == other["lines"], (name, row["id"])
    field = [row for row in all_rows() if row["id"] in FIELD]
    assert len(field) == len(FIELD), [row["id"] for row in field]
    for row in field:
        for name, wrap in WRAPPINGS.items():
            lines = [line for line in compared(wrap, [row], FIELD[row["id"]])[0]["lines"] if line["given_available_kv"]]
            assert lines, (name, row["id"])
            given += len(lines)
            assert all(line["agreement"] == "exact" for line in lines), (name, row["id"], lines)
    chosen += field
    print(f"{len(chosen)} boots in {len(WRAPPINGS)} wrappings; {given} figures given the available memory")


main()
