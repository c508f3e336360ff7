# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The legs of the benchmark: each one starts a server and a contender's processes, and returns a row of figures."""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time

from server import Server

CURVE = [0, .005, .01, .02, .05, *(round(i / 20, 2) for i in range(2, 19)), .95, .98, .99, .995, .998, .999, .9995, .9999, 1]


class Process:
    """A producer or a worker. Its lines are `ready` and `done JSON`."""

    def __init__(self, command_and_environment, folder):
        command, environment = command_and_environment
        self.errors = tempfile.TemporaryFile(dir=folder)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=folder,
                                        text=True, env={**os.environ, **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def wait_for(self, word, seconds=30):
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if line.startswith(word):
                    return line[len(word):].strip()
        finally:
            timer.cancel()
        self.errors.seek(0)
        words = self.errors.read().decode("utf-8", "replace").strip()[-400:]
        raise RuntimeError(f"ended without `{word}`: {words}")

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def done(self, seconds):
        return json.loads(self.wait_for("done", seconds))

    def end(self):
        """Waits for the end of the process, so that its files are complete. Returns its processor time, in us."""
        try:
            _, status, usage = os.wait4(self.process.pid, 0)
        except ChildProcessError:
            return 0
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return round(1e6 * (usage.ru_utime + usage.ru_stime))


class Machine:
    """How much processor time others took while a leg ran."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), *self._read()

    @staticmethod
    def _read():
        with open("/proc/stat", encoding="ascii") as file:
            values = [int(v) for v in file.readline().split()[1:9]]
        ticks = os.sysconf("SC_CLK_TCK")
        times = os.times()
        busy = sum(values) - values[3] - values[4]
        return busy / ticks, times.user + times.system + times.children_user + times.children_system

    def foreign(self):
        """Processors that were busy for others, on average. Call it when the processes of the leg have ended."""
        busy, own = self._read()
        return round(max(0.0, (busy - self.busy - (own - self.own)) / (time.monotonic() - self.began)), 3)


def write_plan(folder, tasks, seconds, shortest_ms, longest_ms, seed):
    """Due times are random, at an even rate for `seconds`; so are the delays. The same seed gives all contenders the same."""
    draw = random.Random(seed)
    rows = []
    for _ in range(tasks):
        due = longest_ms + int(draw.random() * seconds * 1000)
        rows.append((due - draw.randint(shortest_ms, longest_ms), due))
    rows.sort()
    path = pathlib.Path(folder) / "plan"
    path.write_text("".join(f"{a} {d}\n" for a, d in rows), encoding="ascii")
    return path


def spread(us):
    us = sorted(us)
    at = lambda q: us[min(len(us) - 1, int(q * len(us)))]  # noqa: E731
    return {"p50": at(.5), "p90": at(.9), "p99": at(.99), "p999": at(.999), "max": us[-1], "min": us[0],
            "early": sum(1 for u in us if u < 0), "curve": [[q, at(q)] for q in CURVE]}


def read_lateness(path):
    with open(path, encoding="ascii") as file:
        return [[int(v) for v in line.split()] for line in file if line.strip()]


def lateness(contender, rate, seconds, delays, seed):
    """Tasks that become due at a rate, while the worker runs."""
    tasks = rate * seconds
    row = {"tasks": tasks, "rate": rate, "delays ms": delays}
    machine = Machine()
    with Server() as server:
        folder = server.folder
        plan = write_plan(folder, tasks, seconds, *delays, seed)
        out, patience = folder / "out", seconds + delays[1] // 1000 + 15
        if hasattr(contender, "both"):
            with Process(contender.both(server.path, plan, out), folder) as both:
                both.wait_for("ready")
                before = server.cpu_us()
                both.go()
                done = both.done(patience)
                row["redis us a task"] = (server.cpu_us() - before) / tasks
                both.end()
        else:
            with Process(contender.work(server.path, tasks, out, patience), folder) as worker, \
                    Process(contender.produce(server.path, plan, 1000), folder) as producer:
                worker.wait_for("ready")
                producer.wait_for("ready")
                server.forget()
                before = server.cpu_us()
                producer.go()
                done = worker.done(patience + 15)
                row["redis us a task"] = (server.cpu_us() - before) / max(1, done["handled"])
                row["server"] = server.commands()
                if done["handled"] == tasks:
                    row["added in s"] = producer.done(10)["seconds"]
                    producer.end()
                worker.end()
        lines = read_lateness(out)
    row["worker"] = done
    row["worker us a task"] = done["cpu_us"] / max(1, done["handled"])
    row["kept up"] = done["handled"] == tasks
    if lines:
        row["late us"] = spread([line[0] for line in lines])
        if len(lines[0]) > 1:
            row["late us by the server"] = spread([line[1] for line in lines])
    row["foreign load"] = machine.foreign()
    return row


def cycle(contender, tasks, chunk, pending=0, delay_ms=500):
    """The cost of a task from its add to its acknowledgement, without idle time: all are added, then a worker starts. With
    `pending`: beside so many tasks that are due in an hour."""
    row = {"tasks": tasks, "chunk": chunk, "pending": pending}
    machine = Machine()
    with Server() as server:
        folder = server.folder
        plan, out = folder / "plan", folder / "out"

        def add(number, due_ms, by, **name):
            plan.write_text(f"0 {due_ms}\n" * number, encoding="ascii")
            with Process(contender.produce(server.path, plan, by, **name), folder) as producer:
                producer.wait_for("ready")
                before = server.cpu_us(), server.memory()
                producer.go()
                producer.done(600)
                producer.end()
                return (server.cpu_us() - before[0]) / number, (server.memory() - before[1]) / number

        if pending:
            _, row["bytes a pending task"] = add(pending, 3_600_000, 1000, name="wait")
        server.forget()
        row["add us"], row["bytes a task"] = add(tasks, delay_ms, chunk)
        time.sleep(delay_ms / 1000)
        before = server.cpu_us()
        with Process(contender.work(server.path, tasks, out, 120), folder) as worker:
            done = worker.done(150)
            row["run us"] = (server.cpu_us() - before) / max(1, done["handled"])
            worker.end()
        row["server"] = server.commands()
        row["worker"] = done
        row["worker us a task"] = done["cpu_us"] / max(1, done["handled"])
        row["kept up"] = done["handled"] == tasks
    row["cycle us"] = row["add us"] + row["run us"]
    row["foreign load"] = machine.foreign()
    return row


def memory(contender, tasks):
    """Bytes of the server for a task with a body of 200 bytes, which waits."""
    with Server() as server:
        plan = server.folder / "plan"
        plan.write_text("0 3600000\n" * tasks, encoding="ascii")
        with Process(contender.produce(server.path, plan, 1000), server.folder) as producer:
            producer.wait_for("ready")
            before = server.memory()
            producer.go()
            producer.done(300)
            producer.end()
            return {"tasks": tasks, "bytes a task": (server.memory() - before) / tasks}
