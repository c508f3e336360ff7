# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""tracing_test.py PROGRAM SOURCE_TREE HAS_PROBES: what tracers see of a program.

The program has the probes that probe.hpp describes, and the scripts of tools/trace use no others. If bpftrace is installed
and may run, it parses them. The program is tracing_tests: Asio's handler tracking shows each of its waits, from start to end.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM, TREE, HAS_PROBES = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] == "1"


def described():
    """The probes that the header promises, each with its number of arguments."""
    text = (TREE / "include/cogwheel/asio/detail/engine/probe.hpp").read_text()
    probes = {name: arguments.count(",") + 1 for name, arguments in re.findall(r"^//   (\w+)\(([^)]*)\)  ", text, re.M)}
    assert len(probes) == 6, probes
    return probes


def listed():
    """The probes in the notes of the program. A probe may be in many places."""
    notes = subprocess.run(["readelf", "--notes", "--wide", PROGRAM], check=True, capture_output=True, text=True).stdout
    probes = {}
    for name, arguments in re.findall(r"Provider: cogwheel\s+Name: (\w+)\s.*?Arguments:([^\n]*)", notes, re.S):
        probes.setdefault(name, set()).add(len(re.findall(r"-?\d+f?@", arguments)))
    return probes


failed = 0


def check(ok, what):
    global failed
    if not ok:
        print("failed:", what)
        failed += 1


def check_tracking():
    """Format: https://think-async.com/Asio/asio-1.22.1/doc/asio/overview/core/handler_tracking.html"""
    run = subprocess.run([PROGRAM], capture_output=True, text=True)
    check(run.returncode == 0, f"the tests end with {run.returncode}")
    started, begun, ended, results = {}, set(), set(), set()
    for line in run.stderr.splitlines():
        if not line.startswith("@asio|"):
            continue
        _, _, action, description = line.split("|", 3)
        if start := re.fullmatch(r"\d+\*(\d+)", action):
            if wait := re.fullmatch(r"(timer_wheel|wheel_timer)@0x[0-9a-f]+\.async_wait", description):
                started[start[1]] = wait[1]
        elif action[1:] in started:
            (begun if action[0] == ">" else ended).add(action[1:])
            if action[0] == ">":
                results.add(description.split(",")[0])
    check(set(started.values()) == {"timer_wheel", "wheel_timer"}, f"the objects of waits: {set(started.values())}")
    check(len(started) > 10, f"{len(started)} waits")
    check({"ec=system:0"} < results, f"waits succeed and are aborted: {results}")
    check(set(started) <= ended, f"{len(set(started) - ended)} waits have no end")
    return len(started), len(begun)


def main():
    waits, handlers = check_tracking()
    print(f"handler tracking: {waits} waits, {handlers} handlers")
    if failed:
        return 1
    if not shutil.which("readelf"):
        print("skipped: the probes, because readelf is not installed")
        return 0
    promised, found = described(), listed()
    if not HAS_PROBES:
        print("skipped: the probes, because sys/sdt.h is not installed (Debian: systemtap-sdt-dev)")
        return 0
    check(found == {name: {count} for name, count in promised.items()}, f"promised {promised}, found {found}")
    scripts = sorted((TREE / "tools/trace").glob("*.bt"))
    check(scripts, "there are scripts in tools/trace")
    for script in scripts:
        text = script.read_text()
        for name in re.findall(r"usdt:[^:\s]*:cogwheel:(\w+)", text):
            check(name in promised, f"{script.name} uses the probe {name}")
        for name, body in re.findall(r"usdt:[^:\s]*:cogwheel:(\w+)[^{]*\{(.*?)^\}", text, re.S | re.M):
            most = max((int(n) + 1 for n in re.findall(r"\barg(\d)\b", body)), default=0)
            check(most <= promised[name], f"{script.name}: {name} has {promised[name]} arguments, not {most}")
        if shutil.which("bpftrace") and os.geteuid() == 0:
            # A fault of the script has its line and column. Everything else is what this kernel lacks.
            parsed = subprocess.run(["bpftrace", "-d", str(script), PROGRAM], capture_output=True, text=True)
            faults = re.findall(rf"{script.name}:\d+:\d+.*", parsed.stdout + parsed.stderr)
            check(not faults, f"{script.name}: {faults}")
    print(f"{len(promised)} probes, {len(scripts)} scripts, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
