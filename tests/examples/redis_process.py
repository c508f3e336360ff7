# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""A Redis server as a process of its own: on a unix socket in a directory of its own; on a port only if it has replicas."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.redis_program import redis_program  # noqa: E402

PATIENCE = 20.0  # seconds


def installed():
    return redis_program() is not None


class Redis:
    """A server with an append-only file. It can be killed and started again; its tasks stay.

    appendfsync is always: with everysec, Redis may answer up to two seconds before it writes, while the disk is busy.
    """

    def __init__(self, directory, port=0, replica_of=0):
        self.directory, self.port = str(directory), port
        self.options = ["--replicaof", "127.0.0.1", str(replica_of)] if replica_of else []
        self.socket = os.path.join(self.directory, "redis.sock")
        self.url = f"unix://{self.socket}"
        self.process = None

    def start(self, wait=True):
        self.process = subprocess.Popen(
            [redis_program(), "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket, "--dir", self.directory, "--save", "", "--appendonly",
             "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0", "--logfile", os.path.join(self.directory, "redis.log"), *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while wait and not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{redis_program()} did not start: {self.log()}")
        return self

    def command(self, *words):
        """Returns the reply as text."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE)
            s.connect(self.socket)
            s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)))
            return s.recv(1 << 16).decode()

    def answers(self):
        """Whether it has loaded its data. One that does not answer yet is asked again by the caller."""
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(1)
                s.connect(self.socket)
                s.sendall(b"PING\r\n")
                return s.recv(64).startswith(b"+PONG")
        except OSError:
            self.wait_a_little()
            return False

    def wait_a_little(self):
        try:
            self.process.wait(0.02)
        except subprocess.TimeoutExpired:
            pass

    def log(self):
        try:
            with open(os.path.join(self.directory, "redis.log"), encoding="utf-8") as file:
                return file.read()[-1000:]
        except OSError:
            return ""

    def kill(self):
        """kill -9."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
