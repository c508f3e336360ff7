#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""run.py DURABLE_BENCH [--json FILE] [--rounds 3] [--only PATTERN]... [--rates 200,1000,5000] [--seconds 8] [--quick]
run.py --show FILE: prints the tables of an earlier run.

Durable tasks on Redis: how late they start, and what they cost the server; Cogwheel beside BullMQ, Sidekiq, RQ and Celery.
All get the same tasks, each contender on a redis-server of its own (AOF everysec, unix socket), in turns, so that a load of
the machine meets all. Those that are not installed say so. BullMQ comes from npm, into a temporary folder.

  lateness  tasks with delays of 1 to 5 s (`far`) and 50 to 300 ms (`near`) become due at each rate
  cycle     add, claim, begin and acknowledge 20,000 tasks, with 100 in a command and with 1: Redis' CPU a task
  million   the same beside a million tasks that wait (ours only)
  memory    bytes of the server for a task of 200 bytes
"""

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import contenders
import legs
import report
import script_floor

sys.stdout.reconfigure(line_buffering=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    redis = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
    return {"processor": model, "processors": os.cpu_count(), "kernel": platform.release(), "redis": redis.split()[2][2:],
            "node": subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()}


def plan(all_of_them, options):
    """Yields (part, contender, what to run) of one round. Interleaved: contenders take turns in each case."""
    ours, coarse, floor, bullmq, sidekiq, rq, celery = all_of_them
    for rate in options.rates:
        takers = [floor, ours, coarse, bullmq, sidekiq, celery]
        if rate <= 200:
            takers.append(rq)  # takes about 2 ms a task: above this rate it falls behind without end
        for c in takers:
            yield "far", c, lambda c, r, rate=rate: legs.lateness(c, rate, options.seconds, (1000, 5000), r)
    for rate in options.rates:
        for c in (floor, ours, coarse, bullmq, celery):
            yield "near", c, lambda c, r, rate=rate: legs.lateness(c, rate, options.seconds, (50, 300), r)
    count = options.cycles
    cases = [(1, 1, "cogwheel, 1 shard, 1 caller", {"shards": 1, "batch": 1}),
             (1, 16, "cogwheel, 16 shards, 16 callers", {"batch": 1, "callers": 16}),
             (1, 128, "cogwheel, 16 shards, 128 callers, default batch", {"callers": 128}),
             (100, 1, "cogwheel, 1 shard", {"shards": 1}), (1000, 1, "cogwheel, 16 shards", {})]
    for chunk, callers, name, with_options in cases:
        mine = contenders.Ours(ours.binary, **with_options)
        mine.name = name
        yield "cycle", mine, lambda c, r, n=chunk: legs.cycle(c, count, n)
        if with_options.get("batch") == 1:
            yield "cycle", script_floor.ScriptFloor(callers), lambda c, r: c.cycle(count)
        peer = contenders.BullMQ(bullmq.folder, callers)
        peer.name = f"BullMQ, {callers} callers" if callers > 1 else "BullMQ"
        yield "cycle", peer, lambda c, r, n=chunk: legs.cycle(c, count, n)
    yield "cycle", sidekiq, lambda c, r: legs.cycle(c, count, 100)
    mine = contenders.Ours(ours.binary, batch=100)
    mine.name = "cogwheel, 16 shards, 1M waiting"
    yield "million", mine, lambda c, r: legs.cycle(c, count, 1000, pending=options.pending)
    for c in (ours, bullmq, sidekiq, celery):
        yield "memory", c, lambda c, r: legs.memory(c, options.memory)


def main():
    if sys.argv[1:2] == ["--show"]:
        report.show(json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda p: pathlib.Path(p).resolve(), help="durable_bench")
    parser.add_argument("--json", help="the file for the figures of all legs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], help="parts or contenders whose names match this regular expression; all of several")
    parser.add_argument("--rates", type=lambda t: [int(v) for v in t.split(",")], default=[200, 1000, 5000])
    parser.add_argument("--seconds", type=int, default=8, help="of tasks in a leg of lateness")
    parser.add_argument("--node", help="a folder whose node_modules has bullmq and ioredis; default: a temporary one")
    parser.add_argument("--quick", action="store_true", help="one round with shorter legs")
    options = parser.parse_args()
    options.cycles, options.pending, options.memory = 20_000, 1_000_000, 100_000
    if options.quick:
        options.rounds, options.seconds = 1, 3
        options.cycles, options.pending, options.memory = 5_000, 100_000, 20_000

    with tempfile.TemporaryDirectory(prefix="durable-bench-node-") as temporary:
        mine = contenders.Ours(options.binary, 100), contenders.Ours(options.binary, 1000), contenders.Floor(options.binary)
        others = (contenders.BullMQ(options.node or temporary), contenders.Sidekiq(), contenders.RQ(), contenders.Celery())
        figures = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "load before": os.getloadavg(),
                   "versions": {}, "missing": {}, "rows": []}
        for c in (*mine, *others):
            why = c.missing()
            if why:
                figures["missing"][c.name] = why
                print(f"{c.name}: {why}")
            else:
                figures["versions"][c.name] = c.version()
        for number in range(options.rounds):
            for part, contender, run in plan((*mine, *others), options):
                absent = any(contender.name.split(",")[0] == n.split(",")[0] for n in figures["missing"])
                words = f"{part}: {contender.name}"
                if absent or not all(re.search(pattern, words) for pattern in options.only):
                    continue
                row = {"round": number, "part": part, "contender": contender.name}
                try:
                    row |= run(contender, number)
                except (RuntimeError, OSError) as error:
                    row["error"] = str(error)
                figures["rows"].append(row)
                print(f"{number + 1}/{options.rounds} {report.line(row)}")
                if options.json:
                    figures["load after"] = os.getloadavg()
                    pathlib.Path(options.json).write_text(report.text(figures), encoding="utf-8")
    figures["load after"] = os.getloadavg()
    report.show(figures)


if __name__ == "__main__":
    main()
