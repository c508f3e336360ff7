# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The processes of a chaos run that are not servers: the client, the workers with their proxies, and the inbox."""

import multiprocessing
import os
import queue
import subprocess
import threading
import time

import durable_ledger
from durable_ledger import MS, Life
from redis_servers import WAIT

SHIFTS_MS = (5_000, -5_000, 3_700)


class Inbox:
    def __init__(self, directory):
        self.path, self.file = os.path.join(directory, "inbox"), os.path.join(directory, "deliveries")
        self.process = multiprocessing.Process(target=durable_ledger.receive, args=(self.path, self.file), daemon=True)
        self.process.start()
        while not os.path.exists(self.path):
            WAIT(0.002)

    def end(self):
        self.process.kill()
        self.process.join()


def start_inbox(directory):
    return Inbox(directory)


class Client:
    """Passes commands to durable_node client, and its answers to the ledger."""

    def __init__(self, words, ledger, directory):
        self.ledger, self.answers, self.failure = ledger, queue.Queue(), None
        with open(os.path.join(directory, "client.err"), "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        if self.answers.get(timeout=15) != "ready":
            raise RuntimeError("the client does not open the queue")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def check(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the client has ended: {self.process.returncode} {self.failure or ''}")

    def ask(self, line, patience=20):
        self.say(line)
        return self.answers.get(timeout=patience)

    def await_empty(self, patience):
        """True: all adds and cancels are answered, and no task is left."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            words = self.ask("counts").split()
            settled = all(t.added or t.error for t in self.ledger.tasks.values())
            if settled and words[1:4] == ["0", "0", "0"]:
                return True
            WAIT(0.1)
        return False

    def _read(self):
        for line in self.process.stdout:
            now = time.time_ns()
            words = line.split()
            task = self.ledger.tasks.get(words[1]) if len(words) > 1 else None
            if words[0] == "added":
                task.due, task.generation, task.tries = int(words[2]) * MS, int(words[3]), int(words[4])
                task.added = now
            elif words[0] == "until":
                task.until = int(words[2])
            elif words[0] == "failed":
                task.tries, task.error = int(words[2]), " ".join(words[5:])
            elif words[0] == "cancelled":
                task.cancel, task.cancel_tries, task.cancel_at = words[2], int(words[3]), int(words[4])
            elif words[0] in ("ready", "counts", "audit"):
                self.answers.put(line.strip())
            else:
                self.failure = line.strip()

    def end(self):
        self.process.kill()
        self.process.wait()


class Workers:
    """Three places; in each, one process at a time. Two places have a bad network, if there is one server."""

    def __init__(self, run, node, lease_ms, stalls):
        self.run, self.node, self.lease_ms = run, node, lease_ms
        self.lives = [None, None, None]
        self.numbers = [0, 0, 0]
        self.proxies, self.urls = [], [run.servers.url] * 3
        if run.o.topology == "single":
            proxy = os.path.join(run.o.build, "tests", "chaos_proxy")
            for place in (1, 2):
                words = [proxy, "--to", str(run.servers.server.port), "--seed", str(run.seed * 2 + place), *stalls]
                process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
                self.proxies.append(process)
                port = process.stdout.readline().rsplit(":", 1)[1].strip()
                self.urls[place] = f"redis://127.0.0.1:{port}"
        self.preload = os.path.join(run.o.build, "tests", "libclock_shift.so")

    def start(self, place):
        self.numbers[place] += 1
        name = f"w{place}.{self.numbers[place]}"
        life = Life(name, os.path.join(self.run.directory, name + ".log"))
        # It adds nothing, and so needs no promise; under replicas it would refuse to start after a failover, before the new
        # master has a replica.
        words = [self.node, "worker", "--url", self.urls[place], "--durability", "memory", "--id", name,
                 "--socket", self.run.inbox.path, "--lease", str(self.lease_ms)]
        environment = {**os.environ, "LD_PRELOAD": self.preload, "CLOCK_SHIFT_MS": str(SHIFTS_MS[place])}
        with open(life.log, "w", encoding="utf-8") as log:
            life.process = subprocess.Popen(words, stdout=log, stderr=log, env=environment)
        life.started = time.time_ns()
        self.lives[place] = self.run.ledger.lives[name] = life

    def place_of(self, life):
        return self.lives.index(life)

    def choose(self, random):
        """One that runs and is not stopped."""
        able = [l for l in self.lives if l.process.poll() is None and not (l.stops and l.stops[-1][1] > time.time_ns())]
        return random.choice(able) if able else None

    def kill(self, life):
        life.process.kill()
        life.process.wait()
        life.killed = time.time_ns()  # on a busy machine it may send a datagram just before

    def drain(self, place):
        life = self.lives[place]
        life.drained = time.time_ns()
        life.process.terminate()
        return life

    def use_a_good_network(self, place):
        """Drains the worker, and starts it again without a proxy."""
        self.drain(place).process.wait(15)
        self.urls[place] = self.run.servers.url
        self.start(place)

    def drain_all(self, patience=15):
        """Returns what was wrong with the ends of workers that were drained, or that ended by themselves."""
        for place in range(3):
            if self.lives[place].process.poll() is None:
                self.drain(place)
        wrong = []
        for life in self.run.ledger.lives.values():
            if life.killed:
                continue
            try:
                code = life.process.wait(patience)
            except subprocess.TimeoutExpired:
                code = "a hang"
            if code != 0 or not life.drained:
                wrong.append(f"{life.name} ended with {code}")
        return wrong

    def end(self):
        for life in self.run.ledger.lives.values():
            life.process.kill()
            life.process.wait()
        for proxy in self.proxies:
            proxy.kill()
            proxy.wait()
