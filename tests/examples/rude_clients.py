#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rude_clients.py RPC: clients that cost a server more than they should, and what it makes of them.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Every wait has a time limit.
What a server may take is the memory that it has ever taken, against a limit far above what it needs.
"""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, descriptors, eventually, hung_up, readable, sockets

REQUEST, RESPONSE, PING = range(3)
HEAD = struct.Struct(">IQB")
MEMORY = 100  # MB

# A sanitizer keeps what was freed: a quarter of a GB, unless it is told otherwise.
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=8"]))


def frame(kind, number, body=b""):
    return HEAD.pack(9 + len(body), number, kind) + body


def exactly(sock, size):
    """None when the stream ends before."""
    received = b""
    while len(received) < size:
        try:
            piece = sock.recv(min(size - len(received), 1 << 20))
        except ConnectionError:
            piece = b""
        if not piece:
            return None
        received += piece
    return received


def receive(sock):
    """(kind, number, body), or None at the end of the stream."""
    head = exactly(sock, HEAD.size)
    if head is None:
        return None
    length, number, kind = HEAD.unpack(head)
    body = exactly(sock, length - 9)
    return None if body is None else (kind, number, body)


def ping(sock):
    """What was sent before has been read when the answer is here."""
    sock.sendall(frame(PING, 0))
    return receive(sock) == (PING, 0, b"")


def is_served(server):
    with server.connect() as sock:
        sock.sendall(frame(REQUEST, 7, b"hello"))
        return receive(sock) == (RESPONSE, 7, b"hello")


def megabytes(server, what="VmHWM"):
    """VmHWM: the most it has ever had; VmRSS: what it has now."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(rf"{what}:\s*(\d+) kB", file.read())[1]) // 1024


def check_memory(name, server):
    most = megabytes(server)
    check(f"{name}: bounded memory", most < MEMORY, f"{most} MB at most")


def flood(sock, message, most, seconds):
    """Sends and never reads. Returns (bytes taken, whether the server has had enough)."""
    sock.setblocking(False)
    taken, at, end = 0, 0, time.monotonic() + seconds
    while taken < most and time.monotonic() < end:
        try:
            sent = sock.send(message[at:])
            taken, at = taken + sent, (at + sent) % len(message)
        except BlockingIOError:
            if hung_up(0.05, sock):
                return taken, True
        except ConnectionError:
            return taken, True
    return taken, False


def never_reads(binary):
    """Requests of all sizes, and pings, which are answered, too."""
    for name, message in {"requests of 64 KB": frame(REQUEST, 1, b"x" * 65536), "requests without a body": frame(REQUEST, 1) * 5000,
                          "pings": frame(PING, 0) * 5000}.items():
        with Server(binary, "--write-timeout", "1s") as server, server.connect() as sock:
            taken, dropped = flood(sock, message, 500_000_000, 4 * PATIENCE)  # sanitizers are slow
            check(f"a client that sends {name} and never reads is dropped", dropped, f"{taken} bytes taken")
            check_memory(f"never reads, {name}", server)
            check(f"never reads, {name}: others are served", is_served(server))
            code, out, _ = server.end()
            check(f"never reads, {name}: it is counted", code == 0 and "1 that did not read" in out)


def announces(binary):
    """13 bytes that promise a megabyte."""
    with Server(binary) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                stack.enter_context(server.connect()).sendall(HEAD.pack(9 + (1 << 20), 1, REQUEST))
            served = is_served(server) and is_served(server)
            check_memory("400 MB announced", server)
            check("400 MB announced: others are served", served)


def leaves(binary):
    """Asks for what takes an hour, and leaves."""
    with Server(binary, "--delay", "1h") as server:
        at_rest = sockets(server.process.pid)
        taken = 0
        for _ in range(1000):
            with server.connect() as sock:
                sock.sendall(frame(REQUEST, 1, b"x" * 200_000))
                taken += ping(sock)
        gone = eventually(lambda: sockets(server.process.pid) <= at_rest, server)
        check_memory("200 MB asked for by clients that have left", server)
        check("clients that have left are let go", gone and taken == 1000)

        with server.connect() as sock:  # is not read from any more: so its end is not read, either
            sock.sendall(frame(REQUEST, 1, b"x" * 65536) * 4 + frame(PING, 0))
            seen = eventually(lambda: sockets(server.process.pid) > at_rest, server)
        check("also one that is not read from", seen and eventually(lambda: sockets(server.process.pid) <= at_rest, server))


def drips(binary, first, piece, name):
    """A byte now and then is no way to stay."""
    with Server(binary, "--idle", "1s") as server, server.connect() as sock:
        sock.sendall(first)
        dropped, end = False, time.monotonic() + 6
        while not dropped and time.monotonic() < end:
            with contextlib.suppress(ConnectionError):
                sock.sendall(piece)
            dropped = hung_up(0.1, sock)
        check(f"a client that drips {name} is dropped", dropped)
        check(f"and others are not ({name})", is_served(server))


def pings_on(binary):
    """The same pace in whole frames is no drip."""
    with Server(binary, "--idle", "1s") as server, server.connect() as sock:
        alive, end = True, time.monotonic() + 3
        while alive and time.monotonic() < end:
            alive = ping(sock) and not hung_up(0.1, sock)
        check("a client that pings is not dropped", alive)


def summary(out, what):
    match = re.search(rf"(\d+) {what}", out)
    return int(match[1]) if match else -1


def limits(binary):
    """At each of them the clients wait, and all are served in the end."""
    for options, delay, clients, count, size, what, most in (
            (["--in-flight", "4"], "10ms", 10, 20, 100, "requests", 10 * 4),
            (["--all-in-flight", "4"], "10ms", 10, 20, 100, "requests", 4),
            (["--backlog", "1000"], "10ms", 10, 20, 500, "requests", 10 * 2),
            (["--bytes", "2097152"], "100ms", 30, 1, 200_000, "bytes at once", 2097152 + 200_000 + 30 * 4096)):
        with Server(binary, "--delay", delay, *options) as server, contextlib.ExitStack() as stack:
            socks = [stack.enter_context(server.connect()) for _ in range(clients)]
            for sock in socks:
                sock.sendall(b"".join(frame(REQUEST, i, b"x" * size) for i in range(count)))
            answered = sum(len({receive(sock)[1] for _ in range(count)}) for sock in socks)
            check(f"{' '.join(options)}: all are answered in the end", answered == clients * count, f"{answered} answers")
            stack.close()
            _, out, _ = server.end()
            seen = summary(out.splitlines()[-1], what)
            check(f"{' '.join(options)}: is reached and kept", most * 4 // 5 < seen <= most, f"{seen} {what}, limit {most}")


def unfinished(binary):
    """Frames that never become whole take all the bytes there are, for as long as a frame may take."""
    with Server(binary, "--bytes", "2097152", "--frame", "1s") as server, contextlib.ExitStack() as stack:
        for _ in range(6):
            sock = stack.enter_context(server.connect())
            flood(sock, frame(REQUEST, 1, b"x" * (1 << 20))[:600_000], 600_000, 0.2)
        check("frames that never become whole: others are served in the end", is_served(server))
        _, out, _ = server.end()
        check("frames that never become whole: and they are dropped", summary(out, "slow frames") >= 4, out.splitlines()[1])


def max_connections(binary):
    with Server(binary, "--connections", "2") as server:
        first, second, third = server.connect(), server.connect(), server.connect()
        with first, second, third:
            served = ping(first) and ping(second)
            third.sendall(frame(PING, 0))
            waits = not readable(third, 0.5)
            check("at --connections the next client waits", served and waits)
            first.close()
            check("and is served when one leaves", receive(third) == (PING, 0, b""))


def drains(binary):
    """What has been asked is answered at the end, and the answers arrive though the client is still talking."""
    with Server(binary, "--delay", "1s") as server, server.connect() as idler, server.connect() as sock:
        idler.sendall(frame(PING, 0))
        sock.sendall(b"".join(frame(REQUEST, i, b"x" * 1000) for i in range(100)))
        sock.sendall(frame(PING, 0))
        answers = {}
        while (got := receive(sock))[0] != PING:  # now all have been read
            answers[got[1]] = got[2]
        server.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ConnectionError):
            sock.sendall(frame(REQUEST, 1000) * 1000)  # more of them than are read
        while got := receive(sock):
            answers[got[1]] = got[2]
        check("SIGTERM: what was asked is answered", all(answers.get(i) == b"x" * 1000 for i in range(100)), f"{len(answers)} answers")
        with contextlib.suppress(OSError):
            refused = False
            server.connect().close()
            refused = None
        check("SIGTERM: nobody is let in any more", refused is False)
        sock.close()
        idler.close()
        try:
            out, err = server.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            out, err = "", "it does not end"
        check("SIGTERM: exit code 0 when the clients have gone", server.process.returncode == 0 and err == "",
              f"exit code {server.process.returncode} {err}")


def ends_in_time(binary):
    """Whoever does not take its answers holds up no end."""
    with Server(binary, "--delay", "1h", "--grace", "500ms") as server, server.connect() as sock, server.connect() as idler:
        sock.sendall(frame(REQUEST, 1, b"hello"))
        asked = ping(sock) and ping(idler)
        code, out, _ = server.end()
        check("SIGTERM: the grace ends", asked and code == 0 and "1 requests, 0 answered" in out, f"exit code {code}")
        check("SIGTERM: and with it all connections", receive(sock) is None and receive(idler) is None)
    with Server(binary) as server:
        code, _, _ = server.end(signal.SIGINT)
        check("SIGINT without clients: exit code 0", code == 0)


def bad_frames(binary):
    with Server(binary) as server:
        for name, message in {"too short": HEAD.pack(8, 1, REQUEST), "too long": HEAD.pack(10 + (1 << 20), 1, REQUEST),
                              "of no kind": HEAD.pack(9, 1, 3)}.items():
            with server.connect() as sock:
                sock.sendall(message)
                check(f"a frame that is {name}: the client is dropped", receive(sock) is None)
        _, out, _ = server.end()
        check("bad frames are counted", "3 bad frames" in out)


def out_of_descriptors(binary):
    with open("/dev/full", "w", encoding="ascii") as full, Server(binary, descriptors=20, stderr=full) as server:
        at_rest = descriptors(server.process.pid)
        is_served(server)  # the first time it sees a type, the runtime of -fsanitize=vptr opens a pipe
        eventually(lambda: descriptors(server.process.pid) <= at_rest, server)
        clients = [server.connect() for _ in range(40)]
        for sock in clients:
            sock.sendall(frame(PING, 0))
        served = []
        for sock in clients:
            if not readable(sock, 1) or receive(sock) is None:
                break
            served.append(sock)
        for sock in served:
            sock.close()
        waiting = clients[len(served):][:len(served)]
        answered = sum(receive(sock) == (PING, 0, b"") for sock in waiting)
        check("out of descriptors: accepts again when some have left", 0 < len(served) < len(clients) and answered == len(served),
              f"{len(served)} of {len(clients)} were in, {answered} more are")
        for sock in clients:
            sock.close()


def bad_command_lines(binary):
    for name, options in {
            "no connections": ["--connections", "0"],
            "nothing in flight": ["--in-flight", "0"],
            "nothing in flight of all": ["--all-in-flight", "0"],
            "no backlog": ["--backlog", "0"],
            "fewer bytes than two frames": ["--bytes", "2097151"],
            "no time for a frame": ["--frame", "0"],
            "no time for a write": ["--write-timeout", "0s"],
            "a grace without a unit": ["--grace", "5"],
            "an unknown option": ["--frobnicate"],
    }.items():
        done = subprocess.run([binary, *options], capture_output=True, text=True, timeout=PATIENCE)
        check(f"{name}: exit code 2 and one line", done.returncode == 2 and done.stdout == "" and
              len(done.stderr.splitlines()) == 1, done.stderr.strip())


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    binary = os.path.abspath(sys.argv[1])
    never_reads(binary)
    announces(binary)
    leaves(binary)
    drips(binary, b"", b"\0", "a head")
    drips(binary, HEAD.pack(1000, 1, REQUEST), b"x", "a body")
    pings_on(binary)
    limits(binary)
    unfinished(binary)
    max_connections(binary)
    drains(binary)
    ends_in_time(binary)
    bad_frames(binary)
    out_of_descriptors(binary)
    bad_command_lines(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
