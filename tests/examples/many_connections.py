# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Thousands of connections at once on one thread: each is served, and each is closed in time."""

import contextlib
import resource
import select
import time

from server_process import PATIENCE, TICK, Server, check, readable


def many(binary, count, strict):
    """`count` connections at once on one thread: each is served, and each is closed in time."""
    needed = count + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        print(f"skip {count} connections: the descriptor limit is {hard}", flush=True)
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))

    idle = 5.0
    with Server(binary, "--idle", f"{idle:.0f}s") as server:
        began = time.monotonic()
        clients = [server.connect() for _ in range(count)]
        connected = time.monotonic() - began
        before, after = {}, {}
        intact = 0
        for number, client in enumerate(clients):
            before[client] = time.monotonic()
            client.sendall(b"%06d" % number)
            intact += readable(client) and client.recv(6) == b"%06d" % number
            after[client] = time.monotonic()
        check(f"{count} connections at once are served", intact == count,
              f"{intact} echoes, connected in {connected:.2f} s, all echoes after {time.monotonic() - began:.2f} s")

        with select.epoll() as poller:
            by_number = {}
            for client in clients:
                poller.register(client, select.EPOLLIN)
                by_number[client.fileno()] = client
            closed = {}
            while by_number:
                events = poller.poll(PATIENCE)
                now = time.monotonic()
                if not events:
                    break
                for number, _ in events:
                    client = by_number.pop(number)
                    poller.unregister(client)
                    with contextlib.suppress(ConnectionResetError):
                        if client.recv(1) == b"":
                            closed[client] = now
        check(f"{count} connections are all closed", len(closed) == count, f"{len(closed)} in order")
        early = min(closed[client] - before[client] for client in closed)
        late = sorted(closed[client] - after[client] - idle for client in closed)
        p50, p99, most = (late[int(q * (len(late) - 1))] * 1000 for q in (0.5, 0.99, 1))
        check("none of them before its idle limit", early >= idle, f"earliest {early:.6f} s, limit {idle:.3f} s")
        text = f"lateness at the client p50 {p50:.2f} ms, p99 {p99:.2f} ms, max {most:.2f} ms"
        if strict:
            check("none of them more than a tick and 50 ms late", most <= (TICK + 0.050) * 1000, text)
        else:
            print("     " + text, flush=True)
        for client in clients:
            client.close()
        code, out, _ = server.end()
        check("and the server ends with exit code 0", code == 0,
              next((line for line in out.splitlines() if line.startswith("lateness")), ""))
