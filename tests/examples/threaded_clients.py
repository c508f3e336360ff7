#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""threaded_clients.py THREADED_ECHO: checks the echo server of several loops with plain sockets, against its usage.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Nothing is judged for being
late, only for being early.
"""

import contextlib
import os
import re
import select
import signal
import socket
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, check_refusals, conclude, echo, eventually, hung_up, readable, seconds_until_closed


def counted(out, what):
    """What each thread says of it."""
    return [int(n) for n in re.findall(rf"(\d+) {what}", out)]


def all_threads_serve(binary):
    """With 64 clients, the odds against a thread without any are a million to one."""
    count = 64
    with Server(binary, "--threads", "3", "--idle", "60s") as server:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(count)]
            for number, client in enumerate(clients):
                client.sendall(b"%06d" % number)
            intact = sum(readable(client) and client.recv(6) == b"%06d" % number for number, client in enumerate(clients))
            check("clients of all threads are served", intact == count, f"{intact} echoes")
            code, out, err = server.end()
            ended = sum(client.recv(1) == b"" for client in clients)
        shares = counted(out, "connections")
        check("SIGTERM: exit code 0, and each connection ends in order", code == 0 and err == "" and ended == count,
              f"exit code {code}, {ended} ends, {err!r}")
        check("each thread had some", len(shares) == 3 and sum(shares) == count and min(shares) > 0, f"{shares}")


def idle_clients(binary):
    with Server(binary, "--idle", "1s") as server:
        with contextlib.ExitStack() as stack:
            clients = [(stack.enter_context(server.connect()), time.monotonic()) for _ in range(8)]
            first = time.monotonic()
            for client, _ in clients:
                echo(client, b"one word")
            took = [seconds_until_closed(client, first) for client, _ in clients]
            check("silent clients are closed, none before its limit", all(t is not None and t >= 1 for t in took),
                  f"after {min(t or 0 for t in took):.3f} s at least")
        code, out, _ = server.end(signal.SIGINT)
        check("SIGINT: exit code 0, and they are counted", code == 0 and sum(counted(out, "idle")) == 8, f"exit code {code}")


def suspended(binary):
    """What has arrived is not late, though the server has not looked at it."""
    with Server(binary, "--threads", "1", "--idle", "1s") as server, server.connect() as client:
        echo(client, b"one word")
        server.suspend()
        client.sendall(b"another")
        silent = not readable(client, 1.5)
        server.process.send_signal(signal.SIGCONT)
        check("a client that spoke in time while the server was suspended is not closed", silent and readable(client) and
              client.recv(7) == b"another")


def slow_reader(binary):
    """Says nothing for long, and takes what it has asked for in small pieces."""
    with Server(binary, "--threads", "1", "--idle", "1s") as server, narrow(server) as slow:
        slow.sendall(b"x" * 200_000)
        received, began = 0, time.monotonic()
        while time.monotonic() < began + 3:
            received += len(slow.recv(3000))
            hung_up(0.1, server.process.stdout)  # a pause
        with contextlib.suppress(ConnectionResetError):  # the server has closed it
            slow.sendall(b"y")
            while received <= 200_000 and (chunk := slow.recv(1 << 16)):
                received += len(chunk)
        check("a client that takes our bytes slowly is not idle", received == 200_001, f"{received} bytes")
        check("but is, once it has them all", seconds_until_closed(slow, time.monotonic()) is not None)


def is_full(sock):
    """Whether it takes nothing for half a second."""
    poller = select.poll()
    poller.register(sock, select.POLLOUT)
    return not poller.poll(500)


def fill(sock):
    """Sends until the server takes no more. Returns the number of bytes."""
    sock.setblocking(False)
    sent = 0
    while not is_full(sock):
        with contextlib.suppress(BlockingIOError):
            sent += sock.send(b"x" * 65536)
    sock.settimeout(PATIENCE)
    return sent


def narrow(server):
    """A client that cannot take much."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(PATIENCE)
    sock.connect(server.address)
    return sock


def refuses(server):
    try:
        with server.connect():
            return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it stops listening at this moment
        return False


def drain(binary):
    with Server(binary, "--threads", "1", "--idle", "60s", "--write-timeout", "60s", "--drain", "60s") as server:
        with narrow(server) as slow, server.connect() as quiet:
            echo(quiet, b"hello")
            fill(slow)
            server.process.send_signal(signal.SIGTERM)
            check("SIGTERM: a client without anything to come is let go", quiet.recv(1) == b"")
            check("and the server listens no more", eventually(lambda: refuses(server), server))
            check("but waits for one that has not read all", server.process.poll() is None)
            received = 0
            with contextlib.suppress(ConnectionResetError):  # some of what it sent had not reached the server
                while chunk := slow.recv(1 << 20):
                    received += len(chunk)
        code, out, err = server.end(0)
        check("which gets its bytes; exit code 0", code == 0 and err == "" and received > 65536 and counted(out, "cut") == [0],
              f"exit code {code}, {received} bytes")


def drain_limit(binary):
    with Server(binary, "--idle", "60s", "--write-timeout", "60s", "--drain", "500ms") as server:
        with narrow(server) as slow:
            fill(slow)
            began = time.monotonic()
            code, out, err = server.end()
            took = time.monotonic() - began
        check("--drain is over: exit code 1, it says so, and not before", code == 1 and "cut" in err and took >= 0.5 and
              sum(counted(out, "cut")) == 1, f"exit code {code} after {took:.2f} s, {err!r}")


def second_signal(binary):
    with Server(binary, "--idle", "60s", "--write-timeout", "60s", "--drain", "60s") as server:
        with narrow(server) as slow:
            fill(slow)
            server.process.send_signal(signal.SIGTERM)
            eventually(lambda: refuses(server), server)
            code, _, _ = server.end()
        check("a second signal ends it at once", code == -signal.SIGTERM, f"exit code {code}")


def never_reads(binary):
    with Server(binary, "--idle", "60s", "--write-timeout", "1s") as server:
        with narrow(server) as slow:
            fill(slow)
            gone = eventually(lambda: gone_from(slow), server)
        code, out, _ = server.end()
        check("a client that never reads is released by the write limit", gone and code == 0 and
              sum(counted(out, "did not read")) == 1, f"exit code {code}")


def gone_from(sock):
    try:
        return sock.send(b"y", socket.MSG_DONTWAIT) < 0
    except BlockingIOError:
        return False
    except OSError:
        return True


def max_connections(binary):
    with Server(binary, "--threads", "1", "--idle", "60s", "--max-connections", "2") as server:
        with server.connect() as first, server.connect() as second:
            in_time = echo(first, b"a") and echo(second, b"b")
            with server.connect() as third:
                refused = seconds_until_closed(third, time.monotonic()) is not None
            check("at --max-connections the next client is closed", in_time and refused)
            first.close()

            kept = []

            def served():
                if not kept:
                    with contextlib.suppress(ConnectionResetError, BrokenPipeError), server.connect() as fourth:
                        if echo(fourth, b"c"):
                            kept.append(fourth)
                return bool(kept)

            check("and is served when one has left", eventually(served, server))
        code, out, _ = server.end()
        check("of which it tells", code == 0 and counted(out, "refused")[0] >= 1, out)


def bad_command_lines(binary):
    check_refusals(binary, {
        "an unknown option": ["--frobnicate"],
        "no threads": ["--threads", "0"],
        "a bad duration": ["--idle", "soon"],
        "no time to drain": ["--drain", "0s"],
        "a port out of range": ["--port", "65536"],
        "a bad address": ["--address", "nowhere"],
        "a stray argument": ["now"],
    })


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    binary = os.path.abspath(sys.argv[1])
    all_threads_serve(binary)
    idle_clients(binary)
    suspended(binary)
    slow_reader(binary)
    drain(binary)
    drain_limit(binary)
    second_signal(binary)
    never_reads(binary)
    max_connections(binary)
    bad_command_lines(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
