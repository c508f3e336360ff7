#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""webhook_senders.py BINARY: senders of webhooks, good and bad, for the receiver of `webhooks`. The signatures are Python's own."""

import base64
import hashlib
import hmac
import signal
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, seconds_until_closed

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signature(identity, timestamp, body, secret=SECRET):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{identity}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def request(identity="msg-1", body=b'{"order":17}', age=0, sign=signature, method="POST", more="", length=None):
    timestamp = str(int(time.time()) - age)
    head = (f"{method} /hook HTTP/1.1\r\nHost: a\r\nwebhook-id: {identity}\r\nwebhook-timestamp: {timestamp}\r\n"
            f"webhook-signature: {sign(identity, timestamp, body)}\r\n{more}"
            f"Content-Length: {len(body) if length is None else length}\r\n\r\n")
    return head.encode() + body


class Connection:
    def __init__(self, server):
        self.socket = server.connect()
        self.file = self.socket.makefile("rb")

    def send(self, data):
        """Returns the status, the headers and the body of the answer; None at the end of the connection."""
        self.socket.sendall(data)
        return self.answer()

    def answer(self):
        line = self.file.readline()
        if not line:
            return None
        headers = {}
        while (field := self.file.readline().strip()):
            name, _, value = field.decode().partition(": ")
            headers[name.lower()] = value
        body = self.file.read(int(headers["content-length"])).decode().strip()
        return int(line.split()[1]), headers, body


def deliveries(binary):
    with Server(binary, "--secret", SECRET) as server:
        one = Connection(server)
        check("a delivery is taken", one.send(request())[::2] == (200, "new"))
        check("again, on the same connection: repeated", one.send(request())[::2] == (200, "repeated"))
        check("another id is new", one.send(request("msg-2", more="cogwheel-attempt: 3\r\n"))[::2] == (200, "new"))
        check("a wrong signature: 401", one.send(request("msg-3", sign=lambda *_: "v1,AAAA"))[0] == 401)
        check("no signature: 400", one.send(request("msg-3", sign=lambda *_: ""))[0] == 400)
        check("signed by another key: 401", one.send(request("msg-3", sign=lambda *a: signature(*a, secret="A" * 32)))[0] == 401)
        check("an old timestamp: 400", one.send(request("msg-3", age=400))[0] == 400)
        check("a timestamp of tomorrow: 400", one.send(request("msg-3", age=-86400))[0] == 400)
        check("none of these was remembered", one.send(request("msg-3"))[::2] == (200, "new"))
        two = request("msg-4") + request("msg-5")
        check("two at once: the first", one.send(two)[::2] == (200, "new"))
        check("two at once: the second", one.answer()[::2] == (200, "new"))
        code, out, err = server.end()
        check("ends in good order", code == 0 and err == "", f"{code} {err!r}")
        check("says what it took", "200 msg-2 attempt 3: new (12)\n" in out and "200 msg-1: repeated (12)\n" in out, out)
        check("counts", "5 new, 1 repeated, 0 failed" in out and "5 requests" in out, out)


def rude_senders(binary):
    with Server(binary, "--secret", SECRET, "--max-body", "1000", "--within", "300ms") as server:
        for name, data, status in (("GET", request(method="GET"), 405), ("no HTTP", b"hello\r\n\r\n", 400),
                                   ("HTTP/1.0", b"POST / HTTP/1.0\r\n\r\n", 505), ("no host", b"POST / HTTP/1.1\r\n\r\n", 400),
                                   ("no length", b"POST / HTTP/1.1\r\nHost: a\r\n\r\n", 411),
                                   ("two lengths", request(more="Content-Length: 3\r\n"), 400),
                                   ("a negative length", request(length=-1), 400),
                                   ("chunks", request(more="Transfer-Encoding: chunked\r\n"), 501),
                                   ("a coding without a name", request(more="Transfer-Encoding:\r\n"), 501),
                                   ("a large body", request(length=1001), 413), ("one that is sent", request(body=b"b" * 500000), 413),
                                   ("a control character", request(more="x: \x1b[2J\r\n"), 400),
                                   ("a long head", b"POST / HTTP/1.1\r\nx: " + b"y" * 20000, 431),
                                   ("a body that does not come", request(length=500), 408),
                                   ("a head that does not end", b"POST / HT", 408)):
            connection = Connection(server)
            answer = connection.send(data)
            check(f"{name}: {status}", answer is not None and answer[0] == status, f"{answer}")
            check(f"{name}: closed", seconds_until_closed(connection.socket, time.monotonic()) is not None)
        check("serves on", Connection(server).send(request())[0] == 200)
        _, out, _ = server.end()
        check("rude requests are refused, and have not failed", "1 new, 0 repeated, 0 failed" in out, out)


def limits(binary):
    with Server(binary, "--secret", SECRET, "--idle", "200ms", "--max-connections", "2") as server:
        first, second = Connection(server), Connection(server)
        check("two connections are served", first.send(request())[0] == 200 and second.send(request("b"))[0] == 200)
        third = Connection(server)
        third.socket.settimeout(PATIENCE)
        try:
            refused = third.send(request("c")) is None
        except OSError:
            refused = True
        check("a third one is closed", refused)
        check("an idle one is closed", seconds_until_closed(first.socket, time.monotonic()) is not None)
        server.end()


def failures(binary):
    with Server(binary, "--secret", SECRET, "--fail", "50", "--answer", "503", "--retry-after", "7") as server:
        one = Connection(server)
        answers = [one.send(request(f"msg-{i}")) for i in range(10)]
        failed = [a for a in answers if a[0] == 503]
        check("half of the deliveries fail", len(failed) == 5, f"{answers}")
        check("with Retry-After", all(a[1].get("retry-after") == "7" for a in failed))
        check("what has failed is new again", [one.send(request("msg-1"))[0] for _ in range(2)].count(200) >= 1)
        server.end()


def failures_of_any_status(binary):
    for status in ("302", "404", "408"):
        with Server(binary, "--secret", SECRET, "--fail", "100", "--answer", status) as server:
            check(f"--answer {status}", Connection(server).send(request())[::2] == (int(status), "failed"))
            _, out, _ = server.end()
            check(f"{status} counts as failed", "0 new, 0 repeated, 1 failed" in out and "0 requests" in out and "0 too slow" in out, out)


def slow_answers(binary):
    with Server(binary, "--secret", SECRET, "--idle", "100ms", "--delay", "500ms") as server:
        one = Connection(server)
        check("an answer later than --idle comes", (one.send(request()) or [0])[0] == 200)
        check("and then the connection is idle", seconds_until_closed(one.socket, time.monotonic()) is not None)
        server.end()


def drains(binary):
    with Server(binary, "--secret", SECRET, "--delay", "300ms") as server:
        busy, idle = Connection(server), Connection(server)
        busy.socket.sendall(request())
        out = server.process.stdout.readline()  # the delivery has begun
        server.process.send_signal(signal.SIGTERM)
        check("at SIGTERM, an idle connection is closed", seconds_until_closed(idle.socket, time.monotonic()) is not None, out)
        answer = busy.answer()
        check("and a request under way is answered", answer is not None and answer[0] == 200, f"{answer}")
        check("on a connection that then closes", seconds_until_closed(busy.socket, time.monotonic()) is not None)
        check("and the process ends", server.process.wait(PATIENCE) == 0)


def main():
    binary = sys.argv[1]
    deliveries(binary)
    rude_senders(binary)
    limits(binary)
    failures(binary)
    failures_of_any_status(binary)
    slow_answers(binary)
    drains(binary)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
