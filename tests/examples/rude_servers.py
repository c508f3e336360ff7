#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rude_servers.py HTTP_GET_WITH_TIMEOUT: servers with all sorts of manners, and what the program makes of each.

Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Nothing is judged for being
late, only for being early. All cases run at once.
"""

import concurrent.futures
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude, hung_up

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
DONE, FAILED, USAGE, CONNECT, FIRST_BYTE, HEADER, BODY_IDLE, TOTAL = range(8)

BODY = random.Random(1).randbytes(1_000_000)


class Server:
    """Serves one client by `behave(connection, request)`, on a port that the system chose."""

    def __init__(self, behave, family=socket.AF_INET, address="127.0.0.1"):
        self.listener = socket.socket(family)
        self.listener.bind((address, 0))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)
        self.port = self.listener.getsockname()[1]
        self.request = b""
        self.thread = threading.Thread(target=self.run, args=(behave,), daemon=True)
        self.thread.start()

    def run(self, behave):
        try:
            connection, _ = self.listener.accept()
            with connection:
                connection.settimeout(PATIENCE)
                while b"\r\n\r\n" not in self.request:
                    self.request += connection.recv(4096)
                behave(connection)
        except OSError:
            pass  # the client has had enough
        finally:
            self.listener.close()


def until_hangup(connection):
    while connection.recv(4096):
        pass


def says(*pieces, pause=0.0, then=lambda connection: None):
    def behave(connection):
        for piece in pieces:
            connection.sendall(piece)
            if hung_up(pause, connection):
                return
        then(connection)
    return behave


def for_ever(piece, pause, first=b""):
    def behave(connection):
        connection.sendall(first)
        while not hung_up(pause, connection):
            connection.sendall(piece)
    return behave


def resets(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def in_chunks(body):
    numbers = random.Random(2)
    message, at = CHUNKED, 0
    while at < len(body):
        size = numbers.choice([1, 2, 100, 5_000, 70_000])
        part = body[at:at + size]
        message += b"%x%s\r\n%s\r\n" % (len(part), numbers.choice([b"", b";a=b", b" "]), part)
        at += size
    return message + b"0\r\nTrailer: value\r\n\r\n"


def in_odd_pieces(message):
    numbers = random.Random(3)
    pieces, at = [], 0
    while at < len(message):
        size = numbers.choice([1, 3, 1_000, 30_000])
        pieces.append(message[at:at + size])
        at += size
    return pieces


def run(binary, host, port, path, *options):
    """Returns (exit code, standard output, standard error, seconds)."""
    began = time.monotonic()
    done = subprocess.run([binary, host, str(port), path, *options], capture_output=True, timeout=3 * PATIENCE)
    return done.returncode, done.stdout, done.stderr.decode(), time.monotonic() - began


def one_line(text):
    return len(text.splitlines()) == 1


def case(name, behave, code, body, *options, not_before=0.0, path="/"):
    """`body` None: any."""
    def judge(binary):
        server = Server(behave)
        returned, out, err, took = run(binary, "127.0.0.1", server.port, path, *options)
        holds = returned == code and (body is None or out == body) and one_line(err) and took >= not_before
        return name, holds, f"exit code {returned}, {len(out)} bytes, {took:.2f} s, {err.strip()}"
    return judge


def the_request(binary):
    server = Server(says(OK + b"Content-Length: 0\r\n\r\n"))
    code, _, _, _ = run(binary, "127.0.0.1", server.port, "/a/b?c=d")
    lines = server.request.decode().split("\r\n")
    return ("the request", code == DONE and lines[0] == "GET /a/b?c=d HTTP/1.1" and
            f"Host: 127.0.0.1:{server.port}" in lines and "Connection: close" in lines, lines[0])


def a_name(binary):
    server = Server(says(OK + b"Content-Length: 2\r\n\r\nhi"))
    code, out, err, _ = run(binary, "localhost", server.port, "/")
    return "a name is looked up", code == DONE and out == b"hi", err.strip()


def version_six(binary):
    try:
        server = Server(says(OK + b"Content-Length: 2\r\n\r\nhi"), socket.AF_INET6, "::1")
    except OSError:
        return None
    code, out, err, _ = run(binary, "::1", server.port, "/")
    return "IPv6", code == DONE and out == b"hi" and b"Host: [::1]:" in server.request, err.strip()


def refused(binary):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        code, _, err, _ = run(binary, "127.0.0.1", nobody.getsockname()[1], "/")
    return "a refused connection", code == FAILED and one_line(err), err.strip()


def connect_limit(binary):
    """A listener whose queue is full lets no connection come about, on Linux."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        queue = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
            queue.append(client)
        try:
            if select.select([], queue[-1:], [], 0.3)[1]:
                return None
            code, out, err, took = run(binary, "127.0.0.1", listener.getsockname()[1], "/", "--connect", "300ms")
            return "the connect limit", code == CONNECT and out == b"" and took >= 0.3, f"{took:.2f} s, {err.strip()}"
        finally:
            for client in queue:
                client.close()


CASES = [
    the_request, a_name, version_six, refused, connect_limit,
    case("a body of known length", says(OK + b"Content-Length: %d\r\n\r\n" % len(BODY), BODY), DONE, BODY),
    case("a body in chunks", says(in_chunks(BODY)), DONE, BODY),
    case("a body in chunks, in odd pieces", says(*in_odd_pieces(in_chunks(BODY[:300_000]))), DONE, BODY[:300_000]),
    case("a body until the end", says(OK + b"\r\n", BODY), DONE, BODY),
    case("a header byte by byte", says(*(bytes([b]) for b in OK + b"Content-Length: 2\r\n\r\nhi")), DONE, b"hi"),
    case("an early hint", says(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"),
         DONE, b"hi"),
    case("no content", says(b"HTTP/1.1 204 No Content\r\n\r\n", then=until_hangup), DONE, b""),
    case("not found", says(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope"), DONE, b"nope"),
    case("more than announced", says(OK + b"Content-Length: 2\r\n\r\nhigh", then=until_hangup), DONE, b"hi"),
    case("slow but steady", says(CHUNKED, *[b"1\r\n.\r\n"] * 20, b"0\r\n\r\n", pause=0.1), DONE, b"." * 20,
         "--body-idle", "1.5s", not_before=2),
    case("the first-byte limit", until_hangup, FIRST_BYTE, b"", "--first-byte", "300ms", not_before=0.3),
    case("the header limit", for_ever(b"X: y\r\n", 0.05, OK), HEADER, b"", "--header", "400ms", not_before=0.4),
    case("the body-idle limit", says(OK + b"Content-Length: 100\r\n\r\nhello", then=until_hangup), BODY_IDLE, b"hello",
         "--body-idle", "300ms", not_before=0.3),
    case("the body-idle limit, no byte of it", says(OK + b"\r\n", then=until_hangup), BODY_IDLE, b"",
         "--body-idle", "300ms", not_before=0.3),
    case("the total limit, first byte", until_hangup, TOTAL, b"", "--total", "300ms", not_before=0.3),
    case("the total limit, header", for_ever(b"X: y\r\n", 0.05, OK), TOTAL, b"", "--total", "400ms", not_before=0.4),
    case("the total limit, body", for_ever(b"1\r\n.\r\n", 0.05, CHUNKED), TOTAL, None, "--total", "500ms",
         not_before=0.5),
    case("the total limit, trailers", for_ever(b"X: y\r\n", 0.05, CHUNKED + b"0\r\n"), TOTAL, b"", "--total", "500ms",
         not_before=0.5),
    case("ends early", says(OK + b"Content-Length: 100\r\n\r\nhello"), FAILED, b"hello"),
    case("ends early within a chunk", says(CHUNKED + b"ff\r\nhello"), FAILED, b"hello"),
    case("ends early between chunks", says(CHUNKED + b"5\r\nhello\r\n"), FAILED, b"hello"),
    case("ends early within its header", says(OK), FAILED, b""),
    case("ends without a word", says(), FAILED, b""),
    case("resets within its header", says(OK, then=resets), FAILED, b""),
    case("control characters in the reason", says(b"HTTP/1.1 200 \x1b[1m\t\bOK\r\nContent-Length: 0\r\n\r\n"), DONE, b""),
    case("another protocol", says(b"220 mail.example ESMTP\r\n\r\n"), FAILED, b""),
    case("a header without end", for_ever(b"X" * 4096, 0, OK), FAILED, b""),
    case("a line without end in the body", for_ever(b"0" * 4096, 0, CHUNKED), FAILED, b""),
    case("a bad chunk size", says(CHUNKED + b"five\r\nhello\r\n0\r\n\r\n"), FAILED, b""),
    case("a chunk longer than it says", says(CHUNKED + b"4\r\nhello\r\n0\r\n\r\n"), FAILED, b"hell"),
    case("two lengths", says(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi"), FAILED, b""),
    case("the same length twice", says(OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi"), FAILED, b""),
    case("cut short, of the longest length", says(OK + b"Content-Length: 18446744073709551615\r\n\r\nhello"), FAILED, b"hello"),
    case("a length beyond the longest", says(OK + b"Content-Length: 18446744073709551616\r\n\r\nhello"), FAILED, b""),
    case("cut short, a space before the colon", says(OK + b"Content-Length : 100\r\n\r\nhello"), FAILED, b""),
    case("cut short, a length in a folded line", says(OK + b"Content-Length:\r\n 100\r\n\r\nhello"), FAILED, b"hello"),
    case("a length that is no number", says(OK + b"Content-Length: 5five\r\n\r\nhello"), FAILED, b""),
    case("a length behind a lone line feed", says(OK + b"X: y\nContent-Length: 100\r\n\r\nhello"), FAILED, b""),
    case("a line that is no field", says(OK + b"Content-Length 100\r\n\r\nhello"), FAILED, b""),
    case("chunks, a space before the colon", says(OK + b"Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), FAILED,
         b""),
    case("chunks and a length", says(OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
         FAILED, b""),
    case("chunks twice", says(OK + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n2\r\nhi\r\n0\r\n\r\n"), FAILED, b""),
    case("chunks of HTTP/1.0", says(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), FAILED, b""),
    case("cut short, a chunk of the longest length", says(CHUNKED + b"ffffffffffffffff\r\nhello"), FAILED, b"hello"),
    case("a chunk beyond the longest", says(CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n"), FAILED, b""),
    case("cut short before the last line", says(CHUNKED + b"5\r\nhello\r\n0\r\n"), FAILED, b"hello"),
    case("cut short within the trailers", says(CHUNKED + b"5\r\nhello\r\n0\r\nTrailer: x\r\n"), FAILED, b"hello"),
    case("a body until the end, reset", says(OK + b"\r\nhello", then=resets), FAILED, None),
]


def bad_command_lines(binary):
    for name, words in {
            "too few words": ["127.0.0.1", "80"],
            "options first": ["--total", "5s", "127.0.0.1", "80", "/"],
            "a bad port": ["127.0.0.1", "http", "/"],
            "port zero": ["127.0.0.1", "0", "/"],
            "a port out of range": ["127.0.0.1", "65536", "/"],
            "a path that does not begin with a slash": ["127.0.0.1", "80", "index.html"],
            "a path with a line break": ["127.0.0.1", "80", "/\r\nX: y"],
            "a path with a space": ["127.0.0.1", "80", "/a b"],
            "an empty host": ["", "80", "/"],
            "an address in a URL": ["http://127.0.0.1", "80", "/"],
            "an unknown option": ["127.0.0.1", "80", "/", "--frobnicate"],
            "a limit of zero": ["127.0.0.1", "80", "/", "--total", "0s"],
            "a limit without a unit": ["127.0.0.1", "80", "/", "--header", "5"],
            "a missing value": ["127.0.0.1", "80", "/", "--connect"],
            "one word too many": ["127.0.0.1", "80", "/", "again"],
    }.items():
        done = subprocess.run([binary, *words], capture_output=True, text=True, timeout=PATIENCE)
        check(f"{name}: exit code 2 and one line", done.returncode == USAGE and done.stdout == "" and
              one_line(done.stderr), done.stderr.strip())


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    binary = os.path.abspath(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        for outcome in pool.map(lambda judge: judge(binary), CASES):
            if outcome is not None:  # None: not possible on this machine
                check(*outcome)
    bad_command_lines(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
