# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Builds a room's tests with all mutants woven in, and runs them with one mutant switched on."""

import dataclasses
import glob
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import time

from schemata import blamed, weave

# The test folders that check a room; each is a program. LAST: programs that run only for mutants that survive those.
FOLDERS = {"wheel": ["wheel"], "asio": ["asio", "asio/conformance", "asio/timeouts"], "resilience": ["resilience"], "net": ["net"],
           "schedule": ["schedule"], "calendar": ["calendar"], "tasks": ["tasks"]}
LAST = {"asio": [("timer_stress", ["--threads", "8", "--operations", "200000", "--seed", "1"])]}
MEMORY = 6 << 30


@dataclasses.dataclass
class Suite:
    """One file of tests, or a program of LAST, run by itself."""

    name: str
    command: list
    seconds: float = 0.0
    reached: bytes = b""

    @property
    def limit(self):
        """Seconds; enough that other work on the machine does not look like a hang."""
        return 20 + 10 * self.seconds


@dataclasses.dataclass
class Outcome:
    failed: bool
    how: str = ""


def limits():
    """Ends a mutant that takes all memory or fills the disk."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def library():
    return glob.glob("include/cogwheel/**/*.hpp", recursive=True) + glob.glob("src/**/*.cpp", recursive=True)


class Room:
    def __init__(self, name, work):
        self.name = name
        self.tree, self.out, self.scratch = f"{work}/tree", f"{work}/out", f"{work}/scratch"
        os.makedirs(self.scratch, exist_ok=True)

    # ---- building ----

    def copy(self, files):
        """Copies the files that plant() will not write. Unchanged files keep their times, so little is compiled again."""
        wanted = set(files)
        ours = {file for file in library() if os.path.exists(f"{self.tree}/{file}")}
        for file in wanted - ours:
            with open(file, "rb") as f:
                self.write(file, f.read(), os.stat(file).st_mode)
        for file in glob.glob(f"{self.tree}/**/*.?pp", recursive=True):
            if os.path.relpath(file, self.tree) not in wanted:
                os.remove(file)

    def write(self, file, content, mode=0o644):
        path = f"{self.tree}/{file}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path) or open(path, "rb").read() != content:
            with open(path, "wb") as f:
                f.write(content)
            os.chmod(path, mode)

    def plant(self, numbered):
        files = {}
        for number, mutant in numbered:
            files.setdefault(mutant.file, []).append((number, mutant))
        for file in library():
            with open(file, "rb") as f:
                self.write(file, weave(f.read(), files.get(file, [])))

    def configure(self):
        flags = f"-std=c++20 -D_GLIBCXX_ASSERTIONS -w -Wno-narrowing -include {os.path.abspath(self.tree)}/tests/mutation/switch.hpp"
        command = ["cmake", "--preset", "dev", "-S", self.tree, "-B", self.out, f"-DCMAKE_CXX_FLAGS={flags}"]
        # The core's tests compile fast and run long. The others compile for long and run fast.
        command += [f"-DCMAKE_CXX_FLAGS_DEBUG={'-O1' if self.name == 'wheel' else '-O0'}", "-DCOGWHEEL_WERROR=OFF", "-DCOGWHEEL_BUILD_EXAMPLES=OFF",
                    "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the project does not configure:\n{done.stdout}{done.stderr}")

    def flags(self):
        """Returns include directories and definitions of the library's sources, with paths of the project, not of its copy."""
        with open(f"{self.out}/compile_commands.json") as f:
            commands = [shlex.split(unit["command"]) for unit in json.load(f) if f"{self.tree}/src/" in unit["file"]]
        found = []
        for command in commands:
            for word, following in zip(command, command[1:] + [""]):
                flag = [word, following] if word == "-isystem" else [word] if word[:2] in ("-I", "-D") else []
                flag = [f.replace(os.path.abspath(self.tree), os.getcwd()) for f in flag]
                if flag and flag not in found:
                    found.append(flag)
        return sum(found, [])

    def build(self):
        """Builds all. Returns the output with all errors, or "" if there is none."""
        targets = [f"{os.path.basename(folder)}_tests" for folder in FOLDERS[self.name]] + [name for name, _ in LAST.get(self.name, [])]
        command = ["cmake", "--build", self.out, "--target", *targets, "--", "-k", "0"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return (done.stdout + done.stderr) if done.returncode else ""

    def build_with(self, numbered, say):
        """Builds with all mutants that compile, and returns these."""
        while True:
            self.plant(numbered)
            output = self.build()
            if not output:
                return numbered
            with open(f"{self.scratch}/build.log", "w") as f:
                f.write(output)
            bad = blamed(output.replace(f"{os.path.abspath(self.tree)}/", ""), numbered)
            if not bad:
                raise RuntimeError(f"the tests do not build:\n{output[-5000:]}")
            for number, mutant in numbered:
                if number in bad:
                    say(f"does not compile: {mutant.file}:{mutant.line} {mutant.operator}: {mutant.change}")
            numbered = [(number, mutant) for number, mutant in numbered if number not in bad]

    # ---- running ----

    def suites(self):
        found = []
        for folder in FOLDERS[self.name]:
            program = os.path.abspath(f"{self.out}/tests/{os.path.basename(folder)}_tests")
            for file in sorted(glob.glob(f"tests/{folder}/*.cpp")):
                name = file.removeprefix("tests/").removesuffix(".cpp")
                found.append(Suite(name, [program, f"--source-file=*/{file}", "--abort-after=1", "--no-colors=true"]))
        for name, arguments in LAST.get(self.name, []):
            found.append(Suite(name, [os.path.abspath(f"{self.out}/tests/{name}"), *arguments]))
        return found

    def run(self, suite, mutant=0, limit=600.0, tag="", reached=None):
        log = f"{self.scratch}/log{tag}"
        environment = dict(os.environ, COGWHEEL_MUTANT=str(mutant))
        if reached:
            environment["COGWHEEL_MUTANTS_REACHED"] = os.path.abspath(reached)
        with open(log, "wb") as out:
            process = subprocess.Popen(suite.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=self.scratch,
                                       preexec_fn=limits, start_new_session=True)  # fmt: skip
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            try:
                # Kills its children too, which may outlive it.
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if status == 0:
            return Outcome(False)
        with open(log, errors="replace") as f:
            text = f.read(1 << 22)
        return Outcome(True, f"{suite.name}: {reason(text, status)}")

    def measure(self, suites, most):
        """Runs all suites without a mutant. They must pass; notes which mutants they reach."""
        for suite in suites:
            path = f"{self.scratch}/reached"
            with open(path, "wb") as f:
                f.write(bytes(most + 1))
            begin = time.monotonic()
            outcome = self.run(suite, reached=path)
            suite.seconds = time.monotonic() - begin
            if outcome.failed:
                raise RuntimeError(f"fails without any mutant: {outcome.how}; see {self.scratch}/log")
            with open(path, "rb") as f:
                suite.reached = f.read()

    def judge(self, number, suites, tag):
        """Runs the suites that reach a mutant, the quickest first, until one fails."""
        last = {name for name, _ in LAST.get(self.name, [])}
        reaching = [s for s in suites if s.reached[number]]
        for suite in sorted(reaching, key=lambda s: (s.name in last, "smoke" in s.name, s.seconds)):
            outcome = self.run(suite, number, suite.limit, tag)
            if outcome.failed:
                return outcome
        return Outcome(False, f"{len(reaching)} files of tests reach it" if reaching else "no test reaches it")


def reason(log, status):
    """Returns the test case that failed, or how the run ended."""
    error = log.find("ERROR:")
    names = re.findall(r"^TEST CASE: *(.*)$", log[: error if error >= 0 else 0], re.M)
    if status is None:
        return "hang" + (f", {names[-1]}" if names else "")
    return names[-1] if names else f"exit {status}"
