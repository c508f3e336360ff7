# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""cogwheeld as a process under test, and a receiver of its callbacks. Every wait has a time limit."""

import http.client
import http.server
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))

from server_process import PATIENCE, Server, check, conclude, eventually  # noqa: E402, F401


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Service(Server):
    """On a port that the system chose. Callbacks may reach the loopback."""

    patience = 2 * PATIENCE  # it lets callbacks end

    def __init__(self, binary, *options, descriptors=None, allow=True, cwd=None, listen="127.0.0.1:0", token=None):
        allowed = ("--allow-network", "127.0.0.0/8") if allow else ()
        super().__init__(binary, *options, *allowed, descriptors=descriptors, cwd=cwd, listen=("--listen", listen))
        self.token = token
        self.url = "http://{}:{}".format(*self.address)
        self.kept = threading.local()

    def ask(self, method, path, body=None, headers=None, raw=None):
        """One request on a connection that is kept for each thread."""
        send = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            send["Content-Type"] = "application/json"
        send |= headers or {}
        for attempt in (1, 2):
            connection = getattr(self.kept, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self.kept.connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
            try:
                connection.request(method, path, data, send)
                r = connection.getresponse()
                return Answer(r.status, r.headers, r.read().decode(errors="replace"))
            except (OSError, http.client.HTTPException):
                connection.close()
                self.kept.connection = None
                if fresh or attempt == 2:
                    raise

    def ready(self):
        return eventually(lambda: self.ask("GET", "/readyz").status == 200, self)

    def schedule(self, **task):
        return self.ask("POST", "/v1/tasks", task)


class Receiver:
    """Notes each callback with its time, and answers by the path: /204 answers 204, /slow after a second, /large with 100,000 bytes."""

    def __init__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def take(self):
                now = time.time()
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with receiver.lock:
                    receiver.calls.append((now, self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                last = self.path.rpartition("/")[2]
                if last == "slow":
                    receiver.stop.wait(1)
                status = int(last) if last.isdigit() else 200
                self.send_response(status)
                for name, value in receiver.answer_headers.items():
                    self.send_header(name, value)
                answer = b"" if status == 204 else b"x" * 100_000 if last == "large" else b"taken"
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = take

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, *_):  # a client that was killed
                pass

        self.calls, self.lock, self.stop, self.answer_headers = [], threading.Lock(), threading.Event(), {}
        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def of(self, task):
        with self.lock:
            return [c for c in self.calls if c[3].get("webhook-id") == task]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.server.shutdown()
        self.server.server_close()


class Events:
    """A viewer of /events: reads in a thread."""

    def __init__(self, service):
        self.connection = http.client.HTTPConnection(*service.address, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {service.token}"} if service.token else {}
        self.connection.request("GET", "/events", headers=headers)
        self.answer = self.connection.getresponse()
        self.seen = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        name = ""
        try:
            for line in self.answer:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text[7:]
                elif text.startswith("data: "):
                    self.seen.append((name, json.loads(text[6:])))
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def kinds(self, task):
        return [data["kind"] for name, data in list(self.seen) if name == "task" and data.get("id") == task]

    def close(self):
        self.connection.close()
