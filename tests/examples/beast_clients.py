#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""beast_clients.py BEAST_SERVER: HTTP and WebSocket clients over plain sockets, good, slow, silent and rude ones.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Nothing is judged for being
late, only for being early.
"""

import base64
import hashlib
import os
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, check_refusals, conclude

REQUEST, KEEP_ALIVE, WRITE, SILENCE, DRAIN = 1.0, 1.5, 1.5, 0.8, 3.0
LIMITS = [text for name, seconds in (("request", REQUEST), ("keep-alive", KEEP_ALIVE), ("write", WRITE),
                                     ("silence", SILENCE), ("drain", DRAIN))
          for text in (f"--{name}", f"{seconds}s")]
GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


def read_answer(sock, data=b""):
    """(status, body, rest) of one answer; status 0: the connection ended first."""
    try:
        while b"\r\n\r\n" not in data:
            chunk = sock.recv(4096)
            if not chunk:
                return 0, b"", data
            data += chunk
        head, rest = data.split(b"\r\n\r\n", 1)
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        while len(rest) < length:
            rest += sock.recv(4096)
    except ConnectionError:
        return 0, b"", data
    return int(head.split(b" ")[1]), rest[:length], rest[length:]


def rest_of(sock):
    """Reads to the end; returns what came."""
    data = b""
    try:
        while chunk := sock.recv(65536):
            data += chunk
    except ConnectionError:
        pass
    return data


def frame(opcode, payload, mask=b"\x01\x02\x03\x04"):
    length = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0x80 | 126, len(payload))
    return bytes([0x80 | opcode]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def read_exactly(sock, count):
    data = b""
    while len(data) < count:
        chunk = sock.recv(count - len(data))
        if not chunk:
            raise ConnectionError
        data += chunk
    return data


def read_message(sock):
    """(opcode, payload) of a whole message, or None at the end of the connection."""
    try:
        opcode, payload, last = read_frame(sock)
        while not last:
            _, more, last = read_frame(sock)
            payload += more
        return opcode, payload
    except ConnectionError:
        return None


def read_frame(sock):
    """(opcode, payload, whether it is the last one of its message)."""
    first, length = read_exactly(sock, 2)
    if length == 126:
        (length,) = struct.unpack("!H", read_exactly(sock, 2))
    elif length == 127:
        (length,) = struct.unpack("!Q", read_exactly(sock, 8))
    return first & 15, read_exactly(sock, length), first & 128 != 0


def upgraded(server):
    sock = server.connect()
    key = base64.b64encode(os.urandom(16))
    sock.sendall(b"GET /echo HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += read_exactly(sock, 1)
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    if b" 101 " not in head or accept not in head:
        raise RuntimeError(f"no upgrade: {head!r}")
    return sock


def http(server):
    with server.connect() as sock:
        sock.sendall(GET + GET)  # pipelined
        status, body, rest = read_answer(sock)
        check("a request is answered", (status, body) == (200, b"hello\n"), f"{status} {body!r}")
        status, body, rest = read_answer(sock, rest)
        check("so is the next one on the connection", (status, body) == (200, b"hello\n"), f"{status} {body!r}")
        sock.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 65536\r\n\r\n" + b"x" * 65536)
        status, body, rest = read_answer(sock, rest)
        check("a body of the largest size comes back", (status, body) == (200, b"x" * 65536), f"{status} {len(body)}")
        sock.sendall(b"DELETE / HTTP/1.1\r\nHost: here\r\n\r\n")
        check("another method is refused", read_answer(sock, rest)[0] == 405)
        began = time.monotonic()
        rest = rest_of(sock)
        took = time.monotonic() - began
        check("a silent connection is closed, not before its time", rest == b"" and took >= KEEP_ALIVE - 0.02, f"{took:.2f} s")


def bad_http(server):
    for name, text, wanted in (
            ("a body that is too large", b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 65537\r\n\r\n", 413),
            ("a head that is too large", b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431),
            ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400)):
        with server.connect() as sock:
            sock.sendall(text)
            status, _, rest = read_answer(sock)
            check(f"{name}: {wanted}, and the end", status == wanted and rest + rest_of(sock) == b"", str(status))
    for name, text in (("slow head", b"GET / HT"), ("slow body", b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")):
        with server.connect() as sock:
            began = time.monotonic()
            sock.sendall(text)
            status = read_answer(sock)[0]
            took = time.monotonic() - began
            check(f"a {name}: 408, not before its time", status == 408 and took >= REQUEST - 0.02, f"{status} after {took:.2f} s")


def websockets(server):
    with upgraded(server) as sock:
        for text in (b"hello", b"x" * 60000):
            sock.sendall(frame(1, text))
            check(f"a message of {len(text)} bytes comes back", read_message(sock) == (1, text))
        began, pings = time.monotonic(), 0
        while pings < 4:
            opcode, payload = read_message(sock) or (None, b"")
            if opcode != 9:
                break
            pings += 1
            sock.sendall(frame(10, payload))
        took = time.monotonic() - began
        check("who answers pings stays", pings == 4 and took >= 4 * SILENCE - 0.1, f"{pings} pings in {took:.2f} s")
        sock.sendall(frame(1, b"still here"))
        check("and is served", read_message(sock) == (1, b"still here"))
    with upgraded(server) as sock:
        began = time.monotonic()
        first = read_message(sock)
        last = read_message(sock)
        took = time.monotonic() - began
        check("who does not answer a ping is closed, not before its time", first == (9, b"") and last is None
              and took >= 2 * SILENCE - 0.02, f"{first} {last} after {took:.2f} s")
    with upgraded(server) as sock:
        sock.sendall(b"\x81\xff" + struct.pack("!Q", 65537) + b"\0" * 4)
        last = read_message(sock)
        check("a message that is too large ends the connection", last == (8, struct.pack("!H", 1009)), str(last)[:99])
    with upgraded(server) as sock:
        sock.sendall(frame(8, struct.pack("!H", 1000)))
        closed = read_message(sock)
        check("a close is answered", closed is not None and closed[0] == 8 and read_message(sock) is None, str(closed))


def never_reads(server):
    """Sends messages and reads none of them: the server's write waits, and then ends the connection."""
    with upgraded(server) as sock:
        sock.settimeout(0.2)
        message, began, sent = frame(1, b"z" * 60000), time.monotonic(), 0
        while time.monotonic() - began < PATIENCE:
            try:
                sock.sendall(message)
                sent += 1
            except TimeoutError:
                continue
            except ConnectionError:
                break
        took = time.monotonic() - began
        check("a client that never reads is dropped, not before its time", WRITE - 0.02 <= took < PATIENCE, f"{took:.2f} s, {sent} messages")


def the_end(binary):
    server = Server(binary, *LIMITS)
    with server.connect() as idle, upgraded(server) as sock, server.connect() as busy:
        busy.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nab")
        sock.sendall(frame(1, b"last"))
        check("a message before the end", read_message(sock) == (1, b"last"))
        server.process.send_signal(signal.SIGTERM)
        check("the end closes a connection without a request", rest_of(idle) == b"")
        closed = read_message(sock)
        check("a WebSocket is told", closed == (8, struct.pack("!H", 1001)), str(closed))
        sock.sendall(frame(8, struct.pack("!H", 1001)))
        busy.sendall(b"cd")
        status, body, _ = read_answer(busy)
        check("a request under way is answered", (status, body) == (200, b"abcd"), f"{status} {body!r}")
    code, out, err = server.end(0)  # no second signal: it would meet a program that no longer waits for one
    check("and the exit code is 0", code == 0 and err == "", f"{code} {out!r} {err!r}")


def main(binary):
    check_refusals(binary, {"an unknown option": ["--verbose"], "a limit that is no time": ["--request", "soon"],
                            "a limit that is zero": ["--write", "0"], "an option without its value": ["--port"]})
    server = Server(binary, *LIMITS)
    http(server)
    bad_http(server)
    websockets(server)
    never_reads(server)
    code, out, err = server.end()
    check("exit code 0, and nothing to complain about", code == 0 and err == "", f"{code} {out!r} {err!r}")
    the_end(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
