#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""demo_durable_script.py SOURCE_TREE EXAMPLES: `./dev demo durable`, shortened: what it says in the end, and what it leaves behind."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from redis_process import installed
from server_process import PATIENCE, check, conclude, eventually

SHORT = ("--count", "200", "--seconds", "2")


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * PATIENCE)


def left(marker):
    """The processes whose command lines name the directory."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                pass
    return found


def wrapper(directory, examples, body):
    """A program `webhooks` that does something else with what the real one says."""
    directory.mkdir()
    script = directory / "webhooks"
    script.write_text(f'#!/bin/bash\nreal={examples}/webhooks\n{body}\n', encoding="utf-8")
    script.chmod(0o755)
    return str(directory)


def main():
    source, examples = sys.argv[1:]
    script = os.path.join(source, "tools/demo_durable.py")
    done = run(script)
    check("what there will be to see is said before", done.returncode == 0 and done.stdout.startswith("demo: 2,000 HTTP callbacks"))
    if not installed():
        print("skip the demo: redis-server is not installed", flush=True)
        return conclude()
    with tempfile.TemporaryDirectory() as name:
        os.environ["TMPDIR"] = name
        directory = pathlib.Path(name)
        done = run(script, examples, *SHORT)
        sums = dict(re.findall(r"(?m)^(\w+) +(\d+)", done.stdout))
        check("kept promises are the last line", done.returncode == 0 and done.stdout.endswith("\ndemo: all promises kept\n"),
              f"exit code {done.returncode}, {done.stdout[-600:]!r}, {done.stderr[-300:]!r}")
        check("and the table adds up", (sums.get("delivered"), sums.get("lost"), sums.get("early")) == ("200", "0", "0"), f"{sums}")
        check("the lateness is shown", re.search(r"(?m)^lateness +p50 [\d.]+ ms, p99 [\d.]+ ms", done.stdout) is not None)
        check("nothing is left", left(name) == [], f"{left(name)}")

        # Due times that are too late by five seconds: all callbacks seem early.
        hasty = wrapper(directory / "hasty", examples, 'if [[ $1 == --schedule ]]; then "$real" "$@" | '
                        'while read -r word id due; do [[ $word != due ]] || due=$((due + 5000)); echo "$word${id:+ $id $due}"; done; '
                        'else exec "$real" "$@"; fi')
        done = run(script, hasty, *SHORT)
        check("broken promises are said, and fail", done.returncode == 1 and "broken promise" in done.stderr and
              "all promises kept" not in done.stdout, f"exit code {done.returncode}, {done.stdout[-300:]!r}")

        broken = wrapper(directory / "broken", examples, 'if [[ $1 == --work ]]; then echo "no worker today" >&2; exit 2; fi; exec "$real" "$@"')
        done = run(script, broken, *SHORT)
        check("a program that does not start is named", done.returncode == 1 and "no worker today" in done.stderr and
              done.stderr.count("\n") == 1, f"exit code {done.returncode}, {done.stderr!r}")
        check("and nothing is left", left(name) == [], f"{left(name)}")

        with open(directory / "out", "wb") as out:
            process = subprocess.Popen([script, examples, *SHORT], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        begun = eventually(lambda: b"three workers" in (directory / "out").read_bytes())
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)
        check("Ctrl-C ends it", begun and code == 130 and b"Traceback" not in (directory / "out").read_bytes(), f"exit code {code}")
        check("and leaves nothing", eventually(lambda: left(name) == []), f"{left(name)}")
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
