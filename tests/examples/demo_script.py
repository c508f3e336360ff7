#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""demo_script.py SOURCE_TREE EXAMPLES: `./dev demo` without what takes minutes: what is said before, while it builds and runs, and in the end."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import urllib.request

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=6 * PATIENCE)


def on_a_terminal(*command, columns=0, term="xterm", signals=()):
    """All that it prints to one. It is sent one of the signals each time it has drawn something again."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": term})
    os.close(theirs)
    text = b""
    redrawn = 0
    signals = list(signals)
    try:
        while piece := os.read(ours, 65536):
            text += piece
            if signals and text.count(b"\033[J") > redrawn:
                redrawn = text.count(b"\033[J")
                process.send_signal(signals.pop(0))
    except OSError:  # its end
        pass
    os.close(ours)
    return process.wait(PATIENCE), text.decode()


def progress(source, directory):
    """A build of three steps, by the real Ninja."""
    ninja = shutil.which("ninja")
    if ninja is None:
        print("skip the progress of a build: there is no Ninja", flush=True)
        return
    rules = "rule step\n command = echo says $out && test $out != bad && touch $out\n"
    for last in ("c", "bad"):
        build = directory / f"build-{last}"
        build.mkdir()
        steps = f"build a: step\nbuild b: step a\nbuild {last}: step b\n"
        (build / "build.ninja").write_text(rules + steps, encoding="ascii")
    command = 'set -euo pipefail; source "$0"; progress label "$1" -C "$2"'
    script = os.path.join(source, "tools/progress.sh")

    done = run("bash", "-c", command, script, ninja, directory / "build-c")
    lines = done.stdout.splitlines()
    check("a build says how far it is", done.returncode == 0 and len(lines) >= 2 and lines[0].startswith("label: [1/3], ") and
          re.fullmatch(r"label: \[3/3\], \d+ s", lines[-1]) is not None, f"exit code {done.returncode}, {lines}")
    check("and nothing else", "says" not in done.stdout + done.stderr)
    done = run("bash", "-c", command, script, ninja, directory / "build-bad")
    check("one that fails says why, and fails", done.returncode != 0 and "says bad" in done.stderr, f"exit code {done.returncode}")

    for name in "abc":
        (directory / "build-c" / name).unlink(missing_ok=True)
    code, text = on_a_terminal("bash", "-c", command, script, ninja, directory / "build-c")
    shown = re.findall(r"\rlabel: \[(\d)/3\], \d+ s\033\[K", text)
    check("on a terminal in place", code == 0 and {"1", "2", "3"} <= set(shown) and text.count("\n") == 1, f"{text!r}")


UP = re.compile(r"\r\033\[(\d)A\033\[J")


def lines_of(text):
    return UP.sub("", text).split("\r\n")


def live_report(examples):
    """What echo_server --stats shows."""
    server = os.path.join(examples, "echo_server")
    stats = (server, "--stats", "20ms")

    code, text = on_a_terminal(*stats, signals=(signal.SIGUSR1, signal.SIGINT))
    first, ups = text.partition("\r\033")[0], UP.findall(text)
    check("on a terminal, echo_server --stats shows a block at once", code == 0 and
          re.fullmatch(r"listening .*\r\nchatting +0 .*\r\nsilent +0 .*\r\nrates .*\r\nlateness .*\r\n", first) is not None, f"{first!r}")
    check("draws it again in place", len(ups) >= 2 and set(ups) == {"4"} and text.count("\033") == 2 * len(ups), f"{ups}")
    check("but not over what was printed in between", re.search(r"\r\none wheel, .*\r\nchatting ", text) is not None, f"{text[-900:]!r}")
    check("ends below it", re.search(r"\r\nlateness .*\r\nserved ", text) is not None)
    check("and takes 80 columns if the terminal has no size", max(map(len, lines_of(text.partition("served")[0]))) < 80)

    code, text = on_a_terminal(*stats, "--seconds", "1", columns=30)
    widths = {len(line) for line in lines_of(text.partition("served")[0])[1:]}
    check("on a narrow terminal it is cut", code == 0 and max(widths) == 29, f"{widths}")

    code, text = on_a_terminal(*stats, "--seconds", "1", term="dumb")
    check("a dumb terminal gets plain lines", code == 0 and text.count("\r\nopen 0 | ") > 2 and "\033" not in text, f"{text[:200]!r}")
    done = run(*stats, "--seconds", "1")
    lines = done.stderr.splitlines()
    check("and so does what is no terminal", done.returncode == 0 and len(lines) > 2 and
          all(line.startswith("open 0 | ") for line in lines) and "\033" not in done.stderr, f"{lines[:3]}")


def demo(source, examples, directory):
    script = os.path.join(source, "tools/demo.sh")
    done = run(script)
    check("what there will be to see is said before", done.returncode == 0 and "has to be closed\ndemo: 2 s later" in done.stdout and
          max(map(len, done.stdout.splitlines())) < 80)

    done = run(script, examples, "--connections", "200")
    check("kept promises are the last line", done.returncode == 0 and done.stdout.endswith("\ndemo: all promises kept\n"),
          f"exit code {done.returncode}, {done.stdout[-200:]!r}, {done.stderr[-200:]!r}")
    conclusion = re.search(r"\none wheel, ([\d,]+) wake-ups; a timer for each connection would have had ([\d,]+)\ndemo: ", done.stdout)
    fired = re.search(r" (\d+) fired", done.stdout)
    check("before it, what the wheel saved", conclusion is not None and fired is not None and
          conclusion[2].replace(",", "") == fired[1], f"{done.stdout[-200:]!r}")
    check("without a terminal, progress is plain lines", re.fullmatch(r"( *[\d.]+ s \| open \d+ .*\n)+", done.stderr) is not None,
          f"{done.stderr[:200]!r}")
    check("and what 'fired' means is said", re.search(r"(?m)^ +fired: ", done.stdout) is not None)

    code, text = on_a_terminal(script, examples, "--connections", "20", "--seconds", "4", columns=80)
    first, ups = text.partition("\r\033")[0], UP.findall(text)
    check("on a terminal, a view appears before anything happens", "\r\ntime      0.0 s of 4.0 s, 0 of 20 connected, 0 have left" in first, f"{first!r}")
    check("is drawn again in place", len(ups) > 2 and set(ups) == {"6"} and max(map(len, lines_of(text))) < 80, f"{ups}")
    check("ends with all that were silent closed", re.search(r"20 of 20 connected, 10 have left\r\nchatting +0 +\r\nsilent +0 +\r\n"
          r"closed +10  #{25}\r\n.*\r\n.*\r\n  connections ", text) is not None, f"{text[-1500:-900]!r}")
    check("and the verdict comes below", code == 0 and text.endswith("\r\ndemo: all promises kept\r\n"), f"exit code {code}")

    done = run(script, "--watch")
    check("--watch: what there will be to see is said before", "takes a minute" in done.stdout and max(map(len, done.stdout.splitlines())) < 80)
    watched = subprocess.Popen([script, "--watch", examples, "--connections", "20", "--seconds", "4"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": ""})
    lines = [watched.stdout.readline() for _ in range(3)]
    page = re.fullmatch(r"demo: the page is (http://127\.0\.0\.1:\d+/)\n", lines[1])
    check("--watch: the address of the page is said at once", page is not None and "open it in a browser" in lines[2], f"{lines}")
    with urllib.request.urlopen(page[1], timeout=PATIENCE) as answer:
        check("--watch: the page is there", answer.read().startswith(b"<!DOCTYPE html>"))
    rest = watched.communicate(timeout=3 * PATIENCE)[0]
    check("--watch: the demo ends as without it", watched.returncode == 0 and rest.endswith("\ndemo: all promises kept\n") and
          "page on" not in rest, f"exit code {watched.returncode}, {rest[-200:]!r}")

    # One that closes too early.
    hasty = directory / "hasty"
    hasty.mkdir()
    (hasty / "echo_load").symlink_to(os.path.join(examples, "echo_load"))
    server = hasty / "echo_server"
    server.write_text(f'#!/bin/sh\nexec {examples}/echo_server "$@" --idle 1s\n', encoding="utf-8")
    server.chmod(0o755)
    done = run(script, hasty, "--connections", "20")
    last = (done.stderr.splitlines() or [""])[-1]
    check("broken promises are the last lines", done.returncode == 1 and last.startswith("demo: broken promise: ") and
          "all promises kept" not in done.stdout, f"exit code {done.returncode}, {last!r}")


def main():
    source, examples = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        progress(source, pathlib.Path(directory))
        live_report(examples)
        demo(source, examples, pathlib.Path(directory))
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
