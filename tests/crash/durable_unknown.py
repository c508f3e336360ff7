#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""durable_unknown.py BUILD_DIRECTORY: what a caller sees when the replica dies between a change and its confirmation.

A master with one replica, and a queue under replicas(1). The replica is stopped, so that it can confirm nothing. The client
adds a task, and the replica is killed while the client waits. Then:

- the add answers durability_unknown, and the receipt names the task that the master has;
- to repeat it with on_duplicate::keep answers the same task again: unknown without a replica, success when it is back;
- a cancel in the same situation answers what it did: the task is gone;
- the repeated task is delivered once, the cancelled one never.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

import durable_ledger
import redis_servers
from durable_ledger import Ledger, Task
from durable_nodes import Client, Inbox
from redis_servers import WAIT


def await_(condition, what, patience=10.0):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(what)
        WAIT(0.01)


class Script:
    def __init__(self, build, directory):
        self.servers = redis_servers.Replicated(directory, replicas=1, sentinels=0)
        self.replica = self.servers.nodes[1]
        self.inbox = Inbox(directory)
        self.ledger = Ledger()
        self.node = os.path.join(build, "tests", "durable_node")
        self.common = ["--url", self.servers.url, "--durability", "replicas:1"]
        words = [self.node, "client", *self.common, "--replica-timeout", "2000"]
        self.client = Client(words, self.ledger, directory)
        self.worker = None
        self.faults = []

    def check(self, what, good):
        print(f"  {'yes' if good else 'NO '} {what}")
        if not good:
            self.faults.append(what)

    def once(self, name, delay):
        """One try, and its answer as a task of the ledger."""
        task = self.ledger.tasks[name] = Task(name)
        self.client.say(f"once {name} {delay} 0 0")
        return task

    def answered(self, task):
        await_(lambda: task.added or task.error, f"no answer for {task.id}")
        return task

    def run(self):
        self.check("with the replica, an add succeeds", self.answered(self.once("first", 0)).added)
        self.replica.signal(signal.SIGSTOP)
        task = self.once("a", 3_000)
        WAIT(0.1)
        self.replica.kill()
        unknown = "the replicas have not confirmed"  # of the error's message
        self.answered(task)
        self.check(f"the add says that its durability is not known: {task.error}", not task.added and unknown in task.error)
        with self.servers.nodes[0].connect() as c:
            stored = [k for k in c.keys() if k.endswith(":meta") and c.command("HEXISTS", k, "a")]
        self.check("the master has the task", len(stored) == 1)
        again = self.answered(self.once("a", 3_000))
        self.check(f"the repeated add says the same: {again.error}", not again.added and unknown in again.error)
        gone = self.answered(self.once("b", 3_000))
        self.check("another add, too", not gone.added)
        self.client.say("cancel b")
        await_(lambda: gone.cancel, "no answer of cancel")
        self.check("the cancel says that it removed the task", gone.cancel == "cancelled")
        self.replica.start().await_answer()
        self.servers.await_replicas(1)
        known = self.answered(self.once("a", 3_000))
        self.check("with the replica, the repeated add succeeds", known.added)
        words = [self.node, "worker", *self.common, "--id", "w", "--socket", self.inbox.path]
        self.worker = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        self.check("the queue becomes empty", self.client.await_empty(20))
        ids = [d.id for d in durable_ledger.read_deliveries(self.inbox.file)]
        self.check(f"delivered: {ids}", sorted(ids) == ["a", "first"])

    def end(self):
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()
        self.client.end()
        self.inbox.end()
        for server in self.servers.all:
            server.signal(signal.SIGCONT)
            server.kill()


def main():
    if what := redis_servers.missing():
        print(f"skipped: {what} is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="durable-") as directory:
        script = Script(sys.argv[1], directory)
        try:
            script.run()
        finally:
            script.end()
    print("BROKEN" if script.faults else "ok")
    return 1 if script.faults else 0


if __name__ == "__main__":
    sys.exit(main())
