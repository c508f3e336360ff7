#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service.py BUILD: what cogwheeld takes and makes a second, in Redis and in its journal, beside Redis alone.

Adds: wrk with 64 connections; beside it redis-benchmark, which calls the same script. Callbacks: tasks that are due, with 64 and
512 in flight, to webhooks, which checks each signature; beside it how many requests that one takes from wrk. CPU is that
of each process, in microseconds a task. All rows of a round run one after the other, with servers of their own.
"""

import argparse
import base64
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
root = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(root / "tests/examples"))

from redis_process import Redis

SECRET = "whsec_" + base64.b64encode(os.urandom(32)).decode()
TASK = {"url": "http://127.0.0.1:9/", "delay": "1h", "body": "x" * 100}
TICKS = os.sysconf("SC_CLK_TCK")


def cpu(process):
    """Seconds that it has used."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as text:
        fields = text.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Program:
    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().removeprefix("listening on ").strip()
        # What it prints is thrown away.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"} if body is not None else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def ready(self):
        while self.ask("GET", "/readyz")[0] != 200:
            self.process.poll()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.drain.wait()


class Bench:
    def __init__(self, build, directory, seconds, tasks):
        self.build, self.directory, self.seconds, self.tasks = build, pathlib.Path(directory), seconds, tasks
        (self.directory / "keys").write_text(SECRET + "\n", encoding="ascii")
        (self.directory / "config.toml").write_text('[callbacks]\nmax_per_host = 1000\n[tasks]\nretention = "0s"\n[limits]\nrate = 0\n', encoding="ascii")
        self.runs = 0

    def service(self, *options):
        return Program(self.build / "service/cogwheeld", "--listen", "127.0.0.1:0", "--config", self.directory / "config.toml", "--key-file",
                       self.directory / "keys", "--allow-private", *options)

    def store(self, redis):
        self.runs += 1
        return ["--redis", redis.url, "--namespace", f"run{self.runs}"] if redis else ["--data", self.directory / f"data{self.runs}"]

    def wrk(self, url, body, header="application/json"):
        script = self.directory / "post.lua"
        script.write_text(f'wrk.method = "POST"\nwrk.body = [==[{body}]==]\nwrk.headers["Content-Type"] = "{header}"\n', encoding="ascii")
        out = subprocess.run(["wrk", "-t1", "-c64", f"-d{self.seconds}s", "-s", script, url], capture_output=True, text=True, check=True).stdout
        return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), int(re.search(r"(\d+) requests in", out)[1]), "Non-2xx" in out

    def adds(self, redis, bulk):
        """Tasks a second, and CPU of the service and of Redis for each."""
        with self.service(*self.store(redis), *(["--api-only"] if redis else [])) as s:
            s.ready()
            body = json.dumps({"tasks": [TASK] * bulk} if bulk > 1 else TASK)
            before = [cpu(p) for p in (s.process, *([redis.process] if redis else []))]
            rate, requests, failed = self.wrk(f"http://{s.address}/v1/tasks" + (":bulk" if bulk > 1 else ""), body)
            after = [cpu(p) for p in (s.process, *([redis.process] if redis else []))]
            if failed:
                raise RuntimeError("the service refused requests")
            each = [1e6 * (b - a) / (requests * bulk) for a, b in zip(before, after)]
            return {"rate": rate * bulk, "service us": each[0], "redis us": each[1] if redis else None}

    def redis_alone(self, redis, tasks):
        """The script of an add, called by redis-benchmark: its rate, and Redis' CPU for each task."""
        with open(root / "src/durable/scripts/add.lua", encoding="utf-8") as text:
            sha = subprocess.run(["redis-cli", "-s", redis.socket, "-x", "SCRIPT", "LOAD"], stdin=text, capture_output=True, text=True, check=True).stdout.strip()
        self.runs += 1
        keys = [f"{{cw:run{self.runs}:0}}:{k}" for k in ("due", "meta", "body", "seq", "done", "dead", "note")]
        one = ["id-__rand_int__", "3600000", "2", "10", "1", "e" * 190]
        calls = max(1000, int(self.tasks * 4 / tasks))
        before = cpu(redis.process)
        out = subprocess.run(["redis-benchmark", "-s", redis.socket, "-c", "64", "-n", str(calls), "-r", "1000000000", "--csv", "EVALSHA", sha, "7", *keys,
                              "", "500", "channel", "0", "reject", *(one * tasks)], capture_output=True, text=True, check=True).stdout
        rate = float(out.strip().splitlines()[-1].split('","')[1].strip('"'))
        return {"rate": rate * tasks, "service us": None, "redis us": 1e6 * (cpu(redis.process) - before) / (calls * tasks)}

    def callbacks(self, redis, in_flight, delay):
        """Callbacks a second of tasks that are all due, and the CPU of each process for one."""
        with Program(self.build / "examples/webhooks", "--secret", SECRET, "--delay", delay, "--remember", "1000000", "--max-connections", "2000") as receiver, \
             self.service(*self.store(redis), "--max-in-flight", in_flight) as s:
            s.ready()
            s.ask("POST", "/v1/queue:pause")
            for _ in range(self.tasks // 1000):
                s.ask("POST", "/v1/tasks:bulk", {"tasks": [{"url": f"http://{receiver.address}/", "body": "x" * 100}] * 1000})
            processes = [s.process, receiver.process] + ([redis.process] if redis else [])
            before, begin = [cpu(p) for p in processes], time.monotonic()
            s.ask("POST", "/v1/queue:resume")
            while True:
                text = s.ask("GET", "/metrics")[1]
                done = sum(float(v) for v in re.findall(r'^cogwheeld_attempts_total\{outcome="done"\} (\S+)', text, re.M))
                if done >= self.tasks:
                    break
                if time.monotonic() - begin > 300:
                    raise RuntimeError(f"only {done} were made")
                time.sleep(0.02)
            took = time.monotonic() - begin
            each = [1e6 * (cpu(p) - b) / self.tasks for p, b in zip(processes, before)]
            return {"rate": self.tasks / took, "service us": each[0], "redis us": each[2] if redis else None, "receiver us": each[1]}

    def receiver_alone(self):
        with Program(self.build / "examples/webhooks", "--secret", SECRET, "--max-connections", "2000") as receiver:
            before = cpu(receiver.process)
            rate, requests, _ = self.wrk(f"http://{receiver.address}/", "x" * 100, "text/plain")
            return {"rate": rate, "service us": None, "redis us": None, "receiver us": 1e6 * (cpu(receiver.process) - before) / requests}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--tasks", type=int, default=20_000, help="callbacks of a row, in thousands")
    wanted = parser.parse_args()
    rows = {}
    for _ in range(wanted.rounds):
        with tempfile.TemporaryDirectory() as directory:
            b = Bench(wanted.build, directory, wanted.seconds, wanted.tasks)

            def row(name, run, with_redis=True):
                if not with_redis:
                    rows.setdefault(name, []).append(run())
                    return
                with tempfile.TemporaryDirectory() as of_redis, Redis(of_redis) as redis:
                    redis.command("CONFIG", "SET", "appendfsync", "everysec")
                    rows.setdefault(name, []).append(run(redis))
            row("adds, one a request: Redis", lambda r: b.adds(r, 1))
            row("  Redis alone, one a call", lambda r: b.redis_alone(r, 1))
            row("  the journal", lambda: b.adds(None, 1), False)
            row("adds, 1,000 a request: Redis", lambda r: b.adds(r, 1000))
            row("  Redis alone, 128 a call", lambda r: b.redis_alone(r, 128))
            row("  the journal, 1,000 a request", lambda: b.adds(None, 1000), False)
            for n in (64, 512):
                for delay in ("0ms", "20ms"):
                    row(f"callbacks, {n} in flight, answered after {delay}: Redis", lambda r, n=n, d=delay: b.callbacks(r, n, d))
            row("  the journal, 64 in flight, 0ms", lambda: b.callbacks(None, 64, "0ms"), False)
            row("  the receiver alone, asked by wrk", b.receiver_alone, False)
    print(f"{'medians of ' + str(wanted.rounds) + ' rounds':<58}{'a second':>10}{'service us':>12}{'redis us':>10}{'receiver us':>13}")
    for name, runs in rows.items():
        def median(key):
            values = [r[key] for r in runs if r.get(key) is not None]
            return statistics.median(values) if values else None
        cells = [median(k) for k in ("rate", "service us", "redis us", "receiver us")]
        print(f"{name:<58}{cells[0]:>10,.0f}" + "".join(f"{'' if c is None else format(c, '.1f'):>{w}}" for c, w in zip(cells[1:], (12, 10, 13))))
    if wanted.json:
        wanted.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
