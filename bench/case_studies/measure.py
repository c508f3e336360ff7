#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""measure.py [--connections N=5000] [--idle SECONDS=20] [--mqtt] [--rounds N=3] [--result FILE] NAME=COMMAND...: what the
timers of a server cost. With --instructions: how many instructions a request or a message takes, by callgrind, beside 20
idle connections. Each COMMAND is a server; {port} and {idle} in it stand for its port, and for the seconds after
which it closes an idle connection. The servers take turns. For each: N idle connections, and what the process does
meanwhile (CPU time, wake-ups, memory); when it closes them; then requests on 64 connections, and their CPU time.
An HTTP server gets its requests from wrk. An MQTT broker (--mqtt) gets clients of MQTT 3.1.1, which ask for a limit of
{idle} by their keep-alive, two thirds of it, and then messages that nobody has subscribed to. Loopback only."""

import argparse
import json
import os
import pathlib
import re
import selectors
import shlex
import socket
import statistics
import struct
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
# Of MQTT: 100 messages, and a PINGREQ, which is answered after them.
SEGMENT = (bytes([0x30, 12, 0, 4]) + b"case" + b"hello!") * 100 + b"\xc0\x00"


def state(pid):
    """CPU seconds, voluntary context switches, resident KiB."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu = (int(fields[11]) + int(fields[12])) / TICKS
    switches = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])
    resident = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    return cpu, switches, resident


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"measure: no server on port {port}")


def words(command, options, port):
    return shlex.split(command.replace("{port}", str(port)).replace("{idle}", str(options.idle)))


def measure(command, options, port):
    server = subprocess.Popen(words(command, options, port), stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        before = state(server.pid)
        opened = []
        for _ in range(options.connections):
            at = time.monotonic()  # before, so that no close seems early
            s = socket.create_connection(("127.0.0.1", port))
            if options.mqtt:
                s.sendall(mqtt_connect(options.idle))
            s.setblocking(False)
            opened.append((s, at))
        window = max(1, options.idle // 2)
        time.sleep(1)
        begin = state(server.pid)
        time.sleep(window)
        end = state(server.pid)
        late, early = closing(opened, options.idle)
        cpu = state(server.pid)[0]
        requests = publish(port, options.idle) if options.mqtt else ask(port)
        cpu = state(server.pid)[0] - cpu
    finally:
        server.terminate()
        server.wait()
    return {
        "CPU of idle connections, ms a second": (end[0] - begin[0]) * 1000 / window,
        "wake-ups a second": (end[1] - begin[1]) / window,
        "KiB a connection": (end[2] - before[2]) / options.connections,
        "closed early": early,
        "closed late, s, median": late[len(late) // 2] if late else None,
        "closed late, s, most": late[-1] if late else None,
        "CPU of a request or message, us": cpu * 1e6 / requests,
    }


def instructions(command, options, port):
    """Of a request: 2,000 one by one, after 500. Of a message: 10,000 of one client, after 1,000."""
    few, many = (1_000, 11_000) if options.mqtt else (500, 2_500)
    counts = []
    for number in few, many:
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        watched = [*valgrind, *words(command, options, port)]
        server = subprocess.Popen(watched, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            wait_for(port)
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
            time.sleep(1)
            if options.mqtt:
                publish_alone(port, options.idle, number)
            else:
                ask_one_by_one(port, number)
            time.sleep(1)
            for s in idle:
                s.close()
        finally:
            server.terminate()
            output = server.communicate()[1]
        counts.append(int(re.search(r"Collected : (\d+)", output)[1]))
        port += 1
    return {"instructions of a request or message": (counts[1] - counts[0]) / (many - few)}


def ask_one_by_one(port, number):
    """On one connection as long as the server keeps it."""
    s, answered = None, 0
    while answered < number:
        s = s or socket.create_connection(("127.0.0.1", port))
        answer, part = b"", b" "
        try:
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while part and not answer.endswith(b"hello"):
                answer += (part := s.recv(65536))
        except OSError:
            part = b""
        answered += answer.endswith(b"hello")
        if not part or b"connection: close" in answer.lower():
            s.close()
            s = None


def publish_alone(port, idle, number):
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(mqtt_connect(idle))
        receive(s, 4)  # CONNACK
        for _ in range(number // 100):
            s.sendall(SEGMENT)
            receive(s, 2)


def ask(port):
    """HTTP requests for 5 s. Returns how many were answered."""
    load = subprocess.run(
        ["wrk", "-t1", "-c64", "-d5s", f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True
    ).stdout
    return int(re.search(r"(\d+) requests in", load)[1])


def mqtt_connect(idle):
    """CONNECT of MQTT 3.1.1 (section 3.1), without a name. A broker closes after one and a half times the keep-alive."""
    return bytes.fromhex("100c00044d5154540402") + struct.pack(">HH", idle * 2 // 3, 0)


def publish(port, idle):
    """Messages of QoS 0 for 5 s. Returns how many the broker has read."""
    clients = []
    for _ in range(64):
        clients.append(socket.create_connection(("127.0.0.1", port)))
        clients[-1].sendall(mqtt_connect(idle))
        receive(clients[-1], 4)  # CONNACK
    sent, end = 0, time.monotonic() + 5
    while time.monotonic() < end:
        for s in clients:
            s.sendall(SEGMENT)
        for s in clients:
            receive(s, 2)
        sent += 100 * len(clients)
    for s in clients:
        s.close()
    return sent


def receive(s, size):
    while size > 0:
        part = s.recv(size)
        if not part:
            raise SystemExit("measure: the broker closed a connection that was in use")
        size -= len(part)


def closing(opened, idle):
    """How much later than `idle` each connection was closed, sorted; and how many were closed before."""
    late, early, left = [], 0, selectors.DefaultSelector()
    for s, at in opened:
        left.register(s, selectors.EVENT_READ, at)
    end = time.monotonic() + idle + 10
    while left.get_map() and time.monotonic() < end:
        for key, _ in left.select(1):
            now = time.monotonic()
            try:
                if key.fileobj.recv(4096):
                    continue
            except OSError:
                pass
            passed = now - key.data - idle
            late.append(passed)
            early += passed < 0
            left.unregister(key.fileobj)
            key.fileobj.close()
    for key in list(left.get_map().values()):
        key.fileobj.close()
    return sorted(late), early


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--connections", type=int, default=5000)
parser.add_argument("--idle", type=int, default=20)
parser.add_argument("--mqtt", action="store_true")
parser.add_argument("--instructions", action="store_true")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--result")
parser.add_argument("servers", nargs="+", metavar="NAME=COMMAND")
chosen = parser.parse_args()
found = {}
next_port = 18080
for _ in range(chosen.rounds):
    for server in chosen.servers:
        name, text = server.split("=", 1)
        one = instructions if chosen.instructions else measure
        found.setdefault(name, []).append(one(text, chosen, next_port))
        next_port += 2
for row in next(iter(found.values()))[0]:
    cells = []
    for name, runs in found.items():
        values = [r[row] for r in runs if r[row] is not None]
        cells.append(f"{name} {statistics.median(values):.3f}" if values else f"{name} -")
    print(f"{row:38} " + "   ".join(cells))
if chosen.result:
    settings = {"connections": chosen.connections, "idle": chosen.idle, "mqtt": chosen.mqtt, "load": os.getloadavg()}
    pathlib.Path(chosen.result).write_text(json.dumps({"settings": settings, "runs": found}, indent=1) + "\n")
