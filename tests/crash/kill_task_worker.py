#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""kill_task_worker.py TASK_WORKER [KILLS=50 [SEED [OTHER...]]]: tasks outlive the process, wherever kill -9 meets it.

OTHER is the command of a worker of another platform: every second life is its, and both read what the other one wrote.
Kills the worker at random moments, also while it recovers, lets the last one finish, and reads the log: every task whose add()
returned has run, and as often as it should; more often only where recover() reported that its job was running. The exit code is 1 otherwise.
"""

import collections
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support.torn_line import cut_torn_line

PATIENCE = 60.0  # seconds after which the last life counts as hanging


def live_and_die(worker, directory, life, seconds):
    """True: it was killed. A worker that ends by itself has failed."""
    process = subprocess.Popen([*worker, directory, life], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    said = process.communicate()[1]
    cut_torn_line(f"{directory}/log")
    return process.returncode == -9 or print(f"life {life} ended by itself: {process.returncode} {said}")


def read(log):
    due, ran, interrupted, warnings = {}, collections.Counter(), collections.Counter(), 0
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("+"):
                name, runs = line[1:].split()
                due[name] = int(runs)
            elif line.startswith("!"):
                interrupted[line[1:].strip()] += 1
            elif re.fullmatch(r"\d+-\d+\n", line):
                ran[line.strip()] += 1
            else:
                warnings += 1
    return due, ran, interrupted, warnings


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(2**32)
    workers = [sys.argv[1:2], sys.argv[4:] or sys.argv[1:2]]
    longest = [0.15, 1.0 if sys.argv[4:] else 0.15]  # an emulator starts slowly
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        killed = sum(bool(live_and_die(workers[life % 2], directory, str(life), moments.uniform(0.002, longest[life % 2])))
                     for life in range(kills))
        last = subprocess.run([*workers[kills % 2], directory, "last", "--finish"], capture_output=True, text=True, timeout=PATIENCE)
        due, ran, interrupted, warnings = read(f"{directory}/log")
    lost = {name for name, runs in due.items() if ran[name] < runs}
    # One whose add() had not returned may have run, but no more often than it would have.
    twice = {name for name in ran if ran[name] > due.get(name, 3) + interrupted[name]}
    print(f"seed {seed}: killed {killed} of {kills} times; {len(due)} tasks added, {sum(due.values())} runs due, "
          f"{sum(ran.values())} runs, {sum(interrupted.values())} were running when killed, {warnings} warnings; "
          f"{len(lost)} lost, {len(twice)} ran twice and nobody said so")
    for name in sorted(lost | twice)[:20]:
        print(f"  {name}: due {due.get(name)}, ran {ran[name]}, interrupted {interrupted[name]}")
    good = killed == kills and last.returncode == 0 and due and not lost and not twice
    print("ok" if good else f"BROKEN: {last.returncode} {last.stderr}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
