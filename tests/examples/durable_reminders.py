#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""durable_reminders.py DURABLE_REMINDERS: reminders of a program that is killed while they fire: none lost, none early.

On the journal, and if redis-server is installed, on a server that is killed too.
"""

import datetime
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from redis_process import Redis, installed
from server_process import PATIENCE, check, conclude, eventually
from support.torn_line import cut_torn_line

COUNT = 60
PRINTED = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z) (r\d+): words of (r\d+)(?: \(attempt (\d+)\))?\n")


class Program:
    """The program; its output goes to a file, which outlives it."""

    def __init__(self, binary, directory, *options):
        self.binary, self.options = binary, options
        self.out = pathlib.Path(directory, "out")
        self.err = pathlib.Path(directory, "err")
        self.process = None

    def start(self, *options):
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self.process = subprocess.Popen([self.binary, *self.options, *options], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self, number):
        """Returns the exit code."""
        self.process.send_signal(number)
        code = self.wait(PATIENCE)
        if code is None:
            self.process.kill()
            self.process.wait()
        return code

    def printed(self):
        """For each name, the points at which it was printed."""
        all_of = {}
        for line in self.out.read_text(encoding="utf-8").splitlines(keepends=True) if self.out.exists() else []:
            if match := PRINTED.fullmatch(line):
                at = datetime.datetime.fromisoformat(match[1].replace("Z", "+00:00")).timestamp()
                all_of.setdefault(match[2], []).append(at)
        return all_of

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def killed_again_and_again(where, program, seed, between=lambda: None):
    """It is started with the same options each time, as a supervisor would."""
    chance = random.Random(seed)
    delays = {f"r{n}": chance.randint(0, 3000) for n in range(COUNT)}
    options = [word for name, ms in delays.items() for word in ("--add", f"{name} {ms}ms words of {name}")]
    begin = time.time()
    kills = 0
    for _ in range(6):
        program.start(*options)
        program.wait(chance.uniform(0.05, 0.7))
        program.end(signal.SIGKILL)
        cut_torn_line(program.out)
        kills += 1
        between()
    program.start(*options, "--until-empty")
    code = program.wait(2 * PATIENCE)
    printed = program.printed()
    lost = sorted(set(delays) - set(printed))
    early = [name for name, points in printed.items() if min(points) < begin + delays[name] / 1000 - 0.001]
    twice = sum(len(points) - 1 for points in printed.values())
    check(f"{where}: killed {kills} times, it ends when all are printed", code == 0, f"exit code {code}")
    check(f"{where}: none of {COUNT} is lost", not lost, f"{lost}")
    check(f"{where}: none is early", not early, f"{early}")
    check(f"{where}: only what a kill interrupted comes twice", twice <= kills * COUNT // 2, f"{twice} twice")
    program.start(*options, "--until-empty")
    code = program.wait(PATIENCE)
    check(f"{where}: the same options add nothing again", code == 0 and sum(map(len, program.printed().values())) == COUNT + twice)


def signals(where, program):
    for number in (signal.SIGTERM, signal.SIGINT):
        program.start("--add", f"far{int(number)} 1h words")
        begun = eventually(lambda: f"far{int(number)} is" in program.out.read_text(encoding="utf-8"))
        code = program.end(number)
        check(f"{where}: {number.name} ends it", begun and code == 0, f"exit code {code}")
    program.start("--list")
    code = program.wait(PATIENCE)
    text = program.out.read_text(encoding="utf-8")
    check(f"{where}: --list shows what waits", code == 0 and all(re.search(rf"(?m)^\S+Z {name} words$", text) for name in ("far15", "far2")))
    program.start("--cancel", "far15", "--cancel", "far2", "--cancel", "far3", "--no-wait")
    code = program.wait(PATIENCE)
    text = program.out.read_text(encoding="utf-8")
    check(f"{where}: --cancel", code == 0 and "far15 is cancelled\nfar2 is cancelled\nfar3 is not there\n" in text, f"exit code {code}")


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)


def bad_input(binary, directory):
    data = ("--data", os.path.join(directory, "bad"))
    for options, words in ((["--add", "tea"], "--add: give NAME DELAY WORDS"),
                           (["--add", "tea 3 now"], "bad duration '3' for --add"),
                           (["--add", "x" * 600 + " 3s now"], "at most 512"),
                           (["--file", "/nonexistent"], "cannot read /nonexistent"),
                           (["--redis", "http://127.0.0.1"], "http"),
                           (["--data", "/proc/nowhere"], "/proc/nowhere")):
        done = run(binary, *data, *options)
        check(f"bad input: {options[0]} {options[1][:20]}", done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1,
              f"exit code {done.returncode}, {done.stderr!r}")


def one_program_at_a_time(binary, directory):
    data = ("--data", os.path.join(directory, "shared"))
    with Program(binary, directory, *data) as first:
        first.start("--add", "one 1h words")
        eventually(lambda: "one is due" in first.out.read_text(encoding="utf-8"))
        done = run(binary, *data)
        check("journal: a second program says that it is in use", done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr)
        first.end(signal.SIGTERM)


def unreachable(binary, directory):
    """The server comes later."""
    redis = Redis(directory)
    with Program(binary, directory, "--redis", redis.url) as program:
        program.start("--add", "r0 0s words of r0", "--until-empty")
        said = eventually(lambda: redis.socket in program.err.read_text(encoding="utf-8"))
        check("redis: that the server is away is said", said)
        code = program.wait(1)
        lines = program.err.read_text(encoding="utf-8")
        check("redis: in one line, and it goes on", code is None and lines.count("\n") == 1, lines)
        with redis:
            code = program.wait(PATIENCE)
            check("redis: and when the server is there, it works", code == 0 and "r0" in program.printed(), f"exit code {code}")
    with Program(binary, directory, "--redis", redis.url) as program:
        program.start()
        program.wait(0.3)
        code = program.end(signal.SIGTERM)
        check("redis: SIGTERM ends one that waits for its server", code == 0, f"exit code {code}")


def least_rights(binary, redis, directory):
    """The user of docs/durable.md may do all that a queue does, and nothing is refused."""
    text = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/durable.md").read_text(encoding="utf-8")
    rule = re.search(r"(?m)^(ACL SETUSER (?:.*\\\n)*.*)$", text)[1].replace("\\\n", " ").replace("orders", "reminders")
    answer = redis.command(*rule.split())
    check("the user of docs/durable.md", answer == "+OK\r\n", answer)
    name, secret = rule.split()[2], next(word for word in rule.split() if word.startswith(">"))[1:]
    redis.command("ACL", "LOG", "RESET")
    url = redis.url.replace("unix://", f"unix://{name}:{secret}@")
    with Program(binary, directory, "--redis", url) as program:
        program.start("--add", "r900 100ms words of r900", "--add", "r901 1h words of r901", "--cancel", "r901", "--until-empty")
        code = program.wait(PATIENCE)
        check("may do all that a queue does", code == 0 and "r900" in program.printed(), f"exit code {code}, {program.err.read_text()[-300:]}")
        program.start("--list")
        check("and list it", program.wait(PATIENCE) == 0)
    log = redis.command("ACL", "LOG")
    check("and nothing was refused", log == "*0\r\n", log)


def main():
    binary, = sys.argv[1:]
    seed = int(os.environ.get("SEED", "1"))
    with tempfile.TemporaryDirectory() as directory:
        with Program(binary, directory, "--data", os.path.join(directory, "data")) as program:
            killed_again_and_again("journal", program, seed)
            signals("journal", program)
        one_program_at_a_time(binary, directory)
        bad_input(binary, directory)
    if not installed():
        print("skip what needs Redis: redis-server is not installed", flush=True)
        return conclude()
    with tempfile.TemporaryDirectory() as directory:
        unreachable(binary, directory)
    with tempfile.TemporaryDirectory() as directory, Redis(directory) as redis:
        def restart():
            redis.kill()
            redis.start()
        with Program(binary, directory, "--redis", redis.url) as program:
            killed_again_and_again("redis", program, seed, restart)
            signals("redis", program)
        with tempfile.TemporaryDirectory() as outputs:
            least_rights(binary, redis, outputs)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
