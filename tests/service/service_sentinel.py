#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_sentinel.py COGWHEELD: three services, a Redis with replicas, and sentinels (service/deploy/three_workers.sh). The
primary is killed, and one service; callbacks go on."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from service_process import PATIENCE, Receiver, check, conclude
import redis_process
from support.reserved_ports import reserved_ports

HERE = os.path.dirname(os.path.abspath(__file__))
GIVE_UP = 4 * PATIENCE  # a sentinel takes some seconds


class Script:
    def __init__(self, binary, first):
        self.process = subprocess.Popen([os.path.join(HERE, "../../service/deploy/three_workers.sh"), binary, str(first)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.pids, self.lines = {}, []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            name, _, pid = line.rstrip("\n").partition(" is process ")
            if pid:
                self.pids[name] = int(pid)

    def kill(self, name):
        os.kill(self.pids[name], signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(2 * PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        check("the example ends in good order", self.process.returncode == 0, str(self.process.returncode))


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"} if body is not None else {})
        r = connection.getresponse()
        return r.status, r.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def until(condition):
    end = time.monotonic() + GIVE_UP
    while not (result := condition()) and time.monotonic() < end:
        threading.Event().wait(0.05)
    return result


def main(binary):
    if not redis_process.installed():
        print("skipped: redis-server is not installed")
        return 0
    first = reserved_ports(23)[0]
    ports = [first + 20, first + 21, first + 22]
    with tempfile.TemporaryDirectory(), Receiver() as receiver, Script(os.path.abspath(binary), first) as script:
        check("three services are ready", until(lambda: all(ask(p, "GET", "/readyz")[0] == 200 for p in ports)), "".join(script.lines))
        names, refused = [], 0

        def schedule(i):
            nonlocal refused
            name = f"task-{i}"
            task = {"id": name, "url": receiver.url + "/204", "delay": f"{200 * (i % 20)}ms", "policy": "keep"}

            def taken():
                nonlocal refused
                status, _ = ask(ports[i % 3], "POST", "/v1/tasks", task)
                refused += status not in (200, 201)
                return status in (200, 201)
            if until(taken):
                names.append(name)
        for i in range(60):
            schedule(i)
        script.kill(f"redis-{first}")
        script.kill(f"cogwheeld-{ports[0]}")
        for i in range(60, 120):
            schedule(i)
        check("120 tasks: all were taken, before and after the primary was killed", len(names) == 120, str(len(names)))
        check("the fault was felt", refused > 0, str(refused))
        check("all were delivered", until(lambda: {c[3].get("webhook-id") for c in list(receiver.calls)} >= set(names)),
              repr(set(names) - {c[3].get("webhook-id") for c in list(receiver.calls)}))
        check("three services are ready again", until(lambda: all(ask(p, "GET", "/readyz")[0] == 200 for p in ports)))
    return conclude()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
