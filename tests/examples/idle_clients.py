#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""idle_clients.py IDLE_ECHO: the echo server of one file: it closes idle connections, survives, and ends in good order."""

import contextlib
import socket
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, echo, eventually, hung_up, seconds_until_closed, sockets

PORT = {"listen": ("0",)}


def silent_and_talker(binary):
    with Server(binary, "1", **PORT) as server, server.connect() as talker, server.connect() as silent:
        before = time.monotonic()
        alive = echo(talker, b"a word") and echo(silent, b"a word")
        took = None
        while alive and took is None and time.monotonic() - before < PATIENCE:
            alive = echo(talker, b"still here") and not hung_up(0, talker)
            if hung_up(0.2, silent):
                took = time.monotonic() - before
        check("a silent client is closed, not before its limit", took is not None and took >= 1.0, f"after {took} s")
        check("a talker is not", alive)
        code, _, err = server.end()
        check("SIGTERM: exit code 0, and the idle connection was named", code == 0 and err.startswith("connection: ") and err.count("\n") == 1,
              f"exit code {code}, {err!r}")


def never_reads(binary):
    with Server(binary, "1", **PORT) as server, server.connect() as sock:
        sock.settimeout(0.1)
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while not hung_up(0, sock) and time.monotonic() - began < PATIENCE:
                with contextlib.suppress(TimeoutError):
                    sock.send(bytes(1 << 16))
        check("a client that sends and does not read is closed", time.monotonic() - began < PATIENCE)


def out_of_descriptors(binary):
    with Server(binary, "60", descriptors=20, **PORT) as server:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(30)]
            check("those that it has are served", echo(clients[0], b"first"))
            check("out of descriptors, it says so", "accept: " in server.process.stderr.readline())
        with server.connect() as sock:
            check("and serves again when some have left", echo(sock, b"again"))
        code, _, err = server.end()
        check("it said it once, and ends with 0", code == 0 and "accept: " not in err, f"exit code {code}, {err!r}")


def leaves_and_ends(binary):
    with Server(binary, "60", **PORT) as server:
        before = sockets(server.process.pid)
        with server.connect() as sock:
            sock.sendall(b"last words")
            sock.shutdown(socket.SHUT_WR)
            check("a client that has said all gets its echo, and the end", sock.recv(100) == b"last words" and
                  seconds_until_closed(sock, time.monotonic()) is not None)
        check("no socket is left", eventually(lambda: sockets(server.process.pid) <= before, server))
        with server.connect() as sock:
            echoed = echo(sock, b"a word")
            code, _, err = server.end()
            check("at the end, clients see the end of the stream", echoed and sock.recv(100) == b"")
        check("and the exit code is 0", code == 0 and err == "", f"exit code {code}, {err!r}")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            try:
                Server(binary, listen=(str(taken.getsockname()[1]),))
                check("a port that is taken", False)
            except RuntimeError as error:
                check("a port that is taken is an error", "idle_echo: " in str(error))


silent_and_talker(sys.argv[1])
never_reads(sys.argv[1])
out_of_descriptors(sys.argv[1])
leaves_and_ends(sys.argv[1])
sys.exit(conclude())
