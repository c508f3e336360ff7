# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The contenders: how to start their producer and their worker, and whether they are installed here."""

import os
import pathlib
import shutil
import subprocess

here = pathlib.Path(__file__).resolve().parent
peers = here / "peers"
python = "/usr/bin/python3"  # Debian's, which has Debian's packages


class Ours:
    def __init__(self, binary, tick_us=100, **options):
        self.binary, self.options = str(binary), {"tick": tick_us, **options}
        self.name = f"cogwheel, tick {tick_us} us" if tick_us < 1000 else f"cogwheel, tick {tick_us // 1000} ms"

    def missing(self):
        return None if os.access(self.binary, os.X_OK) else f"{self.binary} is not built"

    def version(self):
        return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True,
                              check=False).stdout.strip()

    def _command(self, role, **arguments):
        return [self.binary, role, *(f"{k}={v}" for k, v in {**self.options, **arguments}.items())], {}

    def produce(self, socket, plan, chunk, **name):
        return self._command("produce", socket=socket, plan=plan, chunk=chunk, **name)

    def work(self, socket, tasks, out, limit):
        return self._command("work", socket=socket, tasks=tasks, out=out, limit=limit)


class Floor(Ours):
    """A timer and one round trip: its worker is its producer."""

    def __init__(self, binary):
        super().__init__(binary)
        self.name = "floor: timer + PING"

    def both(self, socket, plan, out):
        return self._command("floor", socket=socket, plan=plan, out=out)


class BullMQ:
    name = "BullMQ"

    def __init__(self, folder, callers=1):
        self.folder, self.callers = folder, callers  # the folder has node_modules

    def missing(self):
        if shutil.which("node") is None or shutil.which("npm") is None:
            return "node or npm is not installed"
        if not (pathlib.Path(self.folder) / "node_modules/bullmq").exists():
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "bullmq@6", "ioredis"], cwd=self.folder,
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                return "npm install bullmq: " + done.stderr.strip().split("\n")[-1]
        return None

    def version(self):
        code = "for (const p of ['bullmq', 'ioredis']) console.log(p, require(`./node_modules/${p}/package.json`).version)"
        return subprocess.run(["node", "-e", code], cwd=self.folder, capture_output=True, text=True,
                              check=False).stdout.replace("\n", " ").strip()

    def _command(self, *arguments):
        return ["node", str(peers / "bullmq.cjs"), *map(str, arguments)], {"BENCH_NODE": str(self.folder)}

    def produce(self, socket, plan, chunk):
        return self._command("produce", socket, plan, chunk, self.callers)

    def work(self, socket, tasks, out, limit):
        return self._command("work", socket, tasks, out, limit)


class Sidekiq:
    """Looks for what is due each 5 s, on average: its default."""

    name = "Sidekiq"

    def missing(self):
        return None if shutil.which("sidekiq") else "not installed: apt-get install ruby-sidekiq"

    def version(self):
        return subprocess.run(["ruby", "-e", "require 'sidekiq'; print Sidekiq::VERSION"], capture_output=True, text=True,
                              check=False).stdout

    def produce(self, socket, plan, chunk):
        return ["ruby", str(peers / "sidekiq_peer.rb"), socket, str(plan), str(chunk)], {}

    def work(self, socket, tasks, out, limit):
        return (["sidekiq", "-r", str(peers / "sidekiq_peer.rb"), "-c", "10", "-q", "default"],
                {"BENCH_WORK": f"{socket} {tasks} {out} {limit}"})


class FromPython:
    def __init__(self, name, package, script):
        self.name, self.package, self.script = name, package, script

    def missing(self):
        done = subprocess.run([python, "-c", f"import {self.package}, redis"], capture_output=True, check=False)
        return None if done.returncode == 0 else f"not installed: apt-get install python3-{self.package}"

    def version(self):
        code = f"from importlib.metadata import version as v; print(v('{self.package}'))"
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


class RQ(FromPython):
    def __init__(self):
        super().__init__("RQ", "rq", "rq_peer.py")

    def produce(self, socket, plan, chunk):
        return [python, "-B", str(peers / self.script), "produce", socket, str(plan), str(chunk)], {"PYTHONPATH": str(peers)}

    def work(self, socket, tasks, out, limit):
        return ([python, "-B", str(peers / self.script), "work", socket, str(tasks), str(out), str(limit)],
                {"PYTHONPATH": str(peers)})


class Celery(FromPython):
    """Its worker takes all tasks at once, however far away, and holds them in memory."""

    def __init__(self):
        super().__init__("Celery", "celery", "celery_peer.py")

    def produce(self, socket, plan, chunk):
        return [python, "-B", str(peers / self.script), socket, str(plan), str(chunk)], {"PYTHONPATH": str(peers)}

    def work(self, socket, tasks, out, limit):
        command = [python, "-B", "-m", "celery", "-A", "celery_peer", "-q", "worker", "-P", "threads", "-c", "8", "-l", "ERROR",
                   "--without-gossip", "--without-mingle", "--without-heartbeat"]
        return command, {"PYTHONPATH": str(peers), "BENCH_WORK": f"{socket} {tasks} {out} {limit}"}
