#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""foreign_clients.py ECHO_SERVER: checks the echo server with plain sockets, against what its usage promises.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Every wait has a time
limit. How late a kick comes is reported and not judged, unless --strict is given (one tick + 50 ms).
"""

import argparse
import contextlib
import os
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import (PATIENCE, TICK, Server, check, check_refusals, conclude, cpu_seconds, descriptors, echo, eventually,
                            hung_up, readable, seconds_until_closed)
from many_connections import many

IDLE = 1.0


def judge_kick(name, before_send, after_receipt, closed, idle, strict):
    """`closed` lies between: never before the limit from the last send, late by the last receipt."""
    early = closed - before_send
    late = closed - after_receipt - idle
    check(f"{name}: no earlier than the idle limit", early >= idle, f"{early:.6f} s, limit {idle:.3f} s")
    lateness = f"{late * 1000:.2f} ms late"
    if strict:
        check(f"{name}: at most a tick and 50 ms later", late <= TICK + 0.050, lateness)
    else:
        print(f"     {lateness}", flush=True)


def talker_and_silent(binary, strict, *options):
    with Server(binary, "--idle", "1s", *options) as server:
        label = " ".join(options) or "one thread"
        talker_done = []

        def talk():
            with server.connect() as sock:
                end = time.monotonic() + 4
                alive = True
                count = 0
                while alive and time.monotonic() < end:
                    alive = echo(sock, b"still here %d\n" % count) and not readable(sock, 0.3)
                    count += 1
                talker_done.append((alive, count))

        talker = threading.Thread(target=talk)
        talker.start()

        with server.connect() as sock:
            before = time.monotonic()
            spoke = echo(sock, b"one word\n")
            after = time.monotonic()
            took = seconds_until_closed(sock, before)
            check(f"a silent client is closed ({label})", spoke and took is not None)
            if took is not None:
                judge_kick(f"a silent client ({label})", before, after, before + took, IDLE, strict)

        before = time.monotonic()
        with server.connect() as sock:
            after = time.monotonic()
            took = seconds_until_closed(sock, before)
            check(f"a client that never says a word is closed ({label})", took is not None)
            if took is not None:
                judge_kick(f"a client that never says a word ({label})", before, after, before + took, IDLE, strict)

        talker.join(PATIENCE)
        alive, count = talker_done[0] if talker_done else (False, 0)
        check(f"a talker is never kicked ({label})", alive, f"{count} messages in 4 s, one each 0.3 s")

        code, out, err = server.end()
        check(f"SIGTERM: exit code 0 and a summary ({label})", code == 0 and "kicked       2 idle" in out and err == "",
              f"exit code {code}, {len(out.splitlines())} lines")


def half_closed(binary):
    with Server(binary, "--idle", "60s") as server:
        with server.connect() as sock:
            sock.sendall(b"last words")
            sock.shutdown(socket.SHUT_WR)
            began = time.monotonic()
            received = b""
            with contextlib.suppress(TimeoutError):
                while chunk := sock.recv(65536):
                    received += chunk
            took = time.monotonic() - began
            check("a half-closed client gets its echo and is released", received == b"last words" and took < PATIENCE,
                  f"after {took:.3f} s")


def never_reads(binary, *options):
    label = " ".join(options) or "one thread"
    with Server(binary, "--idle", "60s", "--write-timeout", "1s", *options) as server:
        with server.connect() as sock:
            sock.settimeout(0.1)
            block = b"x" * 65536
            sent = 0
            last_progress = began = time.monotonic()
            released = False
            while time.monotonic() - began < PATIENCE:
                try:
                    sent += sock.send(block)
                    last_progress = time.monotonic()
                except TimeoutError:
                    continue
                except (ConnectionResetError, BrokenPipeError):
                    released = True
                    break
            blocked = time.monotonic() - last_progress
            check(f"a client that never reads is released by the write limit ({label})", released,
                  f"{sent} bytes taken, released {blocked:.2f} s after the last")
        code, out, _ = server.end(signal.SIGINT)
        check(f"SIGINT: exit code 0, and the kick is counted ({label})", code == 0 and "1 that did not read" in out)


def slow_reader(binary):
    """Reads a little all the time: each write moves on within its limit, and counts as activity."""
    with Server(binary, "--idle", "1s", "--write-timeout", "2s") as server:
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(server.address)
            sock.setblocking(False)
            received = 0
            began = time.monotonic()
            kicked = False
            while not kicked and time.monotonic() - began < 3:
                with contextlib.suppress(BlockingIOError):
                    sock.send(b"y" * 16384)
                kicked = hung_up(0.1, sock)
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    received += len(sock.recv(131072))
            check("a slow reader is not kicked", not kicked and received > 0, f"{received} bytes read in 3 s")


def steady_reader(binary):
    """Reads 100 kB a second from a queue of megabytes: a write may wait for longer than its limit, and than idleness."""
    with Server(binary, "--idle", "2s", "--write-timeout", "2s") as server:
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.connect(server.address)
            sock.setblocking(False)
            received = 0
            kicked = False
            began = time.monotonic()
            while not kicked and time.monotonic() - began < 6:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        sock.send(b"z" * 65536)
                kicked = hung_up(0.05, sock)
                with contextlib.suppress(BlockingIOError, ConnectionResetError):
                    received += len(sock.recv(5000))
            check("a steady reader of 100 kB/s is not kicked", not kicked and received > 0,
                  f"{received} bytes read in {time.monotonic() - began:.1f} s")
            sock.settimeout(PATIENCE)
            end = time.monotonic() + PATIENCE
            while not kicked and time.monotonic() < end:
                kicked = hung_up(1, sock)
            check("and is, once it reads no more", kicked)
        _, out, _ = server.end()
        check("of which the latter is counted", "1 that did not read" in out or "kicked       1 idle" in out,
              next((line for line in out.splitlines() if line.startswith("kicked")), ""))


def bad_command_lines(binary):
    check_refusals(binary, {
        "an unknown option": ["--frobnicate"],
        "a bad duration": ["--idle", "soon"],
        "a duration without a unit": ["--idle", "5"],
        "a negative duration": ["--idle", "-1s"],
        "a zero of no unit": ["--stats", "0x"],
        "a missing value": ["--port"],
        "a port out of range": ["--port", "65536"],
        "a bad address": ["--address", "nowhere"],
        "a tick of zero": ["--tick", "0ms"],
        "no slots": ["--slots", "0"],
        "too many slots": ["--slots", "65537"],
        "a stray argument": ["now"],
    })


def max_connections(binary):
    with Server(binary, "--idle", "60s", "--max-connections", "2") as server:
        first, second, third = server.connect(), server.connect(), server.connect()
        with first, second, third:
            served = echo(first, b"a") and echo(second, b"b")
            third.sendall(b"c")
            waits = not readable(third, 0.5)
            check("at --max-connections the next client waits", served and waits)
            first.close()
            check("and is served when one leaves", readable(third) and third.recv(1) == b"c")


def out_of_descriptors(binary):
    with Server(binary, "--idle", "60s", "--stats", "100ms", descriptors=20) as server:
        # It has run for a while: the first time it sees a type, the runtime of -fsanitize=vptr opens a pipe, or complains.
        check("a live line each --stats", readable(server.process.stderr))
        at_rest = descriptors(server.process.pid)
        with server.connect() as first:
            echo(first, b"hello")
        eventually(lambda: descriptors(server.process.pid) == at_rest, server)

        clients = [server.connect() for _ in range(40)]
        try:
            served = []
            for client in clients:
                client.sendall(b"hello")
            for client in clients:
                if readable(client, 1) and client.recv(5) == b"hello":
                    served.append(client)
                else:
                    break
            check("out of descriptors: those who are in are served", 0 < len(served) < len(clients) and
                  all(echo(client, b"again") for client in served), f"{len(served)} of {len(clients)} are in")

            waiting = [client for client in clients if client not in served]
            cpu_before = cpu_seconds(server.process.pid)
            answered_early = readable(waiting[0], 1)
            cpu = cpu_seconds(server.process.pid) - cpu_before
            check("out of descriptors: the others wait, and not in a busy loop", not answered_early and cpu < 0.5,
                  f"{cpu:.2f} s of CPU in 1 s")

            for client in served:
                client.close()
            answered = sum(readable(client) and client.recv(5) == b"hello" for client in waiting[:len(served)])
            check("and accepts again when some have left", answered == len(served), f"{answered} more are in")
        finally:
            for client in clients:
                client.close()
        code, _, err = server.end()
        check("out of descriptors: exit code 0, and it said so", code == 0 and "cannot accept" in err,
              next((line for line in err.splitlines() if "cannot accept" in line), ""))


def silenced(binary, name, stderr):
    """Descriptors run out, and the complaint about it cannot be written."""
    with Server(binary, "--idle", "60s", "--stats", "100ms", descriptors=20, stderr=stderr) as server:
        at_rest = descriptors(server.process.pid)
        with server.connect() as first:  # as above
            echo(first, b"hello")
        eventually(lambda: descriptors(server.process.pid) <= at_rest, server)
        hung_up(0.3, server.process.stdout)  # some live lines
        clients = [server.connect() for _ in range(40)]
        for client in clients:
            client.sendall(b"hello")
        served = []
        for client in clients:
            if not readable(client, 1) or client.recv(5) != b"hello":
                break
            served.append(client)
        for client in served:
            client.close()
        waiting = clients[len(served):][:len(served)]
        answered = sum(readable(client) and client.recv(5) == b"hello" for client in waiting)
        check(f"out of descriptors, stderr {name}: accepts again when some have left", 0 < len(served) < len(clients) and
              answered == len(served), f"{len(served)} of {len(clients)} were in, {answered} more are")
        for client in clients:
            client.close()
        code, out, _ = server.end()
        check(f"stderr {name}: exit code 0 and a summary", code == 0 and "accept       failed" in out, f"exit code {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("echo_server", help="path of the program")
    parser.add_argument("--strict", action="store_true", help="judge lateness too: at most one tick + 50 ms")
    parser.add_argument("--connections", type=int, default=0, metavar="N", help="also N connections at once")
    wanted = parser.parse_args()
    binary = os.path.abspath(wanted.echo_server)

    talker_and_silent(binary, wanted.strict)
    talker_and_silent(binary, wanted.strict, "--threads", "3")
    half_closed(binary)
    never_reads(binary)
    never_reads(binary, "--threads", "3")
    slow_reader(binary)
    steady_reader(binary)
    max_connections(binary)
    out_of_descriptors(binary)
    with open("/dev/full", "w", encoding="ascii") as full:
        silenced(binary, "full", full)
    silenced(binary, "closed", None)
    bad_command_lines(binary)
    if wanted.connections:
        many(binary, wanted.connections, wanted.strict)

    return conclude()


if __name__ == "__main__":
    sys.exit(main())
