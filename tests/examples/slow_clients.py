#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""slow_clients.py SLOWLORIS_GUARD: good clients, slow ones and silent ones, over plain sockets.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Nothing is judged for being
late, only for being early. All clients run at once.
"""

import concurrent.futures
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, eventually, readable, sockets

WITHIN, GRACE, RATE = 3.0, 1.0, 100
GET = b"GET / HTTP/1.1\r\n"
END = b"\r\n\r\n"


def answer(sock):
    """The status line, or what there is of it when the connection ends. None: it does not end."""
    received = b""
    try:
        while chunk := sock.recv(4096):
            received += chunk
    except ConnectionError:
        pass
    except TimeoutError:
        return None
    return received.split(b"\r\n")[0].decode()


def client(server, pieces, pause):
    """Sends until it is through, or is answered. Returns (status line, seconds)."""
    began = time.monotonic()
    with server.connect() as sock:
        for piece in pieces:
            sock.sendall(piece)
            if not pause:
                continue
            sock.settimeout(pause)
            with contextlib.suppress(TimeoutError):
                if sock.recv(1, socket.MSG_PEEK):
                    break
        sock.settimeout(PATIENCE)
        return answer(sock), time.monotonic() - began


def case(name, pieces, pause, status, not_before=0.0):
    def judge(server):
        line, took = client(server, pieces, pause)
        return name, line is not None and line.startswith(f"HTTP/1.1 {status}") and took >= not_before, \
            f"{line} after {took:.2f} s"
    return judge


CASES = [
    case("a good client is served", [GET + b"Host: x" + END], 0, 200),
    case("a header in two pieces, cut within its end", [GET + b"Host: x\r\n\r", b"\n"], 0.2, 200),
    case("slow, but fast enough", [GET] + [b"x" * 100] * 7 + [END], 0.2, 200, GRACE),
    case("a silent client is late", [], 0, 408, GRACE),
    case("one that drips is late", (bytes([b]) for b in GET * 1000), 0.1, 408, GRACE),
    case("who sent much has not bought a long silence", [GET + b"x" * 4000], 0, 408, GRACE),
    case("fast enough, but without end", (b"x" * 30 for _ in range(1000)), 0.1, 408, WITHIN),
    case("too much", [GET + b"x" * 10000], 0, 431),
    case("too much and more", [GET + b"x" * 10000] * 20, 0, 431),
]


def all_left(server, at_rest):
    return eventually(lambda: sockets(server.process.pid) <= at_rest, server)


def many(server, at_rest, count):
    """Silent ones, which do not hang up either."""
    began = time.monotonic()
    clients = [server.connect() for _ in range(count)]
    statuses = [answer(sock) for sock in clients]
    check(f"{count} silent clients are all late", all(s and s.startswith("HTTP/1.1 408") for s in statuses) and
          time.monotonic() - began >= GRACE)
    check("and let go, though they do not hang up", all_left(server, at_rest),
          f"{at_rest} sockets at rest, {sockets(server.process.pid)} now")
    for sock in clients:
        sock.close()


def leaves_early(server, at_rest):
    all_left(server, at_rest)  # it may not have seen yet that the others left
    with server.connect() as sock:
        sock.sendall(GET)
        seen = eventually(lambda: sockets(server.process.pid) > at_rest, server)
    check("a client that leaves is let go", seen and all_left(server, at_rest))


def suspended(server, at_rest):
    """What has arrived is not late, though nobody has looked at it."""
    all_left(server, at_rest)
    with server.connect() as sock:
        sock.sendall(GET)
        eventually(lambda: sockets(server.process.pid) > at_rest, server)  # now its time runs
        server.suspend()
        sock.sendall(b"Host: x" + END)
        silent = not readable(sock, GRACE + 0.5)
        server.process.send_signal(signal.SIGCONT)
        line = answer(sock)
    check("a header that came in time while the server was suspended", silent and line == "HTTP/1.1 200 OK", str(line))


def bad_command_lines(binary):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for name, options in {
                "an unknown option": ["--frobnicate"],
                "no port": ["--rate", "5"],
                "a port out of range": ["--port", "65536"],
                "a port in use": ["--port", str(taken.getsockname()[1])],
                "a rate of zero": ["--port", "0", "--rate", "0"],
                "a grace period of zero": ["--port", "0", "--grace", "0s"],
                "a duration without a unit": ["--port", "0", "--within", "5"],
                "a stray argument": ["now"],
        }.items():
            done = subprocess.run([binary, *options], capture_output=True, text=True, timeout=PATIENCE)
            check(f"{name}: exit code 2 and one line", done.returncode == 2 and done.stdout == "" and
                  len(done.stderr.splitlines()) == 1, done.stderr.strip())


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    binary = os.path.abspath(sys.argv[1])
    with Server(binary, "--within", f"{WITHIN}s", "--grace", f"{GRACE}s", "--rate", str(RATE)) as server:
        at_rest = sockets(server.process.pid)
        with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
            for outcome in pool.map(lambda judge: judge(server), CASES):
                check(*outcome)
        leaves_early(server, at_rest)
        many(server, at_rest, 200)
        suspended(server, at_rest)
        with server.connect(), server.connect():
            code, out, err = server.end()
        check("SIGTERM: exit code 0 and a summary", code == 0 and err == "", out.splitlines()[0] if out else "")
        connections = sum(int(n) for n in re.findall(r"\d+", out.splitlines()[0])) if out else 0
        timers = re.search(r"(\d+) timers", out)
        check("a connection costs one timer, and one more if it was late", connections >= 200 and timers is not None and
              int(timers[1]) <= 2 * connections + 20, f"{connections} connections, {timers and timers[1]} timers")
    bad_command_lines(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
