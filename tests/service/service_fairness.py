#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Callbacks to hosts that do not take them, beside those to a host that does: these arrive, the others wait without an attempt, and
SIGTERM at any moment uses none for what was not sent. How late they are: bench/durable/fairness.py."""

import asyncio
import os
import random
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from service_process import Service, check, conclude, eventually  # noqa: E402


class Receivers:
    """Any number of ports in one thread. Each notes what arrives, and answers after a time, or never."""

    def __init__(self):
        self.loop, self.ended = asyncio.new_event_loop(), asyncio.Event()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.calls = {}

    def open(self, delay=0.0, status=200):
        """Returns the URL of a new receiver."""
        async def serve():
            calls = []

            async def session(reader, writer):
                try:
                    while True:
                        head = await reader.readuntil(b"\r\n\r\n")
                        calls.append((time.time(), head))
                        length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                        await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
                        if delay:
                            await asyncio.wait([asyncio.ensure_future(self.ended.wait())], timeout=delay)
                        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
                except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
                    pass
                writer.close()

            server = await asyncio.start_server(session, "127.0.0.1", 0, backlog=1024)
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            self.calls[url] = calls
            return url

        return asyncio.run_coroutine_threadsafe(serve(), self.loop).result()

    def ids(self, url):
        """Those that have arrived, with the time of the first call."""
        seen = {}
        for at, head in list(self.calls[url]):
            name = [line[12:] for line in head.decode().split("\r\n") if line.lower().startswith("webhook-id: ")]
            seen.setdefault(name[0], at)
        return seen

    def close(self):
        async def end():
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            if others:
                await asyncio.wait(others)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


def closed_port():
    """The URL of a port on which nobody listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{s.getsockname()[1]}"


def fill(service, urls, callbacks, **more):
    """Schedules callbacks that are due at once, in turn over the URLs."""
    ids = []
    for first in range(0, callbacks, 1000):
        tasks = [{"id": f"other-{i}", "url": urls[i % len(urls)], **more} for i in range(first, min(callbacks, first + 1000))]
        answer = service.ask("POST", "/v1/tasks:bulk", {"tasks": tasks})
        assert answer.status == 200, answer
        ids += [t["id"] for t in tasks]
    return ids


def test(binary):
    receivers = Receivers()
    fast, slow, failing = receivers.open(), receivers.open(delay=60.0), receivers.open(status=500)
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "config"), "w", encoding="ascii") as config:
            config.write('drain = "200ms"\n[callbacks]\nmax_in_flight = 16\nmax_per_host = 8\n')
        options = ("--config", os.path.join(directory, "config"), "--data", os.path.join(directory, "data"))
        with Service(binary, *options, cwd=directory) as service:
            check("ready", service.ready())
            others = fill(service, [slow, failing, closed_port()], 600, max_attempts=1)
            for n in range(10):
                service.schedule(id=f"fast-{n}", url=fast)
                check(f"fast callback {n} arrives beside 600 to hosts that do not take them", eventually(lambda: f"fast-{n}" in receivers.ids(fast), service))
            check("no host has more than it may", len(receivers.calls[slow]) <= 8, str(len(receivers.calls[slow])))
            last = service.ask("GET", "/v1/tasks/other-597").json
            check("a task of a slow host waits without an attempt", (last["state"], last["attempt"]) == ("waiting", 0), repr(last))
            check("and it is said for what", eventually(lambda: "waiting_for" in service.ask("GET", "/v1/tasks/other-597").json, service))
            check("and for how long", eventually(lambda: "cogwheeld_tasks_waiting_oldest_seconds 0\n" not in service.ask("GET", "/metrics").body, service))
            check("it can be cancelled", service.ask("DELETE", "/v1/tasks/other-597").status == 200)
            code, _, _ = service.end()
            check("with callbacks under way at the end of the drain, it ends with 1", code == 1, str(code))
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        for _ in range(3):
            service = Service(binary, *options, cwd=directory)
            with service:
                check("ready again", service.ready())
                some = rng.randrange(8)
                eventually(lambda: len(receivers.calls[slow]) >= some, service)
                code, _, _ = service.end()
                check(f"ends (seed {seed})", code in (0, 1), str(code))
        with Service(binary, "--data", os.path.join(directory, "data"), "--config", os.path.join(directory, "config"), cwd=directory) as service:
            check("ready at last", service.ready())
            service.ask("POST", "/v1/queue:pause")
            sent = set(receivers.ids(slow)) | set(receivers.ids(failing))
            lost, wrong = [], []
            for i, name in enumerate(others):
                if name == "other-597":
                    continue
                answer = service.ask("GET", f"/v1/tasks/{name}")
                if answer.status != 200:
                    lost.append(name)
                elif answer.json["state"] == "dead" and name not in sent and i % 3 != 2:
                    wrong.append(answer.json)
            check("none is lost", not lost, repr(lost[:5]))
            check("none is dead that was not sent", not wrong, repr(wrong[:3]))
    receivers.close()
    conclude()


if __name__ == "__main__":
    test(sys.argv[1])
