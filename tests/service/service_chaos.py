#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_chaos.py COGWHEELD: two services on one Redis; one of them is killed, then Redis, and both come back.

Tasks go to both; one callback of ten takes a second, so that some are under way at each fault. A client whose request fails, or gets 503, repeats it at the other one with "policy": "keep". At the end
every task was delivered, none of them early, and none that was cancelled.
"""

import argparse
import collections
import datetime
import http.client
import os
import random
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from service_process import PATIENCE, Receiver, Service, check, conclude
import redis_process
from server_process import hung_up

CONFIG = """
[tasks]
durability = "aof"
[callbacks]
lease = "2s"
backoff_first = "100ms"
[limits]
rate = 0
"""


class Client:
    """Asks one service, and then the other one, until there is an answer."""

    def __init__(self, services):
        self.services, self.refused = services, collections.Counter()

    def ask(self, at, method, path, body=None):
        end = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < end:
            service = self.services[at % len(self.services)]
            try:
                answer = service.ask(method, path, body)
                if answer.status != 503:
                    return answer
                self.refused["503"] += 1
            except (OSError, http.client.HTTPException):
                self.refused["no answer"] += 1
            at += 1
            hung_up(0.05)  # until something else is tried
        return None


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--tasks", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=22)
    wanted = parser.parse_args()
    if not redis_process.installed():
        print("skipped: redis-server is not installed")
        return 0
    binary, rng = os.path.abspath(wanted.binary), random.Random(wanted.seed)
    with tempfile.TemporaryDirectory() as directory, Receiver() as receiver, redis_process.Redis(directory) as redis:
        config = os.path.join(directory, "config.toml")
        with open(config, "w", encoding="utf-8") as out:
            out.write(CONFIG)

        def start():
            return Service(binary, "--redis", redis.url, "--namespace", "chaos", "--config", config)
        services = [start(), start()]
        try:
            for s in services:
                s.ready()
            client = Client(services)
            due, cancelled, lock = {}, set(), threading.Lock()
            begin = time.monotonic()
            rows = [(i, rng.uniform(0, wanted.seconds), rng.random() < 0.1) for i in range(wanted.tasks)]
            numbers = iter(sorted(rows, key=lambda r: r[1]))

            def work():
                """Schedules and cancels, each thread its next one. A task to be cancelled is due long after that."""
                while True:
                    with lock:
                        row = next(numbers, None)
                    if row is None:
                        return
                    i, when, ends = row
                    hung_up(max(0.0, begin + when * 0.9 - time.monotonic()))
                    name = f"task-{i}"
                    delay = 60_000 if ends else rng.randrange(0, int(wanted.seconds * 500))
                    task = {"id": name, "url": receiver.url + ("/204" if i % 10 else "/slow"), "delay": f"{delay}ms", "policy": "keep", "max_attempts": 50}
                    answer = client.ask(i, "POST", "/v1/tasks", task)
                    if answer is None or answer.status not in (200, 201):
                        continue
                    with lock:
                        due[name] = moment(answer.json["due"])
                    if not ends:
                        continue
                    answer = client.ask(i + 1, "DELETE", f"/v1/tasks/{name}")
                    if answer is not None and answer.status in (200, 404):  # 404: an earlier answer was lost
                        with lock:
                            cancelled.add(name)
            threads = [threading.Thread(target=work) for _ in range(16)]
            for t in threads:
                t.start()

            def at(second):
                hung_up(max(0.0, begin + second * wanted.seconds / 10 - time.monotonic()))
            at(2)
            services[0].process.send_signal(signal.SIGKILL)
            services[0].process.wait()
            at(4)
            redis.kill()
            at(5.5)
            redis.start()
            at(7)
            services[0].process.stdout.close()
            services[0].process.stderr.close()
            services[0] = start()
            for t in threads:
                t.join()
            late = time.monotonic() + 3 * PATIENCE
            owed = set(due) - cancelled
            while not owed <= {c[3].get("webhook-id") for c in list(receiver.calls)} and time.monotonic() < late:
                hung_up(0.1)
            calls = collections.defaultdict(list)
            for c in list(receiver.calls):
                calls[c[3]["webhook-id"]].append(c[0])
            lost = [n for n in owed if n not in calls]
            early = [n for n in owed if n in calls and min(calls[n]) < due[n]]
            delivered = [n for n in cancelled if n in calls]
            twice = sum(len(c) > 1 for c in calls.values())
            check(f"{wanted.tasks} tasks: all were taken", len(due) == wanted.tasks, str(len(due)))
            check(f"the faults were felt: {dict(client.refused)}", client.refused["503"] > 0 and client.refused["no answer"] > 0)
            check(f"{len(owed)} are owed: 0 lost", not lost, repr(lost[:5]))
            check("0 early", not early, repr(early[:5]))
            check(f"{len(cancelled)} cancelled: none of them was delivered", cancelled and not delivered, repr(delivered[:5]))
            check(f"{twice} were delivered more than once, less than one of ten: their worker or Redis died before it had the answer", twice < wanted.tasks // 10)
            for s in services:
                code, _, err = s.end()
                check("a service ends in good order", code == 0 and "Sanitizer" not in err, f"{code} {err[-500:]}")
        finally:
            for s in services:
                if s.process.poll() is None:
                    s.end(signal.SIGKILL)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
