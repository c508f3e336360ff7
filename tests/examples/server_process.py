# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""A server as a process under test, and what every check of it needs. Every wait has a time limit."""

import contextlib
import os
import re
import resource
import select
import signal
import socket
import subprocess
import time

PATIENCE = 20.0  # seconds after which anything awaited counts as never
TICK = 0.010

passed = 0
failed = 0


def check(name, holds, detail=""):
    """Counts and prints one check."""
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"{'ok  ' if holds else 'FAIL'} {name}{': ' + detail if detail else ''}", flush=True)


def conclude():
    """Prints the last line; returns the exit code."""
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def check_refusals(binary, command_lines):
    """Checks that each bad command line, and a port that is taken, end the program with exit code 2 and one line."""
    def check_refusal(name, options, named=""):
        done = subprocess.run([binary, *options], capture_output=True, text=True, timeout=PATIENCE)
        text = done.stderr.strip()
        check(f"{name}: exit code 2 and one line",
              done.returncode == 2 and done.stdout == "" and len(text.splitlines()) == 1 and named in text, text)

    for name, options in command_lines.items():
        check_refusal(name, options)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        check_refusal("a port in use", ["--port", port], named=port)


class Server:
    """The server as a process of its own, on a port that the system chose. stderr=None: closed."""

    patience = PATIENCE  # seconds in which it ends

    def __init__(self, binary, *options, descriptors=None, stderr=subprocess.PIPE, cwd=None, listen=("--port", "0")):
        def prepare():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            if stderr is None:
                os.close(2)

        self.process = subprocess.Popen([binary, *listen, *options], stdout=subprocess.PIPE, stderr=stderr, text=True,
                                        preexec_fn=prepare, cwd=cwd)
        first_line = self.process.stdout.readline() if readable(self.process.stdout) else ""
        match = re.fullmatch(r"listening on ([0-9.]+):([0-9]+)\n", first_line)
        if not match:
            self.process.kill()
            raise RuntimeError(f"the server began with {first_line!r}: {self.process.communicate()}")
        self.address = (match[1], int(match[2]))

    def connect(self):
        return socket.create_connection(self.address, timeout=PATIENCE)

    def suspend(self):
        """Returns when it does nothing any more. SIGCONT ends that."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def end(self, signal_number=signal.SIGTERM):
        """Returns (exit code, standard output, standard error)."""
        self.process.send_signal(signal_number)
        try:
            out, err = self.process.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            return None, out, err
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end(signal.SIGKILL)


def readable(file, seconds=PATIENCE):
    poller = select.poll()  # select() stops at 1,024 descriptors
    poller.register(file, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def hung_up(seconds, *files):
    """Whether the other side of one of them closes within that time. What it sent stays unread."""
    poller = select.poll()
    for file in files:
        poller.register(file, select.POLLRDHUP)
    return bool(poller.poll(seconds * 1000))


def eventually(condition, *servers):
    """Whether it comes true. The servers are looked at again and again: they tell nobody, but for their end."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        if hung_up(0.02, *(server.process.stdout for server in servers)):
            break
    return condition()


def echo(sock, message):
    """True if the message comes back; False if the connection ends instead."""
    sock.sendall(message)
    received = b""
    while len(received) < len(message):
        chunk = sock.recv(65536)
        if not chunk:
            return False
        received += chunk
    return received == message


def seconds_until_closed(sock, since):
    """Reads until the end of the stream. Returns the time from `since`, or None if it does not come."""
    sock.settimeout(PATIENCE)
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return None
    return time.monotonic() - since


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def sockets(pid):
    """Without the files and pipes that a runtime opens for a while: the same whenever a server is at rest."""
    def target(name):
        with contextlib.suppress(FileNotFoundError):  # closed since
            return os.readlink(f"/proc/{pid}/fd/{name}")
        return ""
    return sum(target(name).startswith("socket:") for name in os.listdir(f"/proc/{pid}/fd"))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
