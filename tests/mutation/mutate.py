# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Changes one place of the library at a time, at random, and says which changes the tests of that room do not notice.

All mutants of a room are compiled at once (schemata.py), so a hundred cost one build and a hundred runs of those tests that reach them.
A survivor is a promise that no test keeps, code that has no effect, or equivalent to the original: then it belongs into
tests/mutation/equivalents.txt, with the reason.
"""

import argparse
import concurrent.futures
import json
import os
import queue
import subprocess
import sys
import time

import finder
from mutants import Equivalents, draw
from runner import FOLDERS, Room

LIST = "tests/mutation/equivalents.txt"
# Some mutants do not compile: draws more than asked for.
SPARE = 1.15


def say(text):
    print(text, flush=True)


def project_files():
    command = ["bash", "-c", "source tools/files.sh; project_files"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def drawn(room, options, work, flags):
    with open(LIST) as f:
        equivalents = Equivalents(f.read())
    candidates = finder.candidates(room, flags)
    known = {mutant for mutant in candidates if equivalents.knows(mutant)}
    for key in equivalents.stale():
        if f"/{room}/" in key[0]:
            say(f"{LIST}: nothing answers to {key[0]}: {key[3]}")
    order = draw(candidates - known, options.seed)
    if options.again:
        with open(f"{work}/survivors.json") as f:
            survivors = {tuple(key) for key in json.load(f)}
        order = [mutant for mutant in order if mutant.key in survivors]
    say(f"{room}: {len(candidates)} places and changes, {len(known)} of them equivalent; seed {options.seed}")
    return order


def mutate(room, options):
    """Returns the percentage that was caught."""
    work = f"build/mutants/{room}"
    place = Room(room, work)
    begin = time.monotonic()
    place.copy(project_files())
    place.configure()
    order = drawn(room, options, work, place.flags())
    numbered = list(enumerate(order[: int(options.random * SPARE) + 1], 1))
    say(f"{room}: compiling {len(numbered)} mutants at once")
    numbered = place.build_with(numbered, say)[: options.random]
    say(f"{room}: {len(numbered)} are built, in {time.monotonic() - begin:.0f} s; running the tests without any")
    suites = place.suites()
    place.measure(suites, max((number for number, _ in numbered), default=0))

    survivors = []
    tags = queue.SimpleQueue()
    for tag in range(options.jobs):
        tags.put(f".{tag}")

    def judged(item):
        tag = tags.get()
        try:
            return item[1], place.judge(item[0], suites, tag)
        finally:
            tags.put(tag)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done, (mutant, outcome) in enumerate(pool.map(judged, numbered), 1):
            head = f"[{done:3}/{len(numbered)}] {'caught  ' if outcome.failed else 'SURVIVED'} {mutant.file}:{mutant.line}"
            say(f"{head} {mutant.operator}: {mutant.change} ({outcome.how})")
            if not outcome.failed:
                survivors.append((mutant, outcome))
    with open(f"{work}/survivors.json", "w") as f:
        json.dump([mutant.key for mutant, _ in survivors], f)

    caught = len(numbered) - len(survivors)
    share = 100 * caught / len(numbered) if numbered else 100.0
    if survivors:
        say(f"\n{room}: what survived, as {LIST} would have it")
    for mutant, outcome in survivors:
        say(f"\n{mutant.file}:{mutant.line} ({outcome.how})\n{Equivalents.block(mutant, '?')}")
    say(f"{room}: {caught} of {len(numbered)} caught, {share:.0f} %, seed {options.seed}, {time.monotonic() - begin:.0f} s")
    return share


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, required=True, metavar="N", help="how many mutants a room")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--room", choices=FOLDERS, action="append", help="default: each in turn")
    parser.add_argument("--expect", type=float, default=90, metavar="PERCENT", help="fails if fewer are caught (90)")
    parser.add_argument("--again", action="store_true", help="only what survived the last run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    options = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    shares = [mutate(room, options) for room in options.room or FOLDERS]
    return 0 if min(shares) >= options.expect else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"mutate: {error}")
