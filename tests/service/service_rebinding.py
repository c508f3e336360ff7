#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_rebinding.py COGWHEELD: callbacks to names whose server changes its answer (DNS rebinding) reach nothing inside.

The name server is a real one on port 53, in a network namespace and a mount namespace of its own, where there is only a loopback.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # the source tree stays as it is

from service_process import Receiver, Service, check, conclude, eventually

PUBLIC, INSIDE = "93.184.216.34", "127.0.0.1"
CONFIG = '[callbacks]\nbackoff_first = "50ms"\nbackoff_cap = "50ms"\nconnect_timeout = "2s"\n'


class NameServer:
    """Answers A questions by the first label. turns: another address each time, both: two addresses, inside: the loopback."""

    def __init__(self):
        self.asked, self.socket = {}, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def addresses(self, label):
        n = self.asked[label] = self.asked.get(label, 0) + 1
        return {"turns": [PUBLIC if n % 2 else INSIDE], "both": [PUBLIC, INSIDE], "inside": [INSIDE]}.get(label, [])

    def serve(self):
        while True:
            question, client = self.socket.recvfrom(2048)
            end = question.index(b"\0", 12) + 5
            label = question[13:13 + question[12]].decode()
            kind = struct.unpack(">H", question[end - 4:end - 2])[0]
            answers = self.addresses(label) if kind == 1 else []
            head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, len(answers), 0, 0)
            records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(a) for a in answers)
            self.socket.sendto(head + question[12:end] + records, client)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(s, 0x8913, request))[1]  # SIOCGIFFLAGS
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))  # SIOCSIFFLAGS, IFF_UP


def inside(binary):
    with tempfile.TemporaryDirectory() as directory, Receiver() as receiver:
        loopback_up()
        for name, text in (("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:2\n"), ("/etc/nsswitch.conf", "hosts: files dns\n")):
            file = os.path.join(directory, os.path.basename(name))
            with open(file, "w", encoding="ascii") as out:
                out.write(text)
            if os.path.exists(name):
                subprocess.run(["mount", "--bind", file, os.path.realpath(name)], check=True)
        names = NameServer()
        config = os.path.join(directory, "config.toml")
        with open(config, "w", encoding="ascii") as out:
            out.write(CONFIG)
        port = receiver.url.rpartition(":")[2]
        options = ["--data", os.path.join(directory, "refused"), "--config", config]

        def task(service, label):
            return service.ask("GET", f"/v1/tasks/{label}").json

        def refused(service, label):
            return eventually(lambda: task(service, label).get("state") == "dead", service) and "127.0.0.1" in task(service, label)["message"]
        with Service(binary, *options, allow=False) as service:
            service.ready()
            for label in ("turns", "both", "inside"):
                service.schedule(id=label, url=f"http://{label}.test:{port}/", max_attempts=20)
            check("a name of the loopback: dead, and the message names the address", refused(service, "inside"), repr(task(service, "inside")))
            for label in ("turns", "both"):
                check(f"a name with an outer address: {label}: goes there, in vain", eventually(lambda n=label: "cannot be reached" in task(service, n).get("message", ""), service))
            check("one question for a callback: what was checked is what is called", names.asked["turns"] == 1, repr(names.asked))
            service.end()
        with Service(binary, *options, allow=False) as service:  # what it knew of names is gone
            service.ready()
            check("a name whose answer has changed: dead, and the message names the address", refused(service, "turns"), repr(task(service, "turns")))
            check("it was asked again", names.asked["turns"] == 2, repr(names.asked))
            check("not one callback arrived", not receiver.calls, repr(receiver.calls))
        with Service(binary, "--data", os.path.join(directory, "allowed"), "--config", config) as service:
            service.ready()
            service.schedule(id="allowed", url=f"http://inside.test:{port}/")
            check("where the address is allowed, it arrives", eventually(lambda: len(receiver.of("allowed")) == 1, service))
    return conclude()


def main(binary):
    for options in (["--net", "--mount"], ["--user", "--map-root-user", "--net", "--mount"]):
        if shutil.which("unshare") and subprocess.run(["unshare", *options, "true"], capture_output=True, check=False).returncode == 0:
            return subprocess.run(["unshare", *options, sys.executable, "-B", os.path.abspath(__file__), "--inside", os.path.abspath(binary)], check=False).returncode
    print("skipped: this machine allows no namespaces (unshare --net --mount)")
    return 0


if __name__ == "__main__":
    sys.exit(inside(sys.argv[2]) if sys.argv[1] == "--inside" else main(sys.argv[1]))
