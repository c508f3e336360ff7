# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Redis servers for the chaos tests: one server, a master with replicas and sentinels, or a cluster.

All of them live in a temporary directory and on the loopback; nothing here knows the system's service. Only processes
that this file started are killed.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support.redis_program import redis_program
from support.reserved_ports import reserved_ports

WAIT = threading.Event().wait  # a pause that a signal ends


def missing():
    """Returns the program that is not installed, or None."""
    return None if redis_program() else os.environ.get("COGWHEEL_REDIS", "redis-server")


class RedisError(Exception):
    pass


class Connection:
    """A client of a few lines. An error reply is a RedisError; no answer in time is an OSError."""

    def __init__(self, address, timeout=1.0):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.buffer = self.socket.makefile("rb")

    def close(self):
        self.buffer.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, *words):
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))

    def read(self):
        line = self.buffer.readline()
        if not line.endswith(b"\r\n"):
            raise OSError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.buffer.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise OSError(f"unknown reply {line!r}")

    def command(self, *words):
        self.send(*words)
        return self.read()

    def keys(self):
        cursor, found = b"0", []
        while True:
            cursor, some = self.command("SCAN", cursor, "COUNT", 500)
            found += [key.decode() for key in some]
            if cursor == b"0":
                return sorted(set(found))


class Server:
    """One process. `lines`: its configuration."""

    def __init__(self, directory, port, lines=(), sentinel=False, fsync="everysec"):
        self.directory, self.port, self.sentinel = directory, port, sentinel
        os.makedirs(directory, exist_ok=True)
        self.file = os.path.join(directory, "redis.conf")
        self.socket = os.path.join(directory, "s")
        self.process = None
        own = [f"port {port}", "bind 127.0.0.1", f"dir {directory}", "logfile log", "daemonize no"]
        if not sentinel:
            own += [f"unixsocket {self.socket}", "appendonly yes", f"appendfsync {fsync}", 'save ""']
        with open(self.file, "w", encoding="utf-8") as out:
            out.write("\n".join([*own, *lines]) + "\n")

    def start(self):
        words = [redis_program(), self.file] + (["--sentinel"] if self.sentinel else [])
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def connect(self, timeout=1.0):
        return Connection(("127.0.0.1", self.port), timeout)

    def answers(self, timeout=0.2):
        try:
            with self.connect(timeout) as c:
                return c.command("PING") == "PONG"
        except (OSError, RedisError):
            return False

    def await_answer(self, patience=10.0):
        end = time.monotonic() + patience
        while not self.answers():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"no answer of the server in {self.directory}: see its file log")
            WAIT(0.002)
        return self

    def role(self):
        try:
            with self.connect(0.5) as c:
                return c.command("ROLE")[0].decode()
        except (OSError, RedisError):
            return "away"

    def signal(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()


class Single:
    topology = "single"

    def __init__(self, directory, fsync="everysec"):
        self.server = Server(os.path.join(directory, "redis"), reserved_ports(1)[0], fsync=fsync)
        self.all = [self.server]
        self.server.start().await_answer()
        self.url = f"unix://{self.server.socket}"

    def tasks_at(self):
        return [self.server]


class Replicated:
    """A master and replicas; with sentinels if `sentinels` is not 0."""

    topology = "sentinel"

    def __init__(self, directory, replicas=2, sentinels=3, fsync="everysec"):
        ports = reserved_ports(1 + replicas + sentinels)
        self.nodes = []
        for i, port in enumerate(ports[:1 + replicas]):
            lines = [] if i == 0 else [f"replicaof 127.0.0.1 {ports[0]}"]
            lines += ["repl-diskless-sync yes", "repl-diskless-sync-delay 0"]
            self.nodes.append(Server(os.path.join(directory, f"node{i}"), port, lines, fsync=fsync))
        watch = [f"sentinel monitor mymaster 127.0.0.1 {ports[0]} {sentinels // 2 + 1}",
                 "sentinel down-after-milliseconds mymaster 2000", "sentinel failover-timeout mymaster 5000"]
        self.sentinels = [Server(os.path.join(directory, f"sentinel{i}"), port, watch, sentinel=True)
                          for i, port in enumerate(ports[1 + replicas:])]
        self.all = self.nodes + self.sentinels
        for node in self.nodes:
            node.start().await_answer()
        self.await_replicas(replicas)
        for sentinel in self.sentinels:
            sentinel.start().await_answer()
        self._await(lambda: all(self._knows(s, replicas, sentinels) for s in self.sentinels), "sentinels")
        hosts = ",".join(f"127.0.0.1:{s.port}" for s in self.sentinels)
        self.url = f"sentinel://{hosts}/mymaster" if sentinels else f"redis://127.0.0.1:{self.nodes[0].port}"

    @staticmethod
    def _await(condition, what, patience=20.0):
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"{what}: not ready in time")
            WAIT(0.02)

    def await_replicas(self, number):
        def ready():
            with self.master().connect() as c:
                text = c.command("INFO", "replication").decode()
            return text.count("state=online") >= number
        self._await(ready, "replicas")

    @staticmethod
    def _knows(sentinel, replicas, sentinels):
        with sentinel.connect() as c:
            fields = c.command("SENTINEL", "MASTER", "mymaster")
        known = dict(zip(fields[::2], fields[1::2]))
        return int(known[b"num-slaves"]) >= replicas and int(known[b"num-other-sentinels"]) >= sentinels - 1

    def masters(self):
        return [n for n in self.nodes if n.process and n.process.poll() is None and n.role() == "master"]

    def master(self):
        masters = self.masters()
        if len(masters) > 1 and self.sentinels:  # the old one, just after its return
            with self.sentinels[0].connect() as c:
                port = int(c.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")[1])
            masters = [n for n in masters if n.port == port] or masters
        return masters[0] if masters else None

    def tasks_at(self):
        """Once an old master is none any more: a busy machine may have had a second failover."""
        if self.sentinels:
            self._await(lambda: len(self.masters()) == 1, "one master")
        return [self.master()]


class Cluster:
    """Three masters. move() takes a slot from one to another, as redis-cli does, key by key."""

    topology = "cluster"

    def __init__(self, directory, fsync="everysec"):
        ports, bus_ports = reserved_ports(3), reserved_ports(3)
        self.nodes = []
        for i, (port, bus_port) in enumerate(zip(ports, bus_ports)):
            lines = ["cluster-enabled yes", "cluster-node-timeout 2000", f"cluster-port {bus_port}"]
            self.nodes.append(Server(os.path.join(directory, f"node{i}"), port, lines, fsync=fsync))
        self.all = self.nodes
        for node in self.nodes:
            node.start().await_answer()
        third = 16_384 // 3
        self.ids = []
        for i, node in enumerate(self.nodes):
            with node.connect(5.0) as c:
                last = 16_383 if i == 2 else (i + 1) * third - 1
                c.command("CLUSTER", "ADDSLOTSRANGE", i * third, last)
                c.command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
                self.ids.append(c.command("CLUSTER", "MYID").decode())
                if i:
                    c.command("CLUSTER", "MEET", "127.0.0.1", ports[0], bus_ports[0])
        Replicated._await(lambda: all(self._whole(node) for node in self.nodes), "the cluster")
        self.url = "cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports)

    @staticmethod
    def _whole(node):
        with node.connect() as c:
            text = c.command("CLUSTER", "INFO").decode()
        return "cluster_state:ok" in text and "cluster_known_nodes:3" in text

    def slot_of(self, key):
        with self.nodes[0].connect() as c:
            return c.command("CLUSTER", "KEYSLOT", key)

    def owner(self, slot):
        with self.nodes[0].connect() as c:
            for first, last, node, *_ in c.command("CLUSTER", "SLOTS"):
                if first <= slot <= last:
                    return next(i for i, n in enumerate(self.nodes) if n.port == node[1])
        raise RuntimeError(f"slot {slot} has no owner")

    def move(self, slot, pause=0.0):
        """Returns the number of keys. `pause`: after each key, so that scripts meet a slot that is half here."""
        source = self.owner(slot)
        target = (source + 1) % 3
        moved = 0
        with self.nodes[source].connect(5.0) as old, self.nodes[target].connect(5.0) as new:
            new.command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[source])
            old.command("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[target])
            while keys := old.command("CLUSTER", "GETKEYSINSLOT", slot, 1):
                old.command("MIGRATE", "127.0.0.1", self.nodes[target].port, keys[0], 0, 5000)
                moved += 1
                WAIT(pause)
            for node in (new, old):
                node.command("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target])
        with self.nodes[3 - source - target].connect() as third:
            third.command("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target])
        return moved

    def tasks_at(self):
        return self.nodes


def make(topology, directory, fsync):
    return {"single": Single, "sentinel": Replicated, "cluster": Cluster}[topology](directory, fsync=fsync)
