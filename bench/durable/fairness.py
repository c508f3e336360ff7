#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""fairness.py COGWHEELD slow|slow10|dead|failing [--seconds S] [--callbacks N] [--redis]

How late 100 callbacks a second to a fast receiver arrive, alone and beside 10,000 that are due at once: to a receiver that takes
8 s, to ten of them, to one that refuses connections, or to one that answers 500, so that its circuit opens. Three pairs in turn."""

import argparse
import calendar
import os
import sys
import tempfile
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests")
sys.path[:0] = [os.path.join(TESTS, "service"), os.path.join(TESTS, "crash")]

from redis_servers import Single  # noqa: E402
from service_fairness import Receivers, closed_port, fill  # noqa: E402
from service_process import Service  # noqa: E402


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def measure_once(wanted, redis, others):
    """Returns how late each fast callback arrived, in ms, and what the service counted."""
    receivers = Receivers()
    fast = receivers.open()
    urls = {"none": [], "slow": [], "slow10": [], "dead": [], "failing": []}[others]
    if others.startswith("slow"):
        urls = [receivers.open(delay=8.0) for _ in range(10 if others == "slow10" else 1)]
    elif others == "dead":
        urls = [closed_port()]
    elif others == "failing":
        urls = [receivers.open(status=500)]
    with tempfile.TemporaryDirectory() as directory:
        place = ("--redis", redis.url) if redis else ("--data", directory)
        service = Service(wanted.binary, *place, cwd=directory)
        with service:
            assert service.ready()
            if urls:
                fill(service, urls, wanted.callbacks)
            due, begin = {}, time.time() + 0.5
            for n in range(wanted.seconds):
                tasks = [{"id": f"fast-{n}-{k}", "url": fast, "due": stamp(begin + 1.5 + n + k / 100)} for k in range(100)]
                results = service.ask("POST", "/v1/tasks:bulk", {"tasks": tasks}).json["results"]
                for r in results:
                    due[r["id"]] = moment(r["due"])
                time.sleep(max(0.0, begin + n + 1 - time.time()))
            limit = time.time() + 30
            while len(receivers.ids(fast)) < len(due) and time.time() < limit:
                time.sleep(0.1)
            seen = receivers.ids(fast)
            late = [(seen[i] - due[i]) * 1e3 for i in due if i in seen]
            rss = next(int(line.split()[1]) for line in open(f"/proc/{service.process.pid}/status", encoding="ascii") if line.startswith("VmHWM"))
            sent = sum(len(receivers.calls.get(u, ())) for u in urls)
            service.process.kill()
            service.process.wait()
    receivers.close()
    return late, len(due) - len(late), rss // 1024, sent


def stamp(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + f".{int(t % 1 * 1000):03}Z"


def moment(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) + int(text[20:23]) / 1000


def measure(wanted):
    for pair in range(3):
        for others in ("none", wanted.others):
            with tempfile.TemporaryDirectory() as directory:
                redis = Single(directory) if wanted.redis else None
                late, missing, rss, sent = measure_once(wanted, redis, others)
                if redis:
                    redis.server.kill()
            print(f"{pair + 1} {others:8} {len(late)} fast ones, {missing} missing: late p50 {quantile(late, 0.5):.1f} ms, p99 {quantile(late, 0.99):.1f} ms, "
                  f"max {max(late):.1f} ms; {sent} of the others sent, {rss} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("others", choices=("slow", "slow10", "dead", "failing"))
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--callbacks", type=int, default=10_000)
    parser.add_argument("--redis", action="store_true")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
