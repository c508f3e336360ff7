# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Plants the bugs of tests/bugs one at a time and expects the tests to fail. A survivor breaks a promise that no test keeps.

These are the mistakes that one random change cannot express: in several places at once, in scripts of Redis, in the service. A file
of tests/bugs has the bugs of one test room:

    bug first-completion-wins-twice
    Why this is a mistake, in a sentence.
    test: wheel/order_test
    in: wheel/node_table.hpp
    -the present text, one or more lines
    +what stands there instead
    in: ...

The file is named by the end of its path. The present text must occur there exactly once, whatever its indentation. Only the named
test file is built; it must fail. Each processor has a copy of the project of its own.
"""

import argparse
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys

WORK = os.path.abspath("build/planted")
SECONDS = 120  # A bug that hangs its test is caught.


class Fault(Exception):
    pass


class Bug:
    def __init__(self, name, text):
        self.name, self.edits, self.test = name, [], None
        for line in text:
            if line.startswith("test: "):
                self.test = line[6:].replace("/", "_")
            elif line.startswith("in: "):
                self.edits.append((line[4:], [], []))
            elif line[:1] in ("-", "+") and self.edits:
                self.edits[-1][1 if line[0] == "-" else 2].append(line[1:])
        if self.test is None or not all(old for _, old, _ in self.edits) or not self.edits:
            raise Fault(f"{name}: needs `test: GROUP/FILE`, `in: FILE`, and lines that begin with -")

    def changed(self, files, read):
        """The changed texts by file. Several edits may be of one file."""
        texts, spans = {}, {}
        for end, old, new in self.edits:
            found = [f for f in files if f == end or f.endswith("/" + end)]
            if len(found) != 1:
                raise Fault(f"{self.name}: {len(found)} files are named {end}")
            texts[found[0]] = texts.get(found[0]) or read(found[0])
            wanted = r"\s*\n\s*".join(r"\s+".join(map(re.escape, line.split())) for line in old)
            places = [match.span() for match in re.finditer(wanted, texts[found[0]])]
            if len(places) != 1:
                raise Fault(f"{self.name}: {found[0]} has {len(places)} times: {old[0].strip()}")
            spans.setdefault(found[0], []).append((*places[0], "\n".join(new).strip()))
        for file, changes in spans.items():
            for begin, stop, new in sorted(changes, reverse=True):
                texts[file] = texts[file][:begin] + new + texts[file][stop:]
        return texts


def project_files():
    command = ["bash", "-c", "source tools/files.sh; project_files"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def bugs():
    found = {}
    for file in sorted(os.listdir("tests/bugs")):
        for part in re.split(r"^bug ", read(f"tests/bugs/{file}"), flags=re.M)[1:]:
            name, *text = part.split("\n")
            if name in found:
                raise Fault(f"{name}: two bugs have this name")
            found[name] = Bug(name, text)
    return found


class Lane:
    """A copy of the project, in which one bug at a time is planted."""

    def __init__(self, number, files):
        self.tree, self.out = f"{WORK}/{number}/tree", f"{WORK}/{number}/out"
        self.checked = set()
        for file in files:
            os.makedirs(os.path.dirname(f"{self.tree}/{file}"), exist_ok=True)
            shutil.copy2(file, f"{self.tree}/{file}")
        options = ["CMAKE_CXX_FLAGS_DEBUG=-O1", "COGWHEEL_WERROR=OFF", "CMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "COGWHEEL_BUILD_EXAMPLES=OFF"]
        self.run(["cmake", "--preset", "dev", "-S", self.tree, "-B", self.out, *("-D" + o for o in options)], "the project does not configure")

    def run(self, command, fault, **more):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)
        if done.returncode and fault:
            raise Fault(f"{fault}\n{done.stdout[-3000:]}")
        return done

    def compile(self, test, fault):
        return self.run(["cmake", "--build", self.out, "--target", test, "--parallel", "1"], fault)

    def outcome(self, test):
        """How the test fails, or None."""
        try:
            done = self.run([f"{self.out}/tests/{test}", "--abort-after=1", "--no-colors=true"], None, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "hang"
        if done.returncode == 0:
            return None
        case = re.findall(r"^TEST CASE: *(.*)", done.stdout, flags=re.M)
        return case[-1] if case else f"exit {done.returncode}"

    def plant(self, bug, files):
        """What became of the bug, in a line. Without a bug the test must pass, or its failure proves nothing."""
        if bug.test not in self.checked:
            self.compile(bug.test, f"{bug.test} does not build")
            if failure := self.outcome(bug.test):
                raise Fault(f"{bug.test} fails without any bug: {failure}")
            self.checked.add(bug.test)
        texts = bug.changed(files, read)
        try:
            for file, text in texts.items():
                with open(f"{self.tree}/{file}", "w", encoding="utf-8") as f:
                    f.write(text)
            built = self.compile(bug.test, None)
            if built.returncode:
                return f"DOES NOT COMPILE {bug.name}\n" + "\n".join(re.findall(r".*error.*", built.stdout)[:5])
            failure = self.outcome(bug.test)
            return f"caught {bug.name} (by {bug.test}: {failure})" if failure else f"SURVIVED {bug.name}"
        finally:
            for file in texts:
                shutil.copy(file, f"{self.tree}/{file}")  # not its time: the next build compiles it again


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say only which bugs no longer fit the code")
    parser.add_argument("name", nargs="*", help="the bugs, by the start of their names; without any, all")
    options = parser.parse_args()
    files, chosen = project_files(), list(bugs().values())
    if options.name:
        chosen = [bug for bug in chosen if bug.name.startswith(tuple(options.name))]
        if not chosen:
            raise Fault(f"no bug begins with {' or '.join(options.name)}")
    faults = []
    for bug in chosen:
        try:
            bug.changed(files, read)
        except Fault as fault:
            faults.append(str(fault))
    if options.check or faults:
        print("\n".join(faults) or f"{len(chosen)} bugs fit the code")
        return bool(faults)
    shutil.rmtree(WORK, ignore_errors=True)  # a tree of an interrupted run may be newer than what was built from it
    count = min(os.cpu_count(), len(chosen))
    lanes = queue.Queue()
    for number in range(count):
        lanes.put(Lane(number, files))

    def plant(bug):
        lane = lanes.get()
        try:
            said = lane.plant(bug, files)
        except Fault as fault:
            said = f"FAILED {bug.name}: {fault}"
        finally:
            lanes.put(lane)
        print(said, flush=True)
        return said.startswith("caught")

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        passed = sum(pool.map(plant, sorted(chosen, key=lambda bug: bug.test)))
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return passed != len(chosen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        sys.exit(f"mutate: {fault}")
