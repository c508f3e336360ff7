#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rude_rpc_servers.py RPC: servers that accept and do not serve, and what the client makes of them.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed.
"""

import concurrent.futures
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude

HEAD = struct.Struct(">IQB")
REQUEST, RESPONSE, PING = range(3)
SHORTEST_PAUSE = 0.020  # of the backoff between two connections


class Server:
    """Serves by `behave(connection)`, one after the other, and counts the connections."""

    def __init__(self, behave):
        self.behave = behave
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            with connection:
                connection.settimeout(PATIENCE)
                try:
                    self.behave(connection)
                except OSError:
                    pass  # the client has had enough

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def receive(connection):
    head = connection.recv(HEAD.size, socket.MSG_WAITALL)
    if len(head) < HEAD.size:
        raise OSError("the end")
    length, number, kind = HEAD.unpack(head)
    return number, kind, connection.recv(length - 9, socket.MSG_WAITALL) if length > 9 else b""


def closes(_):
    pass


def resets(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(message):
    return lambda connection: connection.sendall(message)


def answers(count, change=lambda body: body):
    def behave(connection):
        left = count
        while left:
            number, kind, body = receive(connection)
            if kind == REQUEST:
                left -= 1
                connection.sendall(HEAD.pack(9 + len(body), number, RESPONSE) + change(body))
    return behave


def is_silent(connection):
    while connection.recv(65536):
        pass


def run(binary, port, *options):
    """Returns (exit code, standard output, seconds)."""
    began = time.monotonic()
    done = subprocess.run([binary, "call", "--port", str(port), "--connections", "1", "--seconds", "2", *options], capture_output=True,
                          text=True, timeout=3 * PATIENCE)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


def case(name, behave, code, says_so, is_rare):
    """`is_rare`: no connection follows another one without a pause."""
    def judge(binary):
        server = Server(behave)
        returned, out, took = run(binary, server.port)
        server.close()
        yield f"{name}: exit code {code}, and it says so", returned == code and says_so in out, out.splitlines()[-1]
        if is_rare:
            yield f"{name}: a pause before each further connection", 0 < server.accepted <= took / SHORTEST_PAUSE + 2, \
                f"{server.accepted} connections in {took:.1f} s"
    return judge


def nobody_listens(binary):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    code, out, _ = run(binary, port)
    yield "no server: exit code 1, and it says so", code == 1 and "not one call was answered" in out, out.splitlines()[-1]


def nobody_accepts(binary):
    """The listener's queue is full: a connection hangs, and with it must not the end."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        queue = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
            queue.append(client)
        if select.select([], queue[-1:], [], 0.3)[1]:
            return  # not possible on this machine
        code, out, _ = run(binary, listener.getsockname()[1], "--connect", "1h")
        for client in queue:
            client.close()
    yield "a connection that hangs does not hold up the end", code == 1 and "0 connects" in out, out.splitlines()[-1]


NOT_ONE, ALL = "not one call was answered", "all accounted for"
CASES = [
    nobody_listens, nobody_accepts,
    case("accepts and closes", closes, 1, NOT_ONE, True),
    case("accepts and resets", resets, 1, NOT_ONE, True),
    case("talks nonsense", says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), 1, NOT_ONE, True),
    case("answers what was not asked", says(HEAD.pack(9, 1 << 40, RESPONSE)), 1, NOT_ONE, True),
    case("answers a ping and closes", says(HEAD.pack(9, 0, PING)), 1, NOT_ONE, True),
    case("is silent", is_silent, 1, NOT_ONE, True),
    case("answers once and closes", answers(1), 0, ALL, True),
    case("answers", answers(1 << 40), 0, ALL, True),
    case("answers wrongly", answers(1 << 40, bytes.upper), 1, "wrong answers", False),
]


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    binary = os.path.abspath(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        for outcomes in pool.map(lambda judge: list(judge(binary)), CASES):
            for outcome in outcomes:
                check(*outcome)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
