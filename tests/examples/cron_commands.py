#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""cron_commands.py CRON_TABLE: what becomes of commands that hang, do not listen, and outlive whoever has started them.

The commands write their process numbers to a directory, and are looked for by these: none may be left, however the program ends.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude, eventually, readable

HANGS = "tail -f /dev/null"
# A child of its shell, and neither minds SIGTERM.
STUBBORN = "trap '' TERM; (tail -f /dev/null; true) & echo $! >>{pids}; wait; wait"


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the file goes while it is read
        return False


class Cron:
    """A table that runs. `commands`: each every second; {pids} is the file that process numbers go to, {out} another one."""

    def __init__(self, binary, *commands, options=(), **how):
        self.directory = tempfile.TemporaryDirectory()
        self.pids = pathlib.Path(self.directory.name, "pids")
        self.out = pathlib.Path(self.directory.name, "out")
        table = pathlib.Path(self.directory.name, "table")
        lines = (f"echo $$ >>{self.pids}; " + c.format(pids=self.pids, out=self.out) for c in commands)
        table.write_text("".join(f"* * * * * *  {line}\n" for line in lines), encoding="ascii")
        how = {"stdout": subprocess.PIPE} | how
        self.process = subprocess.Popen([binary, "--file", table, *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, **how)

    def begun(self):
        """The process numbers so far."""
        return [int(word) for word in self.pids.read_text(encoding="ascii").split()] if self.pids.exists() else []

    def left(self):
        return [pid for pid in self.begun() if alive(pid)]

    def lines(self):
        return len(self.out.read_text(encoding="ascii").splitlines()) if self.out.exists() else 0

    def end(self):
        """Waits for its end; returns (exit code, standard output)."""
        try:
            out, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None, ""
        return self.process.returncode, out

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for pid in self.left():
            os.kill(pid, signal.SIGKILL)
        self.directory.cleanup()


def signals_end_it(binary):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with Cron(binary, HANGS, options=["--seconds", "600"]) as cron:
            begun = eventually(lambda: cron.begun() != [])
            cron.process.send_signal(number)
            code, out = cron.end()
            check(f"{number.name} ends it, also with --seconds", begun and code == 0 and out.count("NAME") == 2, f"exit code {code}")
            check(f"{number.name} leaves no command", eventually(lambda: cron.left() == []), f"left: {cron.left()}")
    with Cron(binary, "true", options=["--seconds", "1"]) as cron:
        code, _ = cron.end()
        check("--seconds ends it", code == 0, f"exit code {code}")


def hung_commands(binary):
    """Twenty that hang, and one that does not: it runs again and again, and the table is shown."""
    with tempfile.TemporaryFile() as shown, Cron(binary, *[HANGS] * 20, "echo >>{out}", options=["--show", "100ms"],
                                                   stdout=shown) as cron:
        def tables():
            return os.pread(shown.fileno(), 1 << 24, 0).decode().split("NAME")[1:]
        check("what hangs stops nothing", eventually(lambda: cron.lines() >= 2), f"{cron.lines()} runs")
        check("they all run", len(set(cron.begun())) >= 21)
        check("the table is shown again and again", eventually(lambda: len(tables()) >= 3), f"{len(tables())} tables")
        cron.process.send_signal(signal.SIGTERM)
        code, _ = cron.end()
        last = tables()[-1]
        check("and says that they run", code == 0 and last.count(HANGS) == 20 and last.count("  running") >= 20, last[-200:])
        check("none is left", eventually(lambda: cron.left() == []), f"left: {cron.left()}")


def stubborn_commands(binary):
    with Cron(binary, STUBBORN, options=["--limit", "300ms", "--grace", "200ms"]) as cron:
        ended = eventually(lambda: len(cron.begun()) >= 2) and eventually(lambda: not any(map(alive, cron.begun()[:2])))
        check("a command that ignores SIGTERM is ended after a grace, and its child", ended, f"left: {cron.left()}")
        check("and runs again", eventually(lambda: len(cron.begun()) >= 4))
        cron.process.send_signal(signal.SIGTERM)
        code, out = cron.end()
        check("the table says why it ended", code == 0 and "time limit of 300ms: ended by signal 9" in out, out[-100:])
        check("none is left at the end", eventually(lambda: cron.left() == []), f"left: {cron.left()}")
    with Cron(binary, STUBBORN, options=["--grace", "200ms"]) as cron:
        begun = eventually(lambda: len(cron.begun()) >= 2)
        cron.process.send_signal(signal.SIGTERM)
        code, _ = cron.end()
        check("nor can it keep the program from ending", begun and code == 0, f"exit code {code}")
        check("and it is gone", eventually(lambda: cron.left() == []), f"left: {cron.left()}")
    with Cron(binary, "trap 'echo >>{out}; exit 0' TERM; echo >>{out}; tail -f /dev/null & wait") as cron:
        begun = eventually(lambda: cron.lines() == 1)
        cron.process.send_signal(signal.SIGTERM)
        code, _ = cron.end()
        check("a command that clears up has the time to", begun and code == 0 and cron.lines() == 2, f"exit code {code}")


def violent_ends(binary):
    with Cron(binary, HANGS, STUBBORN, options=["--grace", "200ms"]) as cron:
        begun = eventually(lambda: len(cron.begun()) >= 3)
        cron.process.kill()
        cron.process.communicate()
        check("kill -9 leaves no command", begun and eventually(lambda: cron.left() == []), f"left: {cron.left()}")
    with Cron(binary, STUBBORN, options=["--grace", "2s"]) as cron:
        begun = eventually(lambda: len(cron.begun()) >= 2)
        cron.process.send_signal(signal.SIGINT)
        said = readable(cron.process.stdout) and [cron.process.stdout.readline() for _ in range(4)]
        cron.process.send_signal(signal.SIGINT)
        code, _ = cron.end()
        check("a second signal ends it at once", begun and said and code == -signal.SIGINT, f"exit code {code}")
        check("and leaves no command", eventually(lambda: cron.left() == []), f"left: {cron.left()}")
    with Cron(binary, HANGS, options=["--show", "100ms"]) as cron:
        begun = eventually(lambda: cron.begun() != [])
        cron.process.stdout.close()
        code = cron.process.wait(PATIENCE)
        check("a reader that has gone ends it", begun and code == 141, f"exit code {code}")
        check("and its commands", eventually(lambda: cron.left() == []), f"left: {cron.left()}")


def details(binary):
    with Cron(binary, "yes 2>/dev/null | head -1 >/dev/null; cat; echo >>{out}") as cron:
        check("a command has SIGPIPE and no input", eventually(lambda: cron.lines() >= 1))
        cron.process.send_signal(signal.SIGUSR1)
        said = readable(cron.process.stderr) and cron.process.stderr.readline()
        check("SIGUSR1 prints the table to standard error", bool(said) and said.startswith("NAME"), f"{said!r}")
        cron.process.send_signal(signal.SIGTERM)
        check("and it goes on until it is told", cron.end()[0] == 0)
    with Cron(binary, "echo >>{out}", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as cron:
        eventually(lambda: cron.lines() >= 1)
        cron.process.send_signal(signal.SIGHUP)
        before = cron.lines()
        check("under nohup SIGHUP does nothing", eventually(lambda: cron.lines() >= before + 2))


def main():
    (binary,) = sys.argv[1:]
    signals_end_it(binary)
    hung_commands(binary)
    stubborn_commands(binary)
    violent_ends(binary)
    details(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
