# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What the peers in Python share: they add tasks by a plan, and report."""

import json
import os
import sys
import time


def now_us():
    return time.time_ns() // 1000


def produce(plan, most, add):
    """Reads lines `add_ms due_ms`. Calls add([(due_ms, body)]) for those whose time has come, with at most `most` at once."""
    with open(plan, encoding="ascii") as file:
        rows = [tuple(map(int, line.split())) for line in file]
    print("ready", flush=True)
    sys.stdin.readline()
    zero = now_us() // 1000
    i = 0
    while i < len(rows):
        upto = now_us() // 1000 - zero
        bodies = []
        while i < len(rows) and len(bodies) < most and rows[i][0] <= upto:
            due = zero + rows[i][1]
            bodies.append((due, f"{due} ".ljust(200, "x")))
            i += 1
        if bodies:
            add(bodies)
        if len(bodies) < most and i < len(rows):
            time.sleep(max(0.05, (rows[i][0] + zero - now_us() // 1000) / 1000))
    seconds = now_us() / 1e6 - zero / 1e3
    print("done " + json.dumps({"added": len(rows), "seconds": seconds}), flush=True)


def finish(late, out):
    """Writes the lateness of each task, in us, and ends the process."""
    with open(out, "w", encoding="ascii") as file:
        file.writelines(f"{us}\n" for us in list(late))
    cpu = time.process_time_ns() // 1000
    print("done " + json.dumps({"handled": len(late), "cpu_us": cpu}), flush=True)
    os._exit(0)  # also the scheduler's process and the threads end; nothing is left to save
