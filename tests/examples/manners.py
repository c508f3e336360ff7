#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""manners.py DIRECTORY EXAMPLE...: what each example with options does as a program: --help, unknown options, output that cannot be written.

And of those that serve: an address that is taken, descriptors that are used up, SIGUSR1, the width of a live view.
"""

import concurrent.futures
import contextlib
import fcntl
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, readable

SERVERS = ("echo_server", "rpc", "webhooks", "wheel_monitor")

DIRECTORY = tempfile.TemporaryDirectory()

# What makes them short. Those that need a server are given the port of one; no word here: none is needed.
ARGUMENTS = {
    "cron_table": ["--file", "/dev/null", "--seconds", "1"],
    "durable_reminders": ["--data", DIRECTORY.name, "--add", "tea 1ms ready", "--no-wait"],
    "echo_load": ["--port", "echo_server", "--connections", "2", "--idle", "200ms", "--chat", "50ms", "--seconds", "2"],
    "echo_server": ["--seconds", "600"],
    "rpc": ["call", "--port", "rpc", "--seconds", "1"],
    "tcp_proxy": ["--port", "0"],
    "webhooks": ["--seconds", "600"],
    "wheel_monitor": ["--seconds", "600"],
}


def run(*command, **how):
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    # As from a shell: Python ignores SIGPIPE, and what it starts would, too.
    try:
        return subprocess.run(command, text=True, timeout=PATIENCE, restore_signals=True, **how)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, "none, it did not end", "", "")


def ends(name, command):
    """The end of one whose output nobody reads, or that has nowhere to go."""
    results = []
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run(*command, stdout=full)
        results.append((f"{name}: a full device is an error", done.returncode == 1 and "standard output" in done.stderr,
                        f"exit code {done.returncode}, {done.stderr[-200:]!r}"))
        done = run(*command[:1], "--help", stdout=full)
        results.append((f"{name} --help: a full device is an error", done.returncode == 1 and "standard output" in done.stderr,
                        f"exit code {done.returncode}, {done.stderr[-200:]!r}"))
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*command, stdout=writing)
    os.close(writing)
    results.append((f"{name}: a reader that has gone ends it quietly",
                    done.returncode == 141 and name + ":" not in done.stderr,
                    f"exit code {done.returncode}, {done.stderr[-200:]!r}"))
    return results


def words(name, binary):
    done = run(binary, "--help")
    yield (f"{name} --help", done.returncode == 0 and done.stdout.startswith("usage: " + name) and done.stderr == "",
           f"exit code {done.returncode}, {done.stdout[:60]!r}")
    with open("/dev/full", "w", encoding="ascii") as full:
        for what, how in ("", {}), (", which cannot be said", {"stderr": full}):
            done = run(binary, "--no-such-option", **how)
            said = how or "'--no-such-option'" in done.stderr and done.stderr.count("\n") == 1
            yield (f"{name}: an unknown option{what}", done.returncode == 2 and done.stdout == "" and bool(said),
                   f"exit code {done.returncode}, {(done.stderr or '')[:80]!r}")


def every_example(directory, names):
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(os.path.join(directory, name))) for name in SERVERS if name in names}
        ports = {name: str(server.address[1]) for name, server in servers.items()}
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as workers:
            ending = []
            for name in names:
                binary = os.path.join(directory, name)
                for one in words(name, binary):
                    check(*one)
                command = [binary, *(ports.get(word, word) for word in ARGUMENTS.get(name, []))]
                ending.append(workers.submit(ends, name, command))
            for one in ending:
                for result in one.result():
                    check(*result)


def an_address_that_is_taken(name, binary):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(binary, "--port", str(port))
    check(f"{name}: an address that is taken is named", done.returncode == 2 and f"127.0.0.1:{port}" in done.stderr,
          f"exit code {done.returncode}, {done.stderr!r}")


def descriptors_used_up(name, binary):
    with Server(binary, descriptors=20) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(server.connect())
            said = readable(server.process.stderr)
            check(f"{name}: descriptors that are used up are said", said)
            line = server.process.stderr.readline() if said else ""
            check(f"{name}: in words", "cannot accept" in line and "Too many open files" in line, line)
        code, _, rest = server.end()
        check(f"{name}: once", code == 0 and rest == "", f"exit code {code}, {rest!r}")


def descriptors_of_a_client(directory):
    with Server(os.path.join(directory, "rpc")) as server:
        done = run("/bin/sh", "-c", 'ulimit -n 20; exec "$0" "$@"', os.path.join(directory, "rpc"), "call", "--port",
                   str(server.address[1]), "--connections", "40", "--seconds", "1")
        check("rpc call: descriptors that are used up are said, once", done.stderr.count("Too many open files") == 1,
              f"exit code {done.returncode}, {done.stderr!r}")


def statistics_at_sigusr1(name, binary):
    with Server(binary) as server:
        texts = []
        for _ in range(2):
            server.process.send_signal(signal.SIGUSR1)
            said = server.process.stderr
            texts.append(os.read(said.fileno(), 65536).decode() if readable(said) else "")
        check(f"{name}: SIGUSR1 prints statistics, each time", all("0 " in text for text in texts), f"{texts}")
        code, out, _ = server.end()
        check(f"{name}: and goes on", code == 0 and re.search(r"\d+ (connections|served)", out) is not None, f"{out!r}")


def closed_standard_output(name, binary):
    """A peer must not be given the number of standard output, and what is printed."""
    done = run("/bin/sh", "-c", 'exec "$0" >&-', binary)
    check(f"{name}: a standard output that is closed is an error", done.returncode == 1 and "standard output" in done.stderr,
          f"exit code {done.returncode}, {done.stderr!r}")


def live_view(name, *command, columns, until):
    """On a terminal: a block that is drawn again in place, and fits."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, stdin=subprocess.DEVNULL,
                               env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    text = b""
    end = time.monotonic() + PATIENCE
    while text.count(b"\033[J") < until and time.monotonic() < end and readable(ours):
        try:
            text += os.read(ours, 65536)
        except OSError:  # its end
            break
    process.terminate()
    process.wait(PATIENCE)
    os.close(ours)
    lines = re.sub(r"\r\033\[\dA\033\[J", "", text.decode()).split("\r\n")
    widest = max(len(line) for line in lines)
    check(f"{name}: a live view on {columns} columns", text.count(b"\033[J") >= until and 10 < widest < columns,
          f"{widest} wide: {max(lines, key=len)!r}")


def main():
    directory, *names = sys.argv[1:]
    every_example(directory, names)
    for name in SERVERS:
        if name not in names:
            continue
        binary = os.path.join(directory, name)
        an_address_that_is_taken(name, binary)
        descriptors_used_up(name, binary)
        statistics_at_sigusr1(name, binary)
        closed_standard_output(name, binary)
    descriptors_of_a_client(directory)
    echo_server = os.path.join(directory, "echo_server")
    for columns in (40, 80):
        live_view("echo_server", echo_server, "--stats", "10ms", columns=columns, until=3)
        with Server(echo_server, "--idle", "1s") as server:
            live_view("echo_load", os.path.join(directory, "echo_load"), "--port", str(server.address[1]), "--idle", "1s",
                      "--connections", "2", columns=columns, until=3)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
