#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""prometheus_scrape.py ECHO_SERVER ECHO_LOAD WHEEL_MONITOR: GET /metrics, by plain sockets, by promtool and by Prometheus.

And clients that cost the endpoint more than they should. promtool and prometheus are used if they are installed.
Prints a line for each check and ends with "N passed, M failed"; the exit code is 1 if any failed. Every wait has a time limit.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True  # the source tree stays as it is

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from server_process import PATIENCE, TICK, Server, check, conclude, eventually, hung_up, sockets
from support.reserved_ports import reserved_ports

HEAD_WITHIN, ANSWER_WITHIN, REFUSAL_WITHIN = 5.0, 10.0, 2.0  # the endpoint's limits
MOST_CONNECTIONS = 32
HOST = b"Host: here\r\n"
GET = b"GET /metrics HTTP/1.1\r\n" + HOST
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def metrics_of(echo_server):
    """The second line: the server writes it together with the first one."""
    match = re.fullmatch(r"metrics on ([0-9.]+):([0-9]+)\n", echo_server.process.stdout.readline())
    return match[1], int(match[2])


def connect(address):
    return socket.create_connection(address, timeout=PATIENCE)


def received(sock):
    """All that comes until the end of the stream, also a broken one."""
    sock.settimeout(PATIENCE)
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := sock.recv(65536):
            data += piece
    return data


def fetch(address, request):
    """Returns (status, fields with names in lower case, body), or (None, {}, b"") if there is no answer."""
    data = b""
    with contextlib.suppress(ConnectionError), connect(address) as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(request)
        data = received(sock)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    if not first.startswith("HTTP/1.1 "):
        return None, {}, b""
    fields = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), fields, body


def scrape(address, accept=None):
    status, fields, body = fetch(address, GET + (f"Accept: {accept}\r\n".encode() if accept else b"") + b"\r\n")
    complete = status == 200 and fields["content-length"] == str(len(body)) and fields["connection"] == "close"
    return body.decode() if complete else "", fields.get("content-type", "")


def values(text, name):
    """The values of a metric, by their labels."""
    return {labels: float(value) for labels, value in re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE)}


def answers(address):
    return values(scrape(address)[0], "cogwheel_turns_total") != {}


# ---- the three formats ----


def formats(name, address):
    text, content = scrape(address)
    check(f"{name}: the Prometheus format", "# TYPE cogwheel_timers_pending gauge\n" in text and content.startswith("text/plain; version=0.0.4"),
          f"{len(text)} bytes of {content}")
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=PATIENCE)
        check(f"{name}: promtool finds nothing", done.returncode == 0 and done.stdout + done.stderr == "", done.stderr[-200:])
    else:
        print("skipped: promtool is not installed", flush=True)
    text, content = scrape(address, OPENMETRICS)
    check(f"{name}: the OpenMetrics format", text.endswith("\n# EOF\n") and content.startswith("application/openmetrics-text"), content)
    text, content = scrape(address, "application/json")
    check(f"{name}: JSON", content == "application/json" and "wheels" in json.loads(text or "{}"), content)


# ---- rude clients: each yields the results of its checks ----


def is_refused(what, request, expected):
    def attack(name, address, *_):
        status, fields, body = fetch(address, request)
        yield f"{name}: {what}: {expected}", status == expected and body == b"" and fields["content-length"] == "0", f"{status}"
    return attack


def half_a_head(name, address, *_):
    began = time.monotonic()
    with connect(address) as sock:
        sock.sendall(GET)
        data = received(sock)
    took = time.monotonic() - began
    yield (f"{name}: half a head: 408 after {HEAD_WITHIN:.0f} s", data.startswith(b"HTTP/1.1 408") and took >= HEAD_WITHIN - TICK,
           f"after {took:.2f} s")


def drips(name, address, *_):
    """A byte now and then buys no time. The socket's time limit is the pause."""
    began = time.monotonic()
    data = b""
    with connect(address) as sock:
        sock.settimeout(0.1)
        while not data and time.monotonic() - began < PATIENCE:
            sock.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                data = sock.recv(4096)
    took = time.monotonic() - began
    yield f"{name}: one that drips: 408", data.startswith(b"HTTP/1.1 408") and took >= HEAD_WITHIN - TICK, f"after {took:.2f} s"


def in_pieces(name, address, *_):
    with connect(address) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in GET + b"\r\n":
            sock.sendall(bytes([byte]))
        data = received(sock)
    yield f"{name}: a head in pieces of a byte: 200", data.startswith(b"HTTP/1.1 200"), f"{data[:20]}"


def never_reads(name, address, server, at_rest):
    """Its answer lies in the system's queues. The server lets go of it after its limit."""
    eventually(lambda: sockets(server.process.pid) <= at_rest, server)  # it may not have seen yet that the others left
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)  # the system's minimum
        sock.settimeout(PATIENCE)
        sock.connect(address)
        began = time.monotonic()
        sock.sendall(GET + b"\r\n")
        seen = eventually(lambda: sockets(server.process.pid) > at_rest, server)
        let_go = eventually(lambda: sockets(server.process.pid) <= at_rest, server)
        took = time.monotonic() - began
    yield (f"{name}: one that never reads is dropped after {ANSWER_WITHIN:.0f} s", seen and let_go and took >= ANSWER_WITHIN - TICK,
           f"after {took:.2f} s")


def many_connections(name, address, server, *_):
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(address)) for _ in range(40)]
        closed = lambda: sum(hung_up(0, sock) for sock in clients)
        surplus = len(clients) - MOST_CONNECTIONS
        eventually(lambda: closed() >= surplus, server)
        yield f"{name}: of 40 connections, {MOST_CONNECTIONS} are served", closed() == surplus, f"{closed()} closed"
        yield f"{name}: while they are silent, others are closed", fetch(address, GET + b"\r\n")[0] is None, ""
        yield f"{name}: /metrics answers once they have been refused", eventually(lambda: answers(address), server), ""
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(address))
    yield f"{name}: /metrics answers once they have left", eventually(lambda: answers(address), server), ""


TOGETHER = [
    half_a_head,
    drips,
    in_pieces,
    is_refused("a head of 100 KB", GET + b"x" * 100_000, 431),
    is_refused("a head of 100 KB in many fields", GET + b"A: b\r\n" * 16_000, 431),
    is_refused("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    is_refused("a line that is no request", b"hello\r\n", 400),
    is_refused("a first line without end", b"GET " + b"x" * 9000, 431),
    is_refused("an unknown version", b"GET /metrics HTTP/3.7\r\n" + HOST + b"\r\n", 400),
    is_refused("a field without a colon", GET + b"Accept\r\n\r\n", 400),
    is_refused("a control character", GET + b"Accept: \0\r\n\r\n", 400),
    is_refused("no host", b"GET /metrics HTTP/1.1\r\n\r\n", 400),
    is_refused("POST", b"POST /metrics HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc", 405),
    is_refused("HEAD", b"HEAD /metrics HTTP/1.1\r\n" + HOST + b"\r\n", 405),
    is_refused("another path", b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", 404),
]


def rude_clients(name, address, server):
    """Those of TOGETHER at once, the others alone: they count sockets, or take all connections."""
    results = []
    at_rest = sockets(server.process.pid)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # below MOST_CONNECTIONS
        for outcome in pool.map(lambda attack: list(attack(name, address)), TOGETHER):
            results += outcome
    for attack in never_reads, many_connections:
        results += attack(name, address, server, at_rest)
    with connect(address) as half, connect(address) as silent:
        half.sendall(GET)
        code, out, err = server.end()
        results.append((f"{name}: SIGTERM ends it", code == 0 and err == "" and received(half) + received(silent) == b"",
                        f"exit code {code}, {err!r}"))
    return results


# ---- a load, and Prometheus ----


def keep_busy(server, echo_load):
    """Idle clients, which the server kicks, and one that does not read."""
    with server.connect() as deaf:
        deaf.setblocking(False)
        began = time.monotonic()
        while not (kicked := hung_up(0.05, deaf)) and time.monotonic() - began < PATIENCE:
            with contextlib.suppress(BlockingIOError, ConnectionError):
                while deaf.send(bytes(1 << 16)):
                    pass
    check("echo_server: one that does not read is kicked", kicked)
    done = subprocess.run([echo_load, "--port", str(server.address[1]), "--connections", "20", "--idle", "2s", "--chat", "200ms",
                           "--seconds", "5"], capture_output=True, text=True, timeout=PATIENCE + 5)
    check("echo_load: the server keeps to its idle limit, also while it is scraped", done.returncode == 0,
          done.stderr[-200:] if done.returncode else "")


def what_it_counts(server, address):
    shown = {}

    def complete():
        text, _ = scrape(address)
        shown.update(kicks=values(text, "echo_kicks_total"), idle=sum(values(text, "cogwheel_idle_events_total").values()),
                     accepted=values(text, "echo_connections_accepted_total"), open=values(text, "echo_connections"),
                     bytes=values(text, "echo_bytes_total"))
        return shown["open"] == {"": 0}

    eventually(complete, server)
    check("echo_server: kicks by reason", shown["kicks"] == {'reason="idle"': 10, 'reason="peer_does_not_read"': 1}, f"{shown['kicks']}")
    check("echo_server: the wheel's idle events are these kicks", shown["idle"] == shown["kicks"].get('reason="idle"'), f"{shown['idle']}")
    check("echo_server: connections and bytes", shown["accepted"] == {"": 21} and shown["open"] == {"": 0} and shown["bytes"][""] > 0,
          f"{shown}")
    return shown


class Prometheus:
    """A real one, on a free port of loopback, with its data in a directory of its own."""

    def __init__(self, binary, directory, targets):
        config = os.path.join(directory, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n")
            for job, (host, port) in targets.items():
                file.write(f"- {{job_name: {job}, static_configs: [{{targets: ['{host}:{port}']}}]}}\n")
        self.port = reserved_ports(1)[0]
        self.log = open(os.path.join(directory, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([binary, f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)

    def get(self, path):
        """The body, or None."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.read().decode() if answer.status == 200 else None
        return None

    def query(self, expression):
        """The values, by (job, reason)."""
        body = self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        return {(one["metric"].get("job"), one["metric"].get("reason")): float(one["value"][1])
                for one in json.loads(body)["data"]["result"]} if body else {}

    def words(self):
        self.log.seek(0)
        return self.log.read()[-400:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


def prometheus_agrees(prometheus, shown):
    check("prometheus: starts", eventually(lambda: prometheus.get("/-/ready") is not None, prometheus), prometheus.words())
    ours = {("echo", labels.split('"')[1]): value for labels, value in shown["kicks"].items()}
    kicks = lambda: prometheus.query("echo_kicks_total")
    idle = lambda: prometheus.query('sum(cogwheel_idle_events_total{job="echo"})').get((None, None))
    load = lambda: prometheus.query('sum by (job) (cogwheel_idle_events_total{job="load"})').get(("load", None), 0)
    check("prometheus: has the kicks that echo_server counts", eventually(lambda: kicks() == ours, prometheus) and
          all(value > 0 for value in ours.values()), f"{kicks()}")
    check("prometheus: has the idle events that echo_server counts", eventually(lambda: idle() == shown["idle"], prometheus) and
          shown["idle"] > 0, f"{idle()}")
    check("prometheus: sees wheel_monitor work", eventually(lambda: load() > 0, prometheus), f"{load()}")
    up = prometheus.query("up")
    check("prometheus: both are up", up == {("echo", None): 1, ("load", None): 1}, f"{up}")


def watched(echo_server, echo_load, wheel_monitor):
    with Server(echo_server, "--metrics-port", "0", "--idle", "2s", "--write-timeout", "1s", "--threads", "2") as server, \
            Server(wheel_monitor) as load, tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        address = metrics_of(server)
        binary = shutil.which("prometheus")
        # It starts first, and scrapes while there is a load.
        prometheus = stack.enter_context(Prometheus(binary, directory, {"echo": address, "load": load.address})) if binary else None
        keep_busy(server, echo_load)
        shown = what_it_counts(server, address)
        formats("echo_server", address)
        formats("wheel_monitor", load.address)
        if prometheus:
            prometheus_agrees(prometheus, shown)
        else:
            print("skipped: prometheus is not installed", flush=True)
        for name, one in ("echo_server", server), ("wheel_monitor", load):
            code, _, err = one.end()
            check(f"{name}: SIGTERM ends it while it is scraped", code == 0 and err == "", f"exit code {code}, {err!r}")


def a_port_that_is_taken(echo_server):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run([echo_server, "--metrics-port", port], capture_output=True, text=True, timeout=PATIENCE)
    check("echo_server: a port of its metrics that is taken is named", done.returncode == 2 and f"127.0.0.1:{port}" in done.stderr and
          done.stdout == "", done.stderr.strip())


def main():
    if len(sys.argv) != 4:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    echo_server, echo_load, wheel_monitor = map(os.path.abspath, sys.argv[1:])
    a_port_that_is_taken(echo_server)
    with Server(echo_server, "--metrics-port", "0") as server:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            attack = pool.submit(rude_clients, "echo_server", metrics_of(server), server)
            watched(echo_server, echo_load, wheel_monitor)
            for result in attack.result():
                check(*result)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
