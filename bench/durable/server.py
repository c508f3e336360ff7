# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""A redis-server of the benchmark's own, in a temporary folder, on a unix socket; and what the benchmark asks it."""

import pathlib
import shutil
import socket
import subprocess
import tempfile
import time


class Server:
    """With AOF everysec, as a server that keeps tasks has it. Ends with its `with` block."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="durable-bench-"))
        self.path = str(self.folder / "redis.sock")
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--dir", str(self.folder), "--appendonly", "yes",
             "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction", "--slowlog-log-slower-than", "1000",
             "--slowlog-max-len", "4096", "--latency-tracking-info-percentiles", "50", "99", "99.9", "100"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 5
        while True:
            try:
                self.connection = socket.socket(socket.AF_UNIX)
                self.connection.connect(self.path)
                break
            except OSError:
                self.connection.close()
                if time.monotonic() > until:
                    self.close()
                    raise
                time.sleep(0.02)
        self.reader = self.connection.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, *words):
        return self.ask_all([words])[0]

    def ask_all(self, commands):
        """Sends all commands in one write."""
        text = b""
        for words in commands:
            parts = [str(w).encode() for w in words]
            text += b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
        self.connection.sendall(text)
        return [self._reply() for _ in commands]

    def _reply(self):
        line = self.reader.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.reader.read(int(rest) + 2)[:-2].decode("utf-8", "replace")
        if kind == b"*":
            return None if rest == b"-1" else [self._reply() for _ in range(int(rest))]
        return rest.decode()

    def info(self, section):
        return dict(line.split(":", 1) for line in self.ask("INFO", section).split("\r\n") if ":" in line)

    def cpu_us(self):
        """Of the main thread: the process has others, for AOF."""
        info = self.info("cpu")
        return round(1e6 * (float(info["used_cpu_user_main_thread"]) + float(info["used_cpu_sys_main_thread"])))

    def memory(self):
        return int(self.info("memory")["used_memory"])

    def forget(self):
        """Starts the slow log and the statistics of commands anew."""
        self.ask("SLOWLOG", "RESET")
        self.ask("CONFIG", "RESETSTAT")

    def commands(self):
        """Calls, mean and highest duration of the commands that took the most time, and the slowest calls (wall us)."""
        stats = self.info("commandstats")
        rows = {}
        for name, text in stats.items():
            values = dict(v.split("=") for v in text.split(","))
            rows[name.removeprefix("cmdstat_")] = {"calls": int(values["calls"]), "us": int(values["usec"])}
        for name, text in self.info("latencystats").items():
            name = name.removeprefix("latency_percentiles_usec_")
            if name in rows:
                rows[name]["percentiles"] = {k: float(v) for k, v in (p.split("=") for p in text.split(","))}
        rows = dict(sorted(rows.items(), key=lambda r: -r[1]["us"])[:6])
        slow = [{"us": entry[2], "call": " ".join(w[:24] for w in entry[3][:4]), "words": len(entry[3])}
                for entry in self.ask("SLOWLOG", "GET", 4096)]
        slow.sort(key=lambda s: -s["us"])
        return {"commands": rows, "slower than 1 ms": len(slow), "slowest": slow[:5]}
