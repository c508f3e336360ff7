# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The ledger of a chaos run: what the queue promised, what was delivered, and the verdict.

Times are nanoseconds of the machine's wall clock, which is the servers' clock, too. The kernel stamps a datagram when the
worker sends it. So a busy harness makes nothing late, and the wrong clocks of workers do not matter.
"""

import collections
import os
import re
import socket
import struct
from dataclasses import dataclass, field

SO_TIMESTAMPNS = 35
MS = 1_000_000
SECOND = 1_000 * MS
# After one death: the silence of a shard's owner (3 s, and a heartbeat). In the storm, the holder of a claim and the owner
# of its shard may die one after the other: then the lease of the claim (750 ms) comes before.
DEATH_BOUND, STORM_BOUND, RETURN_BOUND, DRAIN_BOUND = 5 * SECOND, 5 * SECOND, 1 * SECOND, 50 * MS


def receive(path, file):
    """Receives datagrams in a process of its own, until it is killed: "NS ID ATTEMPT GENERATION WORKER LATENESS_US"."""
    inbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    inbox.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    inbox.bind(path)
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while True:
        text, extra, _, _ = inbox.recvmsg(2_000, 200)
        seconds, ns = struct.unpack("qq", extra[0][2][:16])
        os.write(out, b"%d %s\n" % (seconds * SECOND + ns, text))


@dataclass
class Task:
    id: str
    retries: int = 0
    period: int = 0  # ms, of a recurring one
    until: int = 0  # ms: its last date
    delay: int = 0  # ms
    sent: int = 0
    added: int = 0  # when the harness read the answer; 0: not acknowledged
    due: int = 0  # ns
    generation: int = 0
    tries: int = 0
    error: str = ""
    cancel: str = ""  # the answer
    cancel_at: int = 0
    cancel_tries: int = 0


@dataclass
class Delivery:
    at: int
    id: str
    attempt: int
    generation: int
    worker: str
    lateness: int


@dataclass
class Life:
    """A worker process. `name` is unique in the run."""
    name: str
    log: str
    process: object = None
    started: int = 0
    killed: int = 0
    drained: int = 0
    stops: list = field(default_factory=list)  # (from, to)
    events: dict = field(default_factory=dict)  # (id, attempt, generation): {words}

    def read(self):
        with open(self.log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                words = line.split()
                if len(words) >= 4 and words[2].isdigit() and words[3].isdigit():
                    self.events.setdefault((words[1], int(words[2]), int(words[3])), set()).add(words[0])


def read_deliveries(file):
    found = []
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            at, name, attempt, generation, worker, lateness = line.split()
            found.append(Delivery(int(at), name, int(attempt), int(generation), worker, int(lateness)))
    return sorted(found, key=lambda d: d.at)


class Ledger:
    def __init__(self, has_bounds=True):
        self.has_bounds = has_bounds  # with several servers there are no snapshots, and so no way to tell reasons apart
        self.tasks = {}
        self.lives = {}
        self.outages = []  # (from, the first answer after it, why)
        self.failovers = []  # moments at which a master was killed
        self.snapshots = []  # (moment, {id: end of the claim's lease})
        self.given_back = {}  # by a drain: {id: moment}
        self.calm_kill = 0
        self.faults = []
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.rows = {}

    def fault(self, kind, text):
        self.counts[kind] += 1
        self.faults.append(f"{kind}: {text}")

    def judge(self, deliveries):
        for life in self.lives.values():
            life.read()
        by_id = collections.defaultdict(list)
        for d in deliveries:
            by_id[d.id].append(d)
        self.counts["deliveries"] = len(deliveries)
        for kind in ("lost", "early", "cancelled and started", "same attempt twice", "twice", "twice, unexplained",
                     "unknown id"):
            self.counts[kind] += 0
        for task in self.tasks.values():
            if task.period:
                self._recurring(task, by_id)
            else:
                self._once(task, by_id.pop(task.id, []))
        for name in by_id:
            self.fault("unknown id", f"{name}: delivered, and nobody asked for it")
        self._distributions()

    def _once(self, task, all_of_it):
        if not task.added:
            self.fault("lost", f"{task.id}: never acknowledged: {task.error}")
            return
        self._each(task, task.due, all_of_it)
        gone = task.cancel == "cancelled" or task.cancel == "running" or (
            task.cancel == "not_found" and task.cancel_tries > 1)
        if not all_of_it and not gone:
            self.fault("lost", f"{task.id}: acknowledged, due {task.due}, never delivered ({task.cancel or 'not cancelled'})")
        elif not gone and all_of_it[-1].attempt <= task.retries:
            self.fault("lost", f"{task.id}: its attempt {all_of_it[-1].attempt} was to be repeated, and was not")
        if task.cancel in ("cancelled", "running"):
            after = [d for d in all_of_it if d.at > task.cancel_at]
            if len(after) > (1 if task.cancel == "running" else 0):
                self.fault("cancelled and started", f"{task.id}: {task.cancel} at {task.cancel_at}, then {after}")

    def _recurring(self, task, by_id):
        names = {n: int(n.rsplit("@", 1)[1]) for n in by_id if n.startswith(task.id + "@")}
        dates = sorted(names.values())
        first = task.due // MS if task.tries == 1 else (dates[0] if dates else 0)
        planned = list(range(first, task.until + 1, task.period))
        if not task.added or not dates or dates != planned:
            missing, extra = sorted(set(planned) - set(dates)), sorted(set(dates) - set(planned))
            self.fault("lost", f"{task.id}: occurrences missing {missing}, not planned {extra}, first {task.due}")
        for name, date in names.items():
            self._each(Task(name, tries=1), date * MS, by_id.pop(name))

    # Early, the same attempt twice, and reasons for each repetition.
    def _each(self, task, due, all_of_it):
        seen = collections.Counter((d.generation, d.attempt) for d in all_of_it)
        for d in all_of_it:
            right = not task.generation or d.generation == task.generation
            earliest = due if right else task.sent + task.delay * MS
            if d.at < earliest:
                self.fault("early", f"{d.id}: {(earliest - d.at) / 1e6:.3f} ms, attempt {d.attempt} of {d.worker}")
        for (generation, attempt), times in seen.items():
            if times > 1 and not self._failover_between(all_of_it):
                self.fault("same attempt twice", f"{task.id}: attempt {attempt} of {generation}: "
                           f"{[(d.at, d.worker) for d in all_of_it if d.attempt == attempt]}")
        for before, after in zip(all_of_it, all_of_it[1:]):
            if before.attempt <= task.retries and before.generation == after.generation:
                if self._said(before, "retry") and after.at < before.at + 20 * MS:
                    self.fault("early", f"{task.id}: attempt {after.attempt} came before its backoff was over")
                continue  # planned
            self.counts["twice"] += 1
            reason = self._reason(task, before, after)
            if reason:
                self.reasons[reason] += 1
            else:
                self.fault("twice, unexplained", f"{task.id}: {before}, then {after}; {self._events(before)}")

    def _events(self, d):
        return self.lives[d.worker].events.get((d.id, d.attempt, d.generation), set())

    def _said(self, d, word):
        return word in self._events(d)

    def _failover_between(self, all_of_it):
        return any(all_of_it[0].at - SECOND < f < all_of_it[-1].at for f in self.failovers)

    def _reason(self, task, before, after):
        if before.generation != after.generation:
            return "add was repeated" if task.tries > 1 else None
        life, said = self.lives[before.worker], self._events(before)
        for word in ("answer_lost", "lease_lost", "stale"):
            if word in said:
                return word.replace("_", " ")
        if self._failover_between([before, after]):
            return "failover"
        if "done" in said:
            return None  # the server took the answer
        if life.killed and before.at <= life.killed <= after.at:
            return "worker killed"
        if any(start <= after.at and end >= before.at for start, end in life.stops):
            return "worker stopped"
        return None

    def _away(self, since, until):
        return sum(max(0, min(until, end) - max(since, start)) for start, end, _ in self.outages)

    def _distributions(self):
        """Of first attempts. A task of the calm parts has the letter of its part: c (drains), k (one kill), s (the server).

        What a dead worker held counts from its due time, or from the death of its last holder if that was later. The moment
        of the first snapshot with the last claim is not after that death. The time while Redis was away does not count.
        """
        held, owner = "a dead worker held it", "other, soon after a worker's death"
        given, calm, back = "given back by a drain", "calm, with drains", "calm, due while Redis was away"
        killed = "calm, after one kill -9"
        recurring = "occurrences of recurring tasks"
        bounds = {held: STORM_BOUND, owner: DEATH_BOUND, killed: DEATH_BOUND, back: RETURN_BOUND, given: DRAIN_BOUND}
        if not self.has_bounds:
            bounds = {}
        rows = {name: [] for name in ("all", held, owner, recurring, calm, given, killed, back)}
        troubles = [t for life in self.lives.values() for t in [life.killed, *[start for start, _ in life.stops]] if t]
        for d, due in self.first_attempts:
            late = d.at - due
            rows["all"].append((late, d))
            if d.id[0] == "c":
                rows[given if self.given_back.get(d.id, d.at) < d.at else calm].append((late, d))
            elif d.id[0] == "k":
                if d.at > self.calm_kill:
                    rows[killed].append((late, d))
            elif d.id[0] == "s":
                away = [end for start, end, _ in self.outages if start <= due <= end]
                if away:
                    rows[back].append((d.at - max(away), d))
            elif "@" in d.id:
                rows[recurring].append((late, d))
            else:
                claims = [(ends_of[d.id], moment) for moment, ends_of in self.snapshots
                          if d.id in ends_of and moment < d.at and ends_of[d.id] * MS <= d.at]
                if claims:
                    last = max(claims)[0]
                    since = max(due, min(moment for end, moment in claims if end == last))
                    rows[held].append((d.at - since - self._away(since, d.at), d))
                elif any(due - 4 * SECOND < t < d.at for t in troubles):
                    rows[owner].append((late - self._away(due, d.at), d))
        for name, values in rows.items():
            values.sort(key=lambda v: v[0])
            self.rows[name] = ([v[0] for v in values], bounds.get(name))
            beyond = [v for v in values if bounds.get(name) and v[0] > bounds[name]]
            if beyond:
                self.counts["beyond a bound"] += len(beyond)
                late, d = beyond[-1]
                self.faults.append(f"beyond a bound: {name}: {len(beyond)} tasks, up to {late / MS:.1f} ms: {d.id} by {d.worker}")

    def collect_firsts(self, deliveries):
        """Pairs each first delivery with its due time. Only attempt 1 of the generation that the receipt named."""
        self.first_attempts, seen = [], set()
        for d in deliveries:
            if d.id in seen:
                continue
            seen.add(d.id)
            task = self.tasks.get(d.id)
            due = task.due if task else int(d.id.rsplit("@", 1)[1]) * MS if re.fullmatch(r".*@\d+", d.id) else None
            if due is not None and d.attempt == 1 and (task is None or task.generation == d.generation):
                self.first_attempts.append((d, due))

    def table(self):
        lines = [f"  {'lateness in ms':34} {'tasks':>6} {'p50':>9} {'p99':>9} {'max':>9} {'bound':>7}"]
        for name, (values, bound) in self.rows.items():
            if not values:
                continue
            p50, p99 = values[len(values) // 2], values[min(len(values) - 1, len(values) * 99 // 100)]
            limit = f"{bound // MS:7}" if bound else ""
            lines.append(f"  {name:34} {len(values):6} {p50 / 1e6:9.2f} {p99 / 1e6:9.2f} {values[-1] / 1e6:9.2f} {limit}")
        return "\n".join(lines)
