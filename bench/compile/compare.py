#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""compare.py [ROUNDS=21] [RESULT.json] [LIBRARIES]: what a wheel costs at the compiler: how long the smallest program
takes to compile, with a wheel, with steady_timers, and with the least binding of the core to Asio. The compiles take
turns. Prints the minimum and the median of user and system time, and the median of the ratios of each round. With the
folder of libcogwheel, static or shared, also the size of the stripped programs. Writes all figures to RESULT.json.
With 0 rounds, only the sizes: fails if a program with a wheel is more than 15 % larger than the floor."""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
include = str(here.parent.parent / "include")
compiler = os.environ.get("CXX", "g++")
command = [compiler, "-std=c++20", "-O2", "-ffunction-sections", "-DASIO_STANDALONE", "-I", include]
separately = "-DCOGWHEEL_SEPARATE_COMPILATION"
programs = {
    "steady_timer": ["steady_timer.cpp"],
    "floor": ["hello.cpp", "-DFLOOR"],
    "timer_wheel": ["hello.cpp"],
    "separate": ["hello.cpp", separately],
    "src.hpp": [str(here.parent.parent / "tests/consumer/separate/wheels.cpp"), separately],  # once, for "separate"
}


def seconds(program):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(command + ["-o", os.devnull, "-c"] + programs[program], cwd=here, check=True)
    return spent() - before


def size(program, libraries):
    """The bytes of the program, stripped, without what the linker can leave out."""
    with tempfile.TemporaryDirectory() as folder:
        files = programs[program] + (programs["src.hpp"] if program == "separate" else [])
        link = ["-s", "-Wl,--gc-sections", "-L", libraries, "-lcogwheel", "-lcogwheel_wheel", "-pthread"]
        subprocess.run(command + files + link + ["-o", folder + "/program"], cwd=here, check=True)
        return os.stat(folder + "/program").st_size


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
if not rounds and len(sys.argv) < 4:
    sys.exit("with 0 rounds, there are only sizes: name the folder of libcogwheel as the third argument")
load = os.getloadavg()
times = {p: [] for p in programs}
for _ in range(rounds):
    for p in programs:
        times[p].append(seconds(p))
if rounds:
    base = times["steady_timer"]
    print(f"{'':14} {'min s':>7} {'median s':>9} {'min':>6} {'median':>7} {'paired':>7}")
    for p in programs:
        paired = statistics.median(t / b for t, b in zip(times[p], base))
        ratios = (min(times[p]) / min(base), statistics.median(times[p]) / statistics.median(base), paired)
        print(f"{p:14} {min(times[p]):7.2f} {statistics.median(times[p]):9.2f}" + "".join(f" {r:6.2f}x" for r in ratios))
sizes = {}
if len(sys.argv) > 3:
    libraries = str(pathlib.Path(sys.argv[3]).resolve())
    sizes = {p: size(p, libraries) for p in programs if p != "src.hpp"}
    for p, s in sizes.items():
        print(f"{p:14} {s:8} bytes {s / sizes['steady_timer']:6.2f}x")
if not rounds:
    sys.exit(max(sizes["timer_wheel"], sizes["separate"]) > 1.15 * sizes["floor"])
if len(sys.argv) > 2:
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    result = {"compiler": version, "options": "-O2 -ffunction-sections", "seconds": times, "bytes": sizes}
    result["load before"] = load
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
