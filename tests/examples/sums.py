#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""sums.py SESSION_STORE: the numbers it prints add up, line by line, also where sessions expire before they are asked for."""

import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude


def numbers_of(binary, keys, hot, ttl):
    name = f"{keys} sessions, {hot} hot, ttl {ttl}"
    done = subprocess.run([binary, "--keys", str(keys), "--hot", str(hot), "--ttl", ttl], capture_output=True, text=True,
                          timeout=PATIENCE)
    check(f"{name}: ends well", done.returncode == 0 and done.stdout.endswith("\nok\n"), f"exit code {done.returncode}")
    lines = [tuple(map(int, line)) for line in re.findall(r"(\d+) there \+ (\d+) expired = (\d+) opened", done.stdout)]
    check(f"{name}: a sum for each of ten rounds, and in the end", len(lines) == 11, f"{len(lines)}")
    check(f"{name}: each is right", all(there + expired == opened for there, expired, opened in lines), f"{lines[-1:]}")
    asked = re.search(r"asked for (\d+) times: (\d+) found, (\d+) had expired", done.stdout)
    times, found, late = map(int, asked.groups()) if asked else (0, 0, -1)
    check(f"{name}: what was found and what was not is what was asked for", times == found + late == 10 * hot, f"{found} + {late}")
    check(f"{name}: in the end all that were opened have expired", bool(lines) and lines[-1] == (0, keys + late, keys + late),
          f"{lines[-1:]}, {late} opened again")


def main():
    (binary,) = sys.argv[1:]
    numbers_of(binary, 10_000, 100, "400ms")
    numbers_of(binary, 1_000, 0, "100ms")
    numbers_of(binary, 1_000, 1_000, "1ms")  # gone before they are asked for
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
