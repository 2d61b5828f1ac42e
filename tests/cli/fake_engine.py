#!/usr/bin/env python3
"""An engine that is not there: prints a boot log, serves /health, /v1/models and /v1/completions, and can misbehave.

    fake_engine.py LOG PORT [--exit STATUS] [--never-ready] [--ignore-term] [--child FILE] [--memory FILE] [--limit TOKENS]
                   [--die-on-prompt]

--exit ends after the log; --child starts a process that only sleeps and writes its number to FILE; --memory writes to FILE the
MiB in use as the log proceeds (the fake NVML reads it); --limit refuses longer prompts as vLLM does."""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PACE = 0.02  # seconds a line


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("port", type=int)
    parser.add_argument("--exit", type=int)
    parser.add_argument("--never-ready", action="store_true")
    parser.add_argument("--ignore-term", action="store_true")
    parser.add_argument("--child")
    parser.add_argument("--memory")
    parser.add_argument("--limit", type=int, default=1 << 30)
    parser.add_argument("--die-on-prompt", action="store_true")
    return parser.parse_args()


class Handler(BaseHTTPRequestHandler):
    options = None

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, {})
        elif self.path == "/v1/models":
            self.answer(200, {"data": [{"id": "the-model"}]})
        else:
            self.answer(404, {})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.options.die_on_prompt:
            os._exit(9)
        prompt = request["prompt"]
        if request["model"] != "the-model":
            self.answer(404, {"error": {"message": f"The model `{request['model']}` does not exist."}})
        elif len(prompt) > self.options.limit:
            message = f"This model's maximum context length is {self.options.limit} tokens."
            self.answer(400, {"error": {"message": message}})
        else:
            time.sleep(0.3)  # long enough for a sample of memory
            usage = {"prompt_tokens": len(prompt), "completion_tokens": request["max_tokens"]}
            self.answer(200, {"choices": [{"text": "8"}], "usage": usage})

    def log_message(self, *_):
        pass


def main():
    options = parse()
    if options.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.child:
        child = subprocess.Popen(["sleep", "600"])
        Path(options.child).write_text(str(child.pid))
    lines = Path(options.log).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        print(line, flush=True)
        if options.memory:
            Path(options.memory).write_text(str(1000 + 100 * number))
        time.sleep(PACE)
    if options.exit is not None:
        sys.exit(options.exit)
    if options.never_ready:
        time.sleep(600)
    Handler.options = options
    server = HTTPServer(("127.0.0.1", options.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
