#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""kill_durable_journal.py DURABLE_NODE [KILLS=50 [SEED]]: durable tasks in a journal outlive the process.

Kills the process of queue and worker at random moments, also while it recovers, lets the last one finish, and reads the log:
each task whose schedule() succeeded was delivered, and a recurring one as often as it should be. A task was delivered again
only if its attempt was running when the process was killed. After cancel() has answered `cancelled`, no handler began; where
the kill came before the answer, the task may be gone or not. The exit code is 1 otherwise.
"""

import collections
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support.torn_line import cut_torn_line

PATIENCE = 60.0  # seconds after which the last life counts as hanging


def live_and_die(node, directory, life, seconds):
    """True: it was killed. A process that ends by itself has failed."""
    words = [node, "journal", "--directory", directory, "--life", life, "--lease", "1000"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    said = process.communicate()[1]
    cut_torn_line(f"{directory}/log")
    return process.returncode == -9 or print(f"life {life} ended by itself: {process.returncode} {said}")


class Log:
    def __init__(self, file):
        self.dates, self.retries, self.cancelled = {}, {}, {}  # dates: in ms, of a recurring task; else []
        self.cancelling = set()  # the process may have been killed between the removal and the answer
        self.begun = collections.defaultdict(list)  # task: [(place in the log, life, attempt, generation)]
        self.said = collections.defaultdict(set)  # (task, attempt, generation): words
        with open(file, encoding="utf-8") as lines:
            for place, line in enumerate(lines):
                what, life, name, *rest = line.split()
                if what == "+":
                    self.retries[name], due, until = map(int, rest)
                    self.dates[name] = list(range(due, until + 1, 15))
                elif what == "*":
                    self.begun[name].append((place, life, int(rest[0]), int(rest[1])))
                elif what == "~":
                    self.cancelling.add(name)
                elif what == "-":
                    self.cancelled[name] = (rest[0], place)
                else:
                    self.said[name, int(rest[0]), int(rest[1])].add(what)


def judge(log):
    faults, twice = [], 0
    occurrences = collections.defaultdict(set)
    for name in list(log.begun):
        if "@" in name:
            occurrences[name.split("@")[0]].add(int(name.split("@")[1]))
    for name, planned in log.dates.items():
        if planned:
            dates = sorted(occurrences[name])
            if dates != planned:
                faults.append(f"lost: {name}: occurrences {dates}, planned {planned}")
        elif log.cancelled.get(name, ("", 0))[0] == "cancelled":
            late = [b for b in log.begun.get(name, []) if b[0] > log.cancelled[name][1]]
            if late:
                faults.append(f"cancelled and started: {name}: {late}")
        elif name not in log.begun and name not in log.cancelling:
            faults.append(f"lost: {name}")
    for name, all_of_it in log.begun.items():
        task = name.split("@")[0]
        # Without its +, schedule() had not returned: the task may exist or not. The node's rule says how often it fails.
        number = int(task.split("-")[1])
        retries = log.retries.get(task, 1 if number % 5 and number % 4 == 0 else 0)
        if all_of_it[-1][2] <= retries and name not in log.cancelling:
            faults.append(f"lost: {name}: the attempt after {all_of_it[-1]} did not come")
        for (_, life, attempt, generation), after in zip(all_of_it, all_of_it[1:]):
            if after[2:] == (attempt, generation):
                faults.append(f"same attempt twice: {name}: {all_of_it}")
            words = log.said[name, attempt, generation]
            if attempt <= retries and "retry" in words:
                continue  # planned
            twice += attempt > retries
            if life == after[1] and "lease_lost" not in words and "stale" not in words:
                faults.append(f"twice in one life: {name}: {all_of_it} {words}")
            if "done" in words:
                faults.append(f"twice, and the first was done: {name}: {all_of_it}")
    return faults, twice


def main():
    node = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(2**32)
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        killed = sum(bool(live_and_die(node, directory, f"l{i}", moments.uniform(0.005, 0.2))) for i in range(kills))
        words = [node, "journal", "--directory", directory, "--life", "last", "--lease", "1000", "--finish"]
        last = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        log = Log(f"{directory}/log")
    faults, twice = judge(log)
    print(f"seed {seed}: killed {killed} of {kills} times; {len(log.dates)} tasks added, {sum(len(d) or 1 for d in log.dates.values())} runs due, "
          f"{sum(map(len, log.begun.values()))} deliveries, {twice} again because their attempts were running, "
          f"{sum(r == 'cancelled' for r, _ in log.cancelled.values())} cancelled; {len(faults)} faults")
    for fault in faults[:20]:
        print("  " + fault)
    good = killed == kills and last.returncode == 0 and log.dates and not faults
    print("ok" if good else f"BROKEN: {last.returncode} {last.stderr}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
