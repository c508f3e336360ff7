#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""demo_script.py SOURCE_TREE EXAMPLES: `./dev demo` without what takes minutes: what is said before, while it builds, and in the end."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=6 * PATIENCE)


def on_a_terminal(*command):
    """All that it prints to one."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
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


def demo(source, examples, directory):
    script = os.path.join(source, "tools/demo.sh")
    done = run(script)
    check("what there will be to see is said before", done.returncode == 0 and "has to be closed 2 s\ndemo: later" in done.stdout)

    done = run(script, examples, "--connections", "200")
    check("kept promises are the last line", done.returncode == 0 and done.stdout.endswith("\ndemo: all promises kept\n"),
          f"exit code {done.returncode}, {done.stdout[-200:]!r}, {done.stderr[-200:]!r}")
    check("and what 'fired' means is said", re.search(r"(?m)^ +fired: ", done.stdout) is not None)

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
        demo(source, examples, pathlib.Path(directory))
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
