#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""demo_service.py [--redis] BUILD: cogwheeld and webhooks of the build directory BUILD, in a scratch directory.

Schedules callbacks as a user would, kills cogwheeld (kill -9) and starts it again, and ends with a verdict: exit code 1 if a
callback was lost, early, or delivered although it was cancelled. Without BUILD: says what the demo will show.
"""

import argparse
import base64
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/examples"))

from redis_process import Redis

WHAT = """\
demo: cogwheeld takes callbacks over HTTP, and makes them when they are due.
demo: It is killed (kill -9) while they wait, and started again: each of them has
demo: to arrive, none early, and none that was cancelled. It takes about 6 s,
demo: and before, the first time, some minutes to build.
"""
GIVE_UP = 30.0  # seconds
ARRIVED = re.compile(r"200 (\S+) attempt (\d+): (new|repeated) \(\d+\) at ([\d.]+)")  # a line of webhooks
SECRET = "whsec_" + base64.b64encode(os.urandom(32)).decode()


class Failure(Exception):
    """The demo cannot go on."""


def say(text):
    print(text, flush=True)


class Program:
    """A process whose standard output is read line by line. What it complains of goes to a file."""

    def __init__(self, name, log, *command):
        self.name, self.log, self.buffer = name, log, b""
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)

    def line(self, seconds):
        """The next line, or nothing within that time."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            poller = select.poll()
            poller.register(self.process.stdout, select.POLLIN)
            data = poller.poll(max(0.0, end - time.monotonic()) * 1000) and os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def address(self):
        line = self.line(GIVE_UP)
        if not line or not line.startswith("listening on "):
            self.kill()
            with open(self.log, encoding="utf-8") as text:
                raise Failure(f"{self.name} did not start: {line or ''} {text.read()[-1000:]}")
        return line.removeprefix("listening on ")

    def kill(self):
        self.end(signal.SIGKILL)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(GIVE_UP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()


class Demo:
    def __init__(self, directory, build, redis):
        self.directory, self.build, self.redis = pathlib.Path(directory), pathlib.Path(build), redis
        (self.directory / "keys").write_text(SECRET + "\n", encoding="ascii")
        self.open = contextlib.ExitStack()
        self.due, self.cancelled, self.arrived = {}, set(), {}

    def start(self):
        store = ["--redis", self.redis.url] if self.redis else ["--data", str(self.directory / "data")]
        self.service = Program("cogwheeld", self.directory / "cogwheeld.log", self.build / "service/cogwheeld", *store, "--listen", self.at,
                               "--key-file", self.directory / "keys", "--allow-network", "127.0.0.0/8")
        self.open.callback(lambda s=self.service: s.process.poll() is None and s.kill())
        self.at = self.service.address()

    def ask(self, method, path, body=None, show=True):
        """As curl would. A service that has just begun is asked again."""
        data = None if body is None else json.dumps(body)
        if show:
            say(f"  $ curl{'' if method == 'GET' else f' -X {method}'} http://{self.at}{path}" + (f" -H 'Content-Type: application/json' \\\n      -d '{data}'" if data else ""))
        end = time.monotonic() + GIVE_UP
        while True:
            connection = http.client.HTTPConnection(self.at, timeout=GIVE_UP)
            connection.request(method, path, data, {"Content-Type": "application/json"} if data else {})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            if answer.status != 503 or time.monotonic() > end:
                break
            select.select([], [], [], 0.05)
        if show:
            say(f"    {answer.status} {text}")
        return answer.status, json.loads(text)

    def schedule(self, name, delay, body, show=True):
        status, answer = self.ask("POST", "/v1/tasks", {"id": name, "delay": delay, "url": self.hook, "body": body}, show)
        if status != 201:
            raise Failure(f"the task was refused: {status} {answer}")
        self.due[name] = datetime.datetime.fromisoformat(answer["due"].replace("Z", "+00:00")).timestamp() * 1000

    def receive(self, seconds):
        line = self.receiver.line(seconds)
        if line and (match := ARRIVED.match(line)):
            self.arrived.setdefault(match[1], []).append(float(match[4]))
            return match[1], match[2]
        return None

    def run(self):
        self.at = "127.0.0.1:0"
        self.receiver = Program("webhooks", self.directory / "receiver.log", self.build / "examples/webhooks", "--secret", SECRET, "--times")
        self.open.callback(lambda: self.receiver.process.poll() is None and self.receiver.kill())
        self.hook = f"http://{self.receiver.address()}/hook"
        self.start()
        say(f"cogwheeld listens on {self.at}; tasks are in {'Redis' if self.redis else 'its journal'}; its page is http://{self.at}/")
        say("\nA callback in 2 s, and one that is cancelled:")
        self.schedule("order-17-expired", "2s", {"order": 17})
        self.schedule("order-18-expired", "2s", {"order": 18})
        status, _ = self.ask("DELETE", "/v1/tasks/order-18-expired")
        if status == 200:
            self.cancelled.add("order-18-expired")
        for i in range(100):
            self.schedule(f"reminder-{i}", f"{2000 + 10 * i}ms", {"reminder": i}, show=False)
        say("\n100 more wait for their time. cogwheeld is killed (kill -9), and started again:")
        self.service.kill()
        self.start()
        self.ask("GET", "/v1/queue")
        say("")
        end, owed = time.monotonic() + GIVE_UP, set(self.due) - self.cancelled
        while set(self.arrived) != owed and time.monotonic() < end:
            came = self.receive(end - time.monotonic())
            if came and came[0] == "order-17-expired":
                late = self.arrived[came[0]][0] - self.due[came[0]]
                say(f"the receiver has {came[0]}, its signature is right: {late:.1f} ms after its time")
                if late > 500 and self.redis:
                    say("  (for 3 s, a worker leaves the tasks of another one to it, even if that was killed)")
        self.receive(0.5)  # nothing more may come
        self.ask("GET", "/v1/tasks/order-17-expired")
        return self.verdict(owed)

    def verdict(self, owed):
        lost = sorted(owed - set(self.arrived))
        early = sorted(i for i, all_of in self.arrived.items() if min(all_of) < self.due[i])
        wrong = sorted(self.cancelled & set(self.arrived))
        ends = {p.name: p.end() for p in (self.service, self.receiver)}
        say(f"\n{len(owed)} callbacks were owed, {len(owed) - len(lost)} arrived; lost {len(lost)}, early {len(early)}, cancelled and delivered {len(wrong)}")
        broken = [f"{what}: {', '.join(names[:5])}" for what, names in (("lost", lost), ("early", early), ("cancelled, but delivered", wrong)) if names]
        broken += [f"{name} ended with exit code {code}" for name, code in ends.items() if code]
        if not self.cancelled:
            broken.append("the task could not be cancelled")
        for b in broken:
            print(f"demo: broken promise: {b}", file=sys.stderr)
        if not broken:
            say("demo: all promises kept")
            say(f"Your own: {self.build / 'service/cogwheeld'}, then http://127.0.0.1:8090/ in a browser. docs/service.md has the rest.")
        return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--redis", action="store_true")
    wanted = parser.parse_args()
    if not wanted.build:
        print(WHAT, end="")
        return 0
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(directory)) if wanted.redis else None
        demo = Demo(directory, wanted.build, redis)
        try:
            with demo.open:
                return demo.run()
        except (Failure, OSError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130


if __name__ == "__main__":
    sys.exit(main())
