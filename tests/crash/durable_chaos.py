#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""durable_chaos.py BUILD_DIRECTORY [options]: durable tasks outlive workers, servers, stalls and wrong clocks.

A client adds tasks while three workers run them: two through a bad network, and all with wall clocks that are wrong by up
to five seconds. Workers and the server are killed by kill -9 and stopped by SIGSTOP, at moments that the seed decides. The
ledger then proves:

- lost 0: each task whose schedule() succeeded was delivered, and in the end the queue is empty;
- early 0: no delivery before the due time, by the server's clock;
- cancelled and started 0: no delivery after cancel() has answered `cancelled`;
- the same attempt twice 0; and each repetition has a reason: a lease that ran out, because its worker was killed, stopped
  or cut off, or an answer that was lost;
- each occurrence of a recurring task comes, and none that was not planned;
- no key of a task is left, and audit() finds nothing to repair;
- lateness stays within its bounds after a kill; and, in calm parts at the end, after a drain and the server's return.

With appendfsync everysec, Redis delays its writes for up to two seconds while the disk is busy with a sync, and answers all
the same: kill -9 then loses what it has not written. No client can prevent that. So the files lie in a file system that has
no disk, by default; or take --fsync always.

The exit code is 1 otherwise. The same seed makes the same plan; the machine decides how it meets the programs.
"""

import argparse
import heapq
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import durable_ledger
import redis_servers
from durable_ledger import SECOND, Ledger, Task
from durable_nodes import Client, Workers, start_inbox

PATIENCE = 60.0  # seconds for the queue to become empty after the last fault
LEASE_MS = 2_000
STALLS = "--forward 950 --delay 10 --split 10 --stall 25 --swallow 0 --truncate 1 --reset 1 --steps 500 --longest 80ms"


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("build", help="the build directory, with tests/durable_node")
    p.add_argument("--seed", type=int)
    p.add_argument("--tasks", type=int, default=6_000)
    p.add_argument("--seconds", type=float, default=12.0)
    p.add_argument("--kills", type=int, default=28, help="of workers")
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--quick", action="store_true", help="fewer of all, for at most 25 seconds")
    p.add_argument("--topology", choices=["single", "sentinel", "cluster"], default="single")
    p.add_argument("--durability", help="memory, aof or replicas:N")
    p.add_argument("--fsync", choices=["everysec", "always", "no"], default="everysec", help="of the append-only file")
    p.add_argument("--directory", default="/dev/shm" if os.path.isdir("/dev/shm") else None, help="of all files")
    p.add_argument("--report-only", action="store_true", help="a bound that does not hold is no failure")
    p.add_argument("--keep", action="store_true", help="keeps the directory, with all logs")
    o = p.parse_args()
    if o.quick:
        o.tasks, o.seconds, o.kills = min(o.tasks, 1_500), min(o.seconds, 4.0), min(o.kills, 6)
    if o.durability is None:
        o.durability = "replicas:1" if o.topology == "sentinel" else "aof"
    return o


class Run:
    def __init__(self, options, seed, directory):
        self.o, self.seed, self.directory = options, seed, directory
        self.random = random.Random(seed)
        self.ledger = Ledger(options.topology == "single")
        self.agenda, self.order = [], 0
        self.away_since = 0  # the server
        self.kills_left = options.kills
        self.killed_servers = 0

    # The agenda: what happens when, in seconds from the start.
    def at(self, moment, action, *words):
        self.order += 1
        heapq.heappush(self.agenda, (moment, self.order, action, words))

    def now(self):
        return time.monotonic() - self.zero

    def soon(self, delay, action, *words):
        self.at(self.now() + delay, action, *words)

    def play(self, until=None):
        while self.agenda:
            moment, _, action, words = self.agenda[0]
            if until is not None and moment > until:
                break
            wait = moment - self.now()
            if wait > 0:
                redis_servers.WAIT(wait)
            heapq.heappop(self.agenda)
            action(*words)
            self.client.check()

    # Tasks.
    def plan_tasks(self):
        r, o = self.random, self.o
        for i in range(o.tasks):
            due = r.uniform(0.3, o.seconds)
            sent = r.uniform(0, 0.8) if r.random() < 0.5 else r.uniform(0, due)
            task = Task(f"t{i}", retries=r.choice([1, 1, 2]) if r.random() < 0.08 else 0, delay=max(0, int((due - sent) * 1_000)))
            work = r.randint(0, 20) if r.random() < 0.997 else LEASE_MS + 500
            self.at(sent, self.add, task, f"add {task.id} {task.delay} {task.retries} {work}")
            if r.random() < 0.03:
                self.at(sent + r.uniform(0, (due - sent) * 1.1), self.cancel, task)
        for i in range(max(2, o.tasks // 1_000)):
            period = r.randint(200, 900)
            task = Task(f"r{i}", period=period)
            span = int((o.seconds - 1) * 1_000)
            self.at(r.uniform(0, 0.5), self.add, task, f"every {task.id} {period} {span} {r.randint(0, 20)}")

    def add(self, task, line):
        self.ledger.tasks[task.id] = task
        task.sent = time.time_ns()
        self.client.say(line)

    def cancel(self, task):
        if task.added:
            self.client.say(f"cancel {task.id}")
        elif self.now() < self.o.seconds:
            self.soon(0.01, self.cancel, task)

    # Faults of workers.
    def plan_faults(self):
        r, o = self.random, self.o
        for _ in range(o.kills):
            self.at(r.uniform(0.5, o.seconds), self.kill_worker)
        self.at(r.uniform(0.15, 0.5) * o.seconds, self.stop_worker, 1.3 * LEASE_MS / 1_000 if o.quick else 4.5)
        if o.topology == "single":
            self.at(r.uniform(0.2, 0.3) * o.seconds, self.kill_server)
            self.at(r.uniform(0.4, 0.5) * o.seconds, self.stop_server, min(2.5, o.seconds / 5))
            if not o.quick:
                self.at(r.uniform(0.75, 0.9) * o.seconds, self.kill_server)
        elif o.topology == "sentinel":
            self.at(r.uniform(0.4, 0.5) * o.seconds, self.kill_master)
        else:
            self.at(0.2 * o.seconds, self.reshard)

    def kill_worker(self):
        """Kills one, and starts it again soon. If there is none to kill now, one a moment later."""
        life = self.workers.choose(self.random)
        if life is None:
            return self.soon(0.02, self.kill_worker)
        self.workers.kill(life)
        self.take_snapshot()
        self.kills_left -= 1
        self.soon(self.random.uniform(0, 0.2), self.workers.start, self.workers.place_of(life))

    def stop_worker(self, seconds):
        life = self.workers.choose(self.random)
        if life is None:
            return self.soon(0.02, self.stop_worker, seconds)
        life.process.send_signal(signal.SIGSTOP)
        life.stops.append((time.time_ns(), sys.maxsize))
        self.take_snapshot()
        self.soon(seconds, self.continue_worker, life)

    def continue_worker(self, life):
        life.process.send_signal(signal.SIGCONT)
        life.stops[-1] = (life.stops[-1][0], time.time_ns())
        self.take_snapshot()

    def claims(self):
        """Claimed tasks that have not begun: {id: the end of the claim's lease in ms}; None if there is no answer."""
        if self.away_since or self.o.topology != "single":
            return None
        found = {}
        try:
            with redis_servers.Connection(self.servers.server.socket, 0.5) as c:
                shards = [f"{{cw:chaos:{i}}}" for i in range(16)]
                for s in shards:
                    c.send("ZRANGEBYSCORE", s + ":due", "-inf", "-1", "WITHSCORES")
                for s in shards:
                    pairs = c.read()
                    if not pairs:
                        continue
                    ids = pairs[::2]
                    found[s] = dict(zip(ids, pairs[1::2]))
                for s, ends in found.items():
                    c.send("HMGET", s + ":meta", *ends)
                all_of_it = {}
                for ends in found.values():
                    for (name, score), record in zip(ends.items(), c.read()):
                        if record is not None and record[8] % 4 == 0:  # it waits; and no recurring one: those have no delivery
                            if record[8] < 4:
                                all_of_it[name.decode()] = -int(float(score))
                return all_of_it
        except (OSError, redis_servers.RedisError):
            return None

    def take_snapshot(self):
        claims = self.claims()
        if claims is not None:
            self.ledger.snapshots.append((time.time_ns(), claims))

    # Faults of servers.
    def kill_server(self):
        if self.away_since:
            return self.soon(0.1, self.kill_server)
        self.take_snapshot()
        self.away_since = time.time_ns()
        self.servers.server.kill()
        self.killed_servers += 1
        self.soon(self.random.uniform(0.05, 0.6), self.start_server)

    def start_server(self):
        self.servers.server.start()
        self.await_server("killed", self.servers.server)

    def stop_server(self, seconds):
        if self.away_since:
            return self.soon(0.1, self.stop_server, seconds)
        self.take_snapshot()
        self.away_since = time.time_ns()
        self.servers.server.signal(signal.SIGSTOP)
        self.soon(seconds, self.continue_server)

    def continue_server(self):
        self.servers.server.signal(signal.SIGCONT)
        self.await_server("stopped", self.servers.server)

    def await_server(self, why, server):
        if not server.answers(0.05):
            return self.soon(0.002, self.await_server, why, server)
        self.ledger.outages.append((self.away_since, time.time_ns(), why))
        self.away_since = 0
        self.take_snapshot()

    def kill_master(self):
        master = self.servers.master()
        self.away_since = time.time_ns()
        self.ledger.failovers.append(self.away_since)
        master.kill()
        self.killed_servers += 1
        self.soon(0.05, self.await_new_master, master)
        self.soon(4.0, master.start)

    def await_new_master(self, old):
        master = self.servers.master()
        if master is None or master is old:
            return self.soon(0.02, self.await_new_master, old)
        self.ledger.outages.append((self.away_since, time.time_ns(), "failover"))
        self.away_since = 0

    def reshard(self):
        slots = sorted({self.servers.slot_of(f"{{cw:chaos:{i}}}:due") for i in range(16)})
        self.moves = []
        step = 0.6 * self.o.seconds / len(slots)
        for i, slot in enumerate(slots):
            self.soon(i * step, lambda slot=slot: self.moves.append(self.servers.move(slot, 0.003)))

    # The whole run.
    def run(self):
        o = self.o
        self.servers = redis_servers.make(o.topology, self.directory, o.fsync)
        try:
            self.inbox = start_inbox(self.directory)
            common = ["--url", self.servers.url, "--durability", o.durability]
            node = os.path.join(o.build, "tests", "durable_node")
            self.client = Client([node, "client", *common], self.ledger, self.directory)
            self.workers = Workers(self, node, LEASE_MS, STALLS.split())
            self.zero = time.monotonic()
            for place in range(3):
                self.workers.start(place)
            self.zero = time.monotonic() + 0.3
            self.plan_tasks()
            self.plan_faults()
            self.play()
            self.drained = self.client.await_empty(PATIENCE)
            if o.topology == "single":
                self.calm_parts()
                self.drained = self.client.await_empty(PATIENCE) and self.drained
            self.finish()
        finally:
            self.end_all()

    def calm_load(self, letter, seconds):
        # Until the workers that died have left the list, so that all shards have owners.
        deaths = max(max(life.killed, *(end for _, end in life.stops or [(0, 0)])) for life in self.ledger.lives.values())
        redis_servers.WAIT(max(0.5, 4.5 - (time.time_ns() - deaths) / SECOND))
        self.zero = time.monotonic()
        for i in range(int(150 * seconds)):
            due = self.random.uniform(0.3, seconds)
            task = Task(f"{letter}{i}", delay=int((due - 0.1) * 1_000))
            self.at(0.1, self.add, task, f"add {task.id} {task.delay} 0 {self.random.randint(0, 20)}")

    def calm_parts(self):
        """One fault at a time, so that its cost shows: drains of all workers, the death of one, the death of the server."""
        for place in (1, 2):
            self.workers.use_a_good_network(place)
        places = 2 if self.o.quick else 3
        self.calm_load("c", 0.6 + places)
        for place in range(places):
            self.at(0.6 + place, self.drain_worker, place)
        self.play()
        self.client.await_empty(PATIENCE)
        if not self.o.quick:
            self.calm_load("k", 2.5)
            self.at(0.9, self.kill_one)
            self.play()
            self.client.await_empty(PATIENCE)
        self.calm_load("s", 2.0)
        self.at(0.9, self.kill_server)
        self.play()

    def kill_one(self):
        self.workers.kill(self.workers.lives[0])
        self.ledger.calm_kill = time.time_ns()
        self.soon(2.0, self.workers.start, 0)

    def drain_worker(self, place):
        """MONITOR tells which tasks the worker gives back."""
        with self.servers.server.connect(0.1) as c:
            c.command("MONITOR")
            self.workers.drain(place)
            end = time.monotonic() + 0.1
            try:
                while time.monotonic() < end:
                    line = c.read()
                    moment = int(float(line.split()[0]) * SECOND)
                    for name in re.findall(r'"release" "([^"]+)"', line):
                        self.ledger.given_back.setdefault(name, moment)
            except TimeoutError:
                pass
        self.soon(0.4, self.workers.start, place)

    def finish(self):
        self.audit = self.client.ask("audit")
        self.counts = self.client.ask("counts")
        self.bad_ends = self.workers.drain_all()
        self.left = []
        for server in self.servers.tasks_at():
            with server.connect(5.0) as c:
                self.left += [k for k in c.keys() if k.rsplit(":", 1)[-1] not in ("seq", "shards", "workers")]
        deliveries = durable_ledger.read_deliveries(self.inbox.file)
        self.ledger.collect_firsts(deliveries)
        self.ledger.judge(deliveries)

    def end_all(self):
        for part in ("client", "workers", "inbox"):
            if hasattr(self, part):
                getattr(self, part).end()
        for server in self.servers.all:
            server.signal(signal.SIGCONT)
            server.kill()

    def report(self):
        led, o = self.ledger, self.o
        acknowledged = sum(bool(t.added) for t in led.tasks.values())
        cancels = {word: sum(t.cancel == word for t in led.tasks.values()) for word in ("cancelled", "running", "not_found")}
        print(f"seed {self.seed}, {o.topology}, {o.durability}, appendfsync {o.fsync}: {acknowledged} of {len(led.tasks)} tasks acknowledged, "
              f"{led.counts['deliveries']} deliveries; {o.kills - self.kills_left} workers killed, servers killed "
              f"{self.killed_servers}, away {', '.join(f'{why} {(b - a) / SECOND:.1f} s' for a, b, why in led.outages)}"
              + (f"; {len(self.moves)} slots moved, {sum(self.moves)} keys" if o.topology == "cluster" else ""))
        print(f"  lost {led.counts['lost']}, early {led.counts['early']}, cancelled and started "
              f"{led.counts['cancelled and started']}, same attempt twice {led.counts['same attempt twice']}, twice "
              f"{led.counts['twice']}, of those not explained {led.counts['twice, unexplained']} {dict(led.reasons)}; {cancels}")
        print(f"  in the end: {self.counts}; {self.audit}; keys left {self.left}; worker exits {self.bad_ends}")
        print(led.table())
        bad = [f for f in led.faults if not (o.report_only and f.startswith("beyond a bound"))]
        if not self.drained:
            bad.append(f"the queue did not become empty in {PATIENCE} s")
        if self.counts != "counts 0 0 0 0 0":
            bad.append(f"the queue is not empty: {self.counts}")
        if self.audit.split()[-1] != "0":
            bad.append(f"repaired: {self.audit}")
        bad += [f"key left: {key}" for key in self.left] + self.bad_ends
        if self.kills_left:
            bad.append(f"{self.kills_left} kills did not happen")
        if o.report_only:
            print("".join(f"  not judged: {f}\n" for f in led.faults if f.startswith("beyond a bound")), end="")
        for line in bad[:20]:
            print("  " + line)
        print("ok" if not bad else f"BROKEN: {len(bad)} faults", flush=True)
        return not bad


def main():
    o = arguments()
    if what := redis_servers.missing():
        print(f"skipped: {what} is not installed")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    good = True
    for i in range(o.runs):
        seed = (o.seed + i) if o.seed is not None else random.randrange(2**32)
        directory = tempfile.mkdtemp(prefix="durable-", dir=o.directory)
        run = Run(o, seed, directory)
        run.run()
        fine = run.report()
        good = good and fine
        if o.keep or not fine:
            print(f"  logs: {directory}", flush=True)
        else:
            subprocess.run(["rm", "-r", "--", directory], check=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
