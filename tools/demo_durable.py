#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""demo_durable.py DIRECTORY: 2,000 HTTP callbacks from Redis by three workers, with the programs of DIRECTORY.

It kills a worker and Redis midway (kill -9), starts them again, and ends with a table and a verdict: exit code 1 if a callback
was lost, early, or twice without a reason. Without arguments: says what the demo will show.
"""

import argparse
import base64
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/examples"))

from redis_process import Redis, redis_program

WHAT = """\
demo: 2,000 HTTP callbacks wait in Redis; three workers deliver them over 10 s.
demo: Midway, one worker and then Redis itself are killed (kill -9) and started
demo: again. Each callback has to arrive, none of them early. It takes about 15 s,
demo: and before, the first time, some minutes to build.
"""
GIVE_UP = 40.0  # seconds
ARRIVED = re.compile(r"200 (\S+) attempt (\d+): (new|repeated) \(\d+\) at ([\d.]+)")  # a line of the receiver
SECRET = "whsec_" + base64.b64encode(os.urandom(32)).decode()


class Child:
    """A process whose lines are read as they come."""

    def __init__(self, selector, name, *command):
        self.name, self.buffer, self.killed = name, b"", False
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.selector, self.error = selector, b""
        for stream in (self.process.stdout, self.process.stderr):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, self)

    def read(self, stream):
        """Returns the lines that are complete."""
        data = os.read(stream.fileno(), 1 << 16)
        if not data:
            self.selector.unregister(stream)
        if stream is self.process.stderr:
            self.error = (self.error + data)[-2000:]
            return []
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [line.decode() for line in lines]

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.killed = True
        self.signal(signal.SIGKILL)
        self.process.wait()


class Ledger:
    """What each process says of each callback."""

    def __init__(self):
        self.due = {}  # id: ms since 1970, by Redis' clock
        self.arrived = {}  # id: list of (ms since 1970, attempt)
        self.begun = {}  # (id, attempt): worker
        self.events = {}  # (id, attempt): last event
        self.repeated = 0  # those of which the receiver says so
        self.complete = False  # all are scheduled

    def take(self, child, line):
        word, *rest = line.split(" ")
        if word == "due":
            self.due[rest[0]] = float(rest[1])
        elif match := ARRIVED.fullmatch(line):
            self.arrived.setdefault(match[1], []).append((float(match[4]), int(match[2])))
            self.repeated += match[3] == "repeated"
        elif word == "begun":
            self.begun[rest[0], int(rest[1])] = child
        elif word == "scheduled":
            self.complete = True
        elif word == "event":
            key = rest[0], int(rest[1])
            if self.events.get(key) not in ("answer lost", "lease lost"):
                self.events[key] = " ".join(rest[2:])

    def lost(self):
        return [i for i in self.due if i not in self.arrived]

    def early(self):
        return [i for i, all_of in self.arrived.items() if min(all_of)[0] < self.due[i]]

    def lateness(self, except_for=()):
        """In ms, sorted. except_for: pairs of points; what was due between them does not count."""
        return sorted(min(all_of)[0] - self.due[i] for i, all_of in self.arrived.items()
                      if not any(begin <= self.due[i] <= end for begin, end in except_for))

    def twice(self):
        """For each callback that arrived more than once: why."""
        reasons = {}
        for i, all_of in self.arrived.items():
            attempts = sorted(attempt for _, attempt in all_of)
            for before, after in zip(attempts, attempts[1:]):
                reasons.setdefault(self.why(i, before, after), []).append(i)
        return reasons

    def why(self, i, before, after):
        child, event = self.begun.get((i, before)), self.events.get((i, before))
        if before == after or child is None:
            return None
        if event == "answer lost":
            return "Redis was killed before it had the answer"
        if event in ("lease lost", "stale"):
            return "the lease of the first attempt ran out"
        if event in ("retry", "dead"):
            return "the first answer did not reach the worker in time"
        if child.killed and event is None:
            return "its worker was killed before Redis had the answer"
        return None


class Demo:
    def __init__(self, directory, programs, wanted):
        self.programs, self.wanted = pathlib.Path(programs), wanted
        self.selector, self.ledger, self.children = selectors.DefaultSelector(), Ledger(), []
        self.redis = Redis(directory)
        self.begin, self.shown, self.terminal = time.monotonic(), -1.0, sys.stdout.isatty()
        self.port, self.kills = None, []

    def start(self, name, *options):
        child = Child(self.selector, name, str(self.programs / "webhooks"), *options)
        self.children.append(child)
        return child

    def worker(self, name):
        return self.start(name, "--work", "--redis", self.redis.url, "--name", name, "--secret", SECRET)

    def turn(self, seconds):
        """Reads what comes within that time."""
        for key, _ in self.selector.select(seconds):
            for line in key.data.read(key.fileobj):
                if line.startswith("listening on "):
                    self.port = int(line.rpartition(":")[2])
                else:
                    self.ledger.take(key.data, line)
        for child in self.children:
            if child.process.poll() not in (None, 0) and not child.killed:
                child.error += child.process.stderr.read() or b""
                raise RuntimeError(f"{child.name} ended with {child.process.returncode}: {child.error.decode().strip()}")

    def until(self, condition):
        while not condition():
            if time.monotonic() - self.begin > GIVE_UP:
                return False
            self.turn(0.02)
            self.show()
        return True

    def say(self, text):
        print(("\r\033[K" if self.terminal else "") + f"demo: {text}", flush=True)

    def show(self):
        now = time.monotonic()
        if now - self.shown < (0.1 if self.terminal else 2.0):
            return
        self.shown = now
        ledger, wall = self.ledger, 1000 * time.time()
        line = (f"demo: {now - self.begin:4.1f} s: {sum(1 for due in ledger.due.values() if due <= wall)} due, "
                f"{len(ledger.arrived)} delivered, {sum(len(a) - 1 for a in ledger.arrived.values())} twice")
        print("\r\033[K" + line if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def run(self):
        self.redis.start()
        self.say(f"{redis_program()} on {self.redis.socket}")
        receiver = self.start("receiver", "--secret", SECRET, "--delay", "20ms", "--times")
        if not self.until(lambda: self.port is not None):
            raise RuntimeError("the receiver did not start")
        workers = [self.worker(f"worker-{n}") for n in (1, 2, 3)]
        count, over = self.wanted.count, self.wanted.seconds
        scheduler = self.start("scheduler", "--schedule", str(count), "--redis", self.redis.url, "--to",
                               f"http://127.0.0.1:{self.port}/callbacks", "--first", "1s", "--over", f"{over}s")
        if not self.until(lambda: self.ledger.complete):
            raise RuntimeError("the callbacks could not be scheduled")
        self.say(f"{count} callbacks scheduled; receiver on port {self.port}; three workers")
        begin = time.monotonic()
        after = lambda seconds: self.until(lambda: time.monotonic() - begin >= seconds)
        after(1 + 0.35 * over)
        workers[1].kill()
        self.kills.append(1000 * time.time())
        self.say("kill -9 worker-2")
        after(1 + 0.45 * over)
        workers[1] = self.worker("worker-2 (again)")
        self.say("worker-2 is started again")
        after(1 + 0.6 * over)
        self.redis.kill()
        self.kills.append(1000 * time.time())
        self.say(f"kill -9 {redis_program()}")
        after(1 + 0.65 * over)
        self.redis.start()
        self.say(f"{redis_program()} is started again")
        self.until(lambda: scheduler.process.poll() is not None)  # the queue is empty
        for worker in workers:
            worker.signal(signal.SIGTERM)
        self.until(lambda: all(worker.process.poll() is not None for worker in workers))
        receiver.signal(signal.SIGTERM)
        self.until(lambda: not self.selector.get_map())
        return self.table()

    def table(self):
        ledger, late, reasons = self.ledger, self.ledger.lateness(), self.ledger.twice()
        lost, early, unexplained = ledger.lost(), ledger.early(), reasons.pop(None, [])
        if self.terminal:
            print("\r\033[K", end="")
        rows = [("scheduled", len(ledger.due), ""), ("delivered", len(ledger.arrived), ""), ("lost", len(lost), " ".join(lost[:5])),
                ("early", len(early), " ".join(early[:5])),
                ("twice", sum(map(len, reasons.values())) + len(unexplained), f"the receiver did the work once; it dropped {ledger.repeated} by their ids")]
        rows += [("", len(ids), why) for why, ids in reasons.items()]
        rows += [("", len(unexplained), f"WITHOUT A REASON: {' '.join(unexplained[:5])}")] if unexplained else []
        print("".join(f"{name:<10}{number:>7}  {note}".rstrip() + "\n" for name, number, note in rows), end="")
        quiet = ledger.lateness([(kill - 100, kill + 4000) for kill in self.kills])
        for what, values in (("lateness", late), ("", quiet)):
            if values:
                at = lambda part, of=values: of[min(len(of) - 1, int(part * len(of)))]
                print(f"{what:<11}p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, most {values[-1]:.0f} ms: "
                      + (f"{len(values)} callbacks" if values is late else f"{len(values)} that were not due within 4 s of a kill"))
        if lost or early or unexplained:
            print("demo: broken promise", file=sys.stderr)
            return 1
        print("demo: all promises kept")
        return 0

    def clean_up(self):
        for child in self.children:
            child.kill()
        self.redis.kill()


def stop(*_):
    raise KeyboardInterrupt


def main():
    if len(sys.argv) == 1:
        print(WHAT, end="")
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", help="with the program `webhooks`")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=int, default=10)
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    memory = "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else None  # no disk: no sync to wait for
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        demo = Demo(directory, wanted.directory, wanted)
        try:
            return demo.run()
        except KeyboardInterrupt:
            return 130
        except (RuntimeError, OSError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            demo.clean_up()


if __name__ == "__main__":
    sys.exit(main())
