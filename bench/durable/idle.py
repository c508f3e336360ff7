#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""idle.py COGWHEELD... [--seconds S] [--rounds N]

How many commands an idle service sends to its Redis in a second, and how late callbacks arrive that are scheduled one by one, due up to
12 s later: some before the service would look at their shard again, some after. Several programs take turns."""

import argparse
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fairness import moment, quantile, stamp  # noqa: E402  (which knows where the tests are)
from redis_servers import Connection, Single  # noqa: E402
from service_fairness import Receivers  # noqa: E402
from service_process import Service  # noqa: E402


def commands(connection):
    info = connection.command("INFO", "stats").decode()
    return int(next(line.split(":")[1] for line in info.split("\r\n") if line.startswith("total_commands_processed:")))


def idle(redis, seconds):
    with Connection(redis.server.socket) as connection:
        time.sleep(12)  # its start, and a look at each shard
        first, at = commands(connection), time.monotonic()
        time.sleep(seconds)
        return (commands(connection) - first - 1) / (time.monotonic() - at)


def lateness(service, receivers, seconds):
    url, due = receivers.open(), {}
    rng = random.Random(1)
    begin = time.time()
    for n in range(10 * seconds):
        at = time.time() + rng.choice((0.0, 0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 12.0)) * rng.uniform(0.8, 1.2)
        answer = service.ask("POST", "/v1/tasks", {"id": f"t{n}", "url": url, "due": stamp(at)})
        due[f"t{n}"] = max(moment(answer.json["due"]), time.time() if at < time.time() else 0)
        time.sleep(max(0.0, begin + (n + 1) / 10 - time.time()))
    limit = time.time() + 30
    while len(receivers.ids(url)) < len(due) and time.time() < limit:
        time.sleep(0.1)
    seen = receivers.ids(url)
    return [(seen[i] - due[i]) * 1e3 for i in due if i in seen], len(due) - len(seen)


def measure(wanted):
    for number in range(wanted.rounds):
        for binary in wanted.binaries:
            receivers = Receivers()
            with tempfile.TemporaryDirectory() as directory:
                redis = Single(directory)
                with Service(binary, "--redis", redis.url, cwd=directory) as service:
                    assert service.ready()
                    rate = idle(redis, wanted.seconds)
                    late, missing = lateness(service, receivers, wanted.seconds)
                    service.end()
                redis.server.kill()
            receivers.close()
            print(f"{number + 1} {binary}: {rate:.1f} commands/s idle; {len(late)} callbacks, {missing} missing: late p50 {quantile(late, 0.5):.2f} ms, "
                  f"p99 {quantile(late, 0.99):.2f} ms, max {max(late):.2f} ms, min {min(late):.2f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binaries", nargs="+")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
