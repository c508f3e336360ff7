#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_attacks.py COGWHEELD: rude and hostile clients, and callbacks to places that they must not reach.

Each attack is a check, whose name says the outcome. All traffic stays on the loopback, in bounded numbers. To run by hand:
more connections (--connections 10000, the default), other random bytes (--seed).
"""

import argparse
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from service_process import PATIENCE, Receiver, Service, check, conclude, eventually
from server_process import hung_up, seconds_until_closed, sockets

CONFIG = """
[tasks]
retention = "0s"
[limits]
connections = 11000
rate = 0
idle = "2s"
head_within = "1s"
body_within = "1s"
progress_within = "1s"
"""


def configured(directory, text):
    file = os.path.join(directory, "config.toml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return file


def send(service, data, patience=PATIENCE):
    """All that the service answers until it closes. What cannot be sent any more is not."""
    with service.connect() as s:
        s.settimeout(patience)
        try:
            s.sendall(data)
        except OSError:
            pass
        answer = b""
        try:
            while (piece := s.recv(65536)):
                answer += piece
        except OSError:
            pass
        return answer


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def malformed(service):
    host = b"Host: localhost\r\n"
    json = host + b"Content-Type: application/json\r\n"
    rows = [
        ("not HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, 400), ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("no host", b"GET / HTTP/1.1\r\n\r\n", 400), ("two hosts", b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400),
        ("an unknown method", b"BREW / HTTP/1.1\r\n" + host + b"\r\n", 400), ("a tunnel", b"CONNECT a:80 HTTP/1.1\r\n" + host + b"\r\n", 501),
        ("an absolute target", b"GET http://localhost/healthz HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n", 200),
        ("smuggling by two lengths", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}GET /v1/queue", 400),
        ("smuggling by length and chunks", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("smuggling by a space", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
        ("a long head", b"GET / HTTP/1.1\r\n" + host + b"X: " + b"x" * 100_000 + b"\r\n\r\n", 431),
        ("many fields", b"GET / HTTP/1.1\r\n" + host + b"X: y\r\n" * 20_000 + b"\r\n", 431), ("many names", b"GET / HTTP/1.1\r\n" + host + b"".join(b"x%x:\r\n" % i for i in range(1000)) + b"\r\n", 431),
        ("a long target", b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n", 414),
        ("a length beyond the limit", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Content-Length: 99999999999\r\n\r\n", 413),
        ("chunks beyond the limit", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 150, 413),
        ("a bad chunk", b"POST /v1/tasks HTTP/1.1\r\n" + json + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("a NUL in a field", b"GET / HTTP/1.1\r\n" + host + b"X: a\0b\r\n\r\n", 400), ("an expectation", b"GET / HTTP/1.1\r\n" + host + b"Expect: cake\r\n\r\n", 417),
    ]
    for name, data, wanted in rows:
        answer = send(service, data)
        check(f"malformed: {name}: {wanted}", status(answer) == wanted, repr(answer[:200]))


def rude_but_right(service):
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    check("1,000 requests at once on one connection: 1,000 answers", send(service, one * 999 + last).count(b"HTTP/1.1 200 OK") == 1000)
    with service.connect() as s:
        for byte in last:
            s.sendall(bytes([byte]))
        check("a request byte by byte: answered", s.recv(100).startswith(b"HTTP/1.1 200"))
    body = b'{"id":"continue","delay":"1h","url":"http://127.0.0.1/"}'
    with service.connect() as s:
        s.sendall(b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        check("100-continue: told to go on", s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n")
        s.sendall(body)
        check("100-continue: scheduled", s.recv(100).startswith(b"HTTP/1.1 201"))
    answer = send(service, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + last)
    check("an upgrade: answered without", answer.count(b"HTTP/1.1 200 OK") == 2)
    check("HTTP/1.0: answered and closed", status(send(service, b"GET /healthz HTTP/1.0\r\n\r\n")) == 200)


def slow(service):
    """Slow clients lose their connection; others are served meanwhile."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    post = b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    begin = time.monotonic()
    loris = [service.connect() for _ in range(200)]
    bodies = [service.connect() for _ in range(50)]
    idle = [service.connect() for _ in range(50)]
    for s in loris:
        s.sendall(head)
    for s in bodies:
        s.sendall(post)
    end = threading.Event()

    def drip():
        while not end.wait(0.2):
            for s in loris + bodies:
                try:
                    s.sendall(b"x")
                except OSError:
                    pass
    dripper = threading.Thread(target=drip)
    dripper.start()
    served = [service.ask("GET", "/healthz").status for _ in range(200)]
    check("slowloris: others are served meanwhile", served == [200] * 200)
    took = [seconds_until_closed(s, begin) for s in loris]
    check("slowloris: each of 200 loses its connection in time", all(t is not None for t in took), str(max(t or 99 for t in took)))
    took = [seconds_until_closed(s, begin) for s in bodies]
    check("slow bodies: each of 50 as well", all(t is not None for t in took), str(max(t or 99 for t in took)))
    took = [seconds_until_closed(s, begin) for s in idle]
    check("idle: each of 50 is closed", all(t is not None and t > 1.5 for t in took), str(max(t or 99 for t in took)))
    end.set()
    dripper.join()
    for s in loris + bodies + idle:
        s.close()


def never_reading(service):
    tasks = [{"id": f"big-{i}", "url": "http://127.0.0.1/", "delay": "1h", "body": "x" * 20_000} for i in range(300)]
    service.ask("POST", "/v1/tasks:bulk", {"tasks": tasks})
    clients = []
    for _ in range(3):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(service.address)
        s.sendall(b"GET /v1/tasks?count=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        clients.append(s)
    check("answers of 6 MB that nobody reads: others are served meanwhile", service.ask("GET", "/healthz").status == 200)
    closed = sum(hung_up(PATIENCE, s) for s in clients)
    check("answers of 6 MB that nobody reads: all 3 are dropped", closed == 3, str(closed))
    for s in clients:
        s.close()
    for t in tasks:
        service.ask("DELETE", f"/v1/tasks/{t['id']}")


def many(service, number):
    """Connections that only lie there."""
    before = sockets(service.process.pid)
    lie = []
    try:
        for _ in range(number):
            lie.append(service.connect())
        half = [s.sendall(b"GET /healthz HTTP/1.1\r\n") for s in lie[::100]]
        served = [service.ask("GET", "/healthz").status for _ in range(100)]
        check(f"{number} connections: others are served", served == [200] * 100 and len(half) > 0)
        with open(f"/proc/{service.process.pid}/status", encoding="ascii") as file:
            kilobytes = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        print(f"     {number} connections: {kilobytes // 1024} MB")
    finally:
        for s in lie:
            s.close()
    check(f"{number} connections: all are gone again", eventually(lambda: sockets(service.process.pid) <= before + 1, service), str(sockets(service.process.pid)))


def garbage(service, seed):
    rng = random.Random(seed)
    words = [b"GET ", b"POST ", b"/v1/tasks", b" HTTP/1.1\r\n", b"Host: localhost\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked\r\n", b"\r\n", b"\r\n\r\n",
             b"Content-Type: application/json\r\n", b'{"url":"http://a"}', b"0\r\n\r\n", b"5\r\n", b"Expect: 100-continue\r\n", b"%00", b":run", b"\xff\xfe", b"\0" * 7, b"9" * 30]
    wrong = []
    for i in range(400):
        data = b"".join(rng.choice(words) if rng.random() < 0.8 else rng.randbytes(rng.randrange(1, 50)) for _ in range(rng.randrange(1, 30)))
        try:
            with service.connect() as s:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                answer = b""
                while (piece := s.recv(65536)):
                    answer += piece
                if answer and not answer.startswith(b"HTTP/1.1 "):
                    wrong.append((data, answer[:100]))
        except OSError:
            pass
    check(f"400 requests of random words (seed {seed}): each answer is HTTP", not wrong and service.ask("GET", "/healthz").status == 200, repr(wrong[:2]))


def mutated(service, seed):
    """JSON with changed, missing and repeated bytes; targets of random parts."""
    rng = random.Random(seed)
    whole = (b'{"id":"x","delay":"1h","url":"http://a.example/","method":"POST","headers":{"a":"b"},"body":{"k":[1,2,{"z":null}]},"max_attempts":3,'
             b'"policy":"replace","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}')
    pieces = [b'"', b"{", b"[", b"\\u0000", b"1e999", b"\\ud800", b"\xff", b"null", b"-", b"9" * 30]
    parts = ["tasks", "dead", "queue", "/", ":", "%", "%2F", "%00", "%ff", "x", "?", ";", "&", "cursor=", "count=", "state=", "9" * 9, "..", ":run", ":pause"]
    outcomes = {}
    for _ in range(2000):
        text = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            at, what = rng.randrange(len(text)), rng.randrange(4)
            if what == 0:
                text[at] = rng.randrange(256)
            elif what == 1:
                del text[at:at + rng.randrange(1, 8)]
            elif what == 2:
                text[at:at] = rng.choice(pieces)
            else:
                text[at:at] = text[(start := rng.randrange(len(text))):start + rng.randrange(1, 30)]
        method, path = rng.choice([("POST", "/v1/tasks"), ("POST", "/v1/tasks:bulk"), ("PATCH", "/v1/tasks/x")])
        status = service.ask(method, path, raw=bytes(text)).status
        outcomes[status] = outcomes.get(status, 0) + 1
        status = service.ask(rng.choice(["GET", "POST", "DELETE", "PATCH"]), "/v1/" + "".join(rng.choice(parts) for _ in range(rng.randrange(1, 9))), raw=b"{}").status
        outcomes[status] = outcomes.get(status, 0) + 1
    check(f"4,000 requests with mutated bodies and targets (seed {seed}): each is done or refused", set(outcomes) <= {200, 201, 400, 404, 405, 409, 422}, repr(outcomes))


def viewers(service):
    """curl -N, and viewers that do not read."""
    if shutil.which("curl"):
        curl = subprocess.Popen(["curl", "-sN", service.url + "/events"], stdout=subprocess.PIPE)
        first = curl.stdout.readline()
        service.schedule(id="seen", delay="1h", url="http://127.0.0.1/")
        lines = [curl.stdout.readline() for _ in range(3)]
        check("curl -N /events: sees what happens", first == b"retry: 2000\n" and b"event: " in b"".join(lines), repr(lines))
        curl.terminate()
        curl.wait()
    else:
        print("skipped: curl is not installed")
    deaf = []
    for _ in range(20):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(service.address)
        s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deaf.append(s)
    end = time.monotonic() + PATIENCE
    gone = set()
    while len(gone) < len(deaf) and time.monotonic() < end:
        for i in range(20):
            service.schedule(id=f"noise-{i}" + "x" * 400, delay="1h", url="http://127.0.0.1/", policy="replace")
        gone = {s.fileno() for s in deaf if hung_up(0, s)}
    check("20 viewers that do not read: all are dropped", len(gone) == 20, str(len(gone)))
    for s in deaf:
        s.close()


def crowded(binary, directory):
    """Few descriptors, more connections."""
    config = configured(directory, '[limits]\nrate = 0\nconnections = 100\n')
    with Service(binary, "--data", os.path.join(directory, "few"), "--config", config, "--max-in-flight", "8", descriptors=480) as service:
        service.ready()
        first = [service.connect() for _ in range(90)]
        rest = [service.connect() for _ in range(400)]
        ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for s in first:
            s.sendall(ask)
        check("too many connections: those that it has are served", all(s.recv(100).startswith(b"HTTP/1.1 200") for s in first))
        outcomes = set()
        for s in rest:
            s.settimeout(PATIENCE)
            try:
                s.sendall(ask)
                outcomes.add(s.recv(12))
            except OSError:
                outcomes.add(b"")
        check("too many connections: the others get 503, or are closed", outcomes <= {b"HTTP/1.1 200", b"HTTP/1.1 503", b""} and b"HTTP/1.1 503" in outcomes, repr(outcomes))
        for s in first + rest:
            s.close()
        check("too many connections: and afterwards all is well", eventually(lambda: status(send(service, b"GET /healthz HTTP/1.0\r\n\r\n")) == 200, service))
        check("too many connections: ends in good order", service.end()[0] == 0)
    refused = subprocess.run(["bash", "-c", f"ulimit -n 100; exec '{binary}' --data '{directory}/none' --listen 127.0.0.1:0"], capture_output=True, text=True, timeout=PATIENCE)
    check("too few descriptors to begin with: exit code 2 and what to do", refused.returncode == 2 and "LimitNOFILE" in refused.stderr, refused.stderr)


def too_often(binary, directory):
    config = configured(directory, '[limits]\nrate = 5\nburst = 10\n')
    with Service(binary, "--data", os.path.join(directory, "rate"), "--config", config) as service:
        answers = [service.ask("GET", "/v1/queue") for _ in range(100)]
        refused = [a for a in answers if a.status == 429]
        check("too often: health is answered all the same", service.ask("GET", "/healthz").status == 200 and service.ask("GET", "/metrics").status == 200)
        check("too often: a burst is served, then 429 with Retry-After", answers[0].status == 200 and 0 < len(refused) <= 90 and refused[0].headers.get("Retry-After") == "1",
              str(len(refused)))


def forged_callbacks(binary, directory, receiver):
    """Server-side request forgery: nothing but the public internet is reached."""
    port = receiver.url.rpartition(":")[2]
    with Service(binary, "--data", os.path.join(directory, "ssrf"), allow=False) as service:
        service.ready()
        places = {"loopback": f"127.0.0.1:{port}", "another loopback": f"127.9.9.9:{port}", "a name of loopback": f"localhost:{port}", "a number": f"2130706433:{port}",
                  "hexadecimal": f"0x7f000001:{port}", "a short form": f"127.1:{port}", "IPv6 loopback": f"[::1]:{port}", "IPv4 in IPv6": f"[::ffff:127.0.0.1]:{port}",
                  "this network": f"0.0.0.0:{port}", "private": "10.0.0.1", "private, too": "192.168.1.1", "of a provider": "100.64.0.1", "metadata of clouds": "169.254.169.254",
                  "link-local": "[fe80::1]", "unique local": "[fd00::1]", "NAT64 of loopback": "[64:ff9b::7f00:1]", "6to4 of private": "[2002:a00:1::]", "multicast": "224.0.0.1"}
        for i, (name, host) in enumerate(places.items()):
            a = service.schedule(id=f"forged-{i}", url=f"http://{host}/latest/meta-data")
            ended = eventually(lambda i=i: service.ask("GET", f"/v1/tasks/forged-{i}").json.get("state") == "dead", service)
            why = service.ask("GET", f"/v1/tasks/forged-{i}").json.get("message", "")
            check(f"forged callback: {name}: dead, and the reason names the address", a.status == 201 and ended and "may not reach this address" in why, why)
        check("forged callbacks: not one arrived", not receiver.calls, repr(receiver.calls))
        check("forged callbacks: they are counted", f"cogwheeld_addresses_refused_total {len(places)}" in service.ask("GET", "/metrics").body)
    with Service(binary, "--data", os.path.join(directory, "redirect")) as service:
        service.ready()
        receiver.answer_headers["Location"] = f"http://169.254.169.254/latest/meta-data"
        service.schedule(id="redirect", url=receiver.url + "/302")
        check("a redirect: dead, not followed", eventually(lambda: service.ask("GET", "/v1/tasks/redirect").json.get("state") == "dead", service) and len(receiver.calls) == 1)
        receiver.answer_headers.clear()


def load(service):
    if not shutil.which("wrk"):
        print("skipped: wrk is not installed")
        return
    done = subprocess.run(["wrk", "-t2", "-c64", "-d2s", service.url + "/v1/queue"], capture_output=True, text=True, timeout=PATIENCE)
    check("wrk: 64 connections, no error", "Socket errors" not in done.stdout and "Non-2xx" not in done.stdout and "Requests/sec" in done.stdout, done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=22)
    wanted = parser.parse_args()
    binary = os.path.abspath(wanted.binary)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as directory, Receiver() as receiver:
        config = configured(directory, CONFIG)
        with Service(binary, "--data", os.path.join(directory, "data"), "--config", config) as service:
            service.ready()
            malformed(service)
            rude_but_right(service)
            slow(service)
            never_reading(service)
            garbage(service, wanted.seed)
            mutated(service, wanted.seed)
            viewers(service)
            load(service)
            many(service, min(wanted.connections, hard - 1_000))
            check("after all that: no request has failed inside", "cogwheeld_http_failed_total 0" in service.ask("GET", "/metrics").body)
            code, _, err = service.end()
            check("after all that: ends in good order", code == 0 and "Sanitizer" not in err and "runtime error" not in err, f"{code} {err[-2000:]}")
        crowded(binary, directory)
        too_often(binary, directory)
        forged_callbacks(binary, directory, receiver)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
