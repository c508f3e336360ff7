#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""proxy_clients.py TCP_PROXY: clients and targets of the proxy over plain sockets, good, silent, deaf and absent ones.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Nothing is judged for being
late, only for being early.
"""

import contextlib
import os
import pathlib
import re
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, check_refusals, conclude, echo, eventually, hung_up, readable

IDLE, WRITE, DRAIN = 2.0, 1.0, 1.0


class Target:
    """A server with a thread for each connection. Without `serve`, its connections are for the test to take."""

    def __init__(self, serve=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.listener.settimeout(PATIENCE)
        self.port = self.listener.getsockname()[1]
        if serve:
            threading.Thread(target=self.loop, args=(serve,), daemon=True).start()

    def loop(self, serve):
        def one(sock):
            with sock, contextlib.suppress(OSError):
                sock.settimeout(PATIENCE)
                serve(sock)
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=(self.listener.accept()[0],), daemon=True).start()

    def take(self):
        sock = self.listener.accept()[0]
        sock.settimeout(PATIENCE)
        return sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def proxy(binary, target, *options, **how):
    host = "localhost" if "localhost" in options else "127.0.0.1"
    return Server(binary, "--target", f"{host}:{target.port}", *(o for o in options if o != "localhost"), **how)


def echoes(sock):
    while data := sock.recv(65536):
        sock.sendall(data)


def everything(sock):
    parts = []
    with contextlib.suppress(ConnectionError):
        while data := sock.recv(65536):
            parts.append(data)
    return b"".join(parts)


def receive(sock, size):
    """As many bytes as that, or all that come before the end."""
    data = b""
    while len(data) < size and (part := sock.recv(size - len(data))):
        data += part
    return data


def ends(sock):
    """Whether it ends, in good order or not."""
    try:
        return sock.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def number(text, what):
    return int(re.search(rf"(\d+) {what}", text)[1])


def traffic(binary):
    with Target(echoes) as target, proxy(binary, target, "localhost") as server:
        data = os.urandom(5_000_000)
        with server.connect() as sock:
            sender = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
            sender.start()
            check("5 MB there and back", everything(sock) == data)
            sender.join()
        code, out, err = server.end()
        check("exit code 0, and nothing to complain about", code == 0 and err == "", f"{code} {err!r}")
        check("10 MB are counted", number(out, "bytes") == 2 * len(data) and number(out, "done") == 1, out)

    with Target() as target, proxy(binary, target) as server, server.connect() as sock, target.take() as peer:
        sock.sendall(b"question")
        sock.shutdown(socket.SHUT_WR)
        check("the end of one direction arrives", everything(peer) == b"question")
        peer.sendall(b"answer")
        peer.close()
        check("and the other one goes on", everything(sock) == b"answer")

    with Target() as target, proxy(binary, target) as server, server.connect() as sock, target.take() as peer:
        sock.sendall(b"x")
        check("a byte has passed", peer.recv(1) == b"x")  # else it might be the connect that fails
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
        check("a target that resets ends its client", ends(sock))
        out = server.end()[1]
        check("and is counted", number(out, "broken") == 1, out)


def silence(binary):
    with Target() as target, proxy(binary, target, "--idle", f"{IDLE}s") as server:
        began = time.monotonic()
        with server.connect() as quiet, target.take() as peer:
            with server.connect() as spoken_to, target.take() as speaker:
                longest, last = 0.0, time.monotonic()
                with contextlib.suppress(OSError):  # the proxy may be right to end it: see below
                    for _ in range(6):
                        hung_up(IDLE / 4, spoken_to)
                        speaker.sendall(b"x")
                        now = time.monotonic()
                        longest, last = max(longest, now - last), now
                check("a silent connection ends", ends(quiet) and ends(peer))
                if longest < IDLE:  # else this machine has kept us from speaking
                    check("what one side says keeps both open", receive(spoken_to, 6) == b"x" * 6)
                    check("until it is silent", ends(spoken_to) and time.monotonic() >= last + IDLE,
                          f"{time.monotonic() - last:.3f} s after the last byte")
        check("none ends early", time.monotonic() >= began + IDLE)
        code, out, err = server.end()
        check("both are counted", code == 0 and err == "" and (number(out, "idle") == 2 or longest >= IDLE), f"{code} {out!r} {err!r}")


def deaf_client(binary):
    with Target() as target, proxy(binary, target, "--write", f"{WRITE}s") as server:
        before = memory(server)
        with server.connect() as sock, target.take() as peer:
            sent, began = 0, time.monotonic()
            with contextlib.suppress(OSError):
                while True:
                    sent += peer.send(b"x" * 65536)
            check("a client that never reads ends its target", time.monotonic() >= began + WRITE, f"{sent} bytes were taken")
            grown = memory(server) - before
            check("what it does not read is not kept", grown < 4000, f"{grown} KiB")
            with contextlib.suppress(ConnectionError):
                everything(sock)
        out = server.end()[1]
        check("it is counted as stuck", number(out, "stuck") == 1, out)


def memory(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status")
    return int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) if status.exists() else 0


def absent_target(binary):
    with Target() as target:
        target.listener.close()
        with proxy(binary, target) as server:
            for _ in range(3):
                with server.connect() as sock:
                    check("a client without a target ends", ends(sock))
            code, out, err = server.end()
            check("the trouble is told once", code == 0 and err.count("\n") == 1 and f"127.0.0.1:{target.port}" in err, err)
            check("and counted each time", number(out, "unreachable") == 3, out)
    with Target() as target, contextlib.ExitStack() as full:
        target.listener.listen(0)
        for _ in range(3):  # its queue is full: one more waits for ever
            sock = full.enter_context(socket.socket())
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", target.port))
        began = time.monotonic()
        with proxy(binary, target, "--connect", "400ms") as server, server.connect() as sock:
            check("one that does not answer is given up", ends(sock) and time.monotonic() >= began + 0.4)
            err = server.end()[2]
            check("and why is told", "timed out" in err, err)


def limits(binary):
    with Target(echoes) as target, proxy(binary, target, "--connections", "2") as server:
        first, second, third = (server.connect() for _ in range(3))
        check("two connections are served", echo(first, b"1") and echo(second, b"2"))
        third.sendall(b"3")
        check("a third one waits", not readable(third, 0.2))
        first.close()
        check("until one has gone", third.recv(1) == b"3")
        second.close()
        third.close()
        check("nothing is left", server.end()[0] == 0)

    with Target(echoes) as target, proxy(binary, target, descriptors=20) as server:
        with contextlib.ExitStack() as stack:
            socks = [stack.enter_context(server.connect()) for _ in range(30)]
            check("descriptors that are used up are told", readable(server.process.stderr))
            del socks

        def serves():
            with server.connect() as sock, contextlib.suppress(ConnectionError):
                return echo(sock, b"again")
        check("and it serves again when there are some", eventually(serves, server))
        check("without an error", server.end()[0] == 0)


def the_end(binary):
    with Target(echoes) as target, proxy(binary, target, "--drain", "60s") as server, server.connect() as sock:
        echo(sock, b"before")
        server.process.send_signal(signal.SIGTERM)

        def refuses():
            try:
                with server.connect():
                    return False
            except ConnectionRefusedError:
                return True
        check("at its end it takes no more", eventually(refuses))
        check("what is open goes on", echo(sock, b"after"))
        sock.close()
        code, out, err = server.end(0)
        check("and may end: exit code 0", code == 0 and err == "", f"{code} {out!r} {err!r}")

    with Target(echoes) as target, proxy(binary, target, "--drain", f"{DRAIN}s") as server, server.connect() as sock:
        echo(sock, b"before")
        began = time.monotonic()
        code, out, err = server.end()
        check("what does not end is cut: exit code 3", code == 3 and ends(sock) and number(out, "cut") == 1 and number(out, "done") == 0, f"{code} {out!r}")
        check("not before its time", time.monotonic() >= began + DRAIN and "1 tunnels" in err, err)

    with Target(echoes) as target, proxy(binary, target, "--drain", "1h") as server, server.connect() as sock:
        echo(sock, b"before")
        server.process.send_signal(signal.SIGTERM)
        hung_up(0.2, sock)
        code, out, err = server.end(signal.SIGINT)
        check("a second signal cuts at once", code == 3 and ends(sock), f"{code} {out!r} {err!r}")

    with Target() as target, proxy(binary, target) as server:
        server.process.send_signal(signal.SIGUSR1)
        check("SIGUSR1 tells how it goes", readable(server.process.stderr) and "0 tunnels open" in server.process.stderr.readline())
        check("and ends nothing", server.end()[0] == 0)


def main(binary):
    check_refusals(binary, {"an unknown option": ["--verbose"], "a limit that is no time": ["--idle", "soon"],
                            "a limit that is zero": ["--connect", "0"], "a target without a port": ["--target", "localhost"],
                            "a target without a host": ["--target", ":80"], "no connections": ["--connections", "0"]})
    traffic(binary)
    silence(binary)
    deaf_client(binary)
    absent_target(binary)
    limits(binary)
    the_end(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
