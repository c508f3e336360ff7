# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The command line and the configuration file of cogwheeld: what is refused, and by which words. A part of service_api.py."""

import os
import re
import subprocess

from service_process import PATIENCE, Service, check


def command_lines(binary, directory):
    config = os.path.join(directory, "bad.toml")

    def refused(name, *options, named="", text=None):
        if text is not None:
            with open(config, "w", encoding="utf-8") as out:
                out.write(text)
        done = subprocess.run([binary, *options], capture_output=True, text=True, timeout=PATIENCE, cwd=directory)
        lines = done.stderr.strip().splitlines()
        check(f"{name}: exit code 2 and one line", done.returncode == 2 and not done.stdout and len(lines) == 1 and named in lines[0], done.stderr)

    refused("unknown option", "--lisen", "x", named="--lisen")
    refused("no address", "--listen", "here", named="--listen")
    refused("everybody", "--listen", "0.0.0.0:0", named="--token-file")
    refused("bad URL", "--redis", "http://a", named="http")
    refused("half a service on a journal", "--api-only", named="--redis")
    refused("no service", "--api-only", "--worker-only", "--redis", "redis://127.0.0.1:1", named="exclude")
    refused("missing token file", "--token-file", "missing", named="missing")
    refused("bad network", "--allow-network", "10.0.0.1/8", named="10.0.0.1/8")
    refused("bad namespace", "--namespace", "a b", named="name")
    refused("a directory that cannot be", "--data", "/proc/x", named="/proc/x")
    refused("missing config", "--config", "missing.toml", named="missing.toml")
    for name, text, named in (("no TOML", "listen = ", "line 1"), ("unknown key", "[limits]\nrat = 5\n", "limits.rat"), ("unknown table", "[limit]\n", "limit"),
                              ("wrong type", "listen = 5\n", "listen"), ("out of range", "[limits]\nrate = -1\n", "limits.rate"),
                              ("bad duration", "drain = \"long\"\n", "drain"), ("bad durability", "[tasks]\ndurability = \"sure\"\n", "durability"),
                              ("bad role", "role = \"boss\"\n", "role")):
        refused(f"config: {name}", "--config", config, named=named, text=text)
    example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../service/deploy/cogwheeld.toml")
    with Service(binary, "--config", example, cwd=directory) as service:
        check("config: the example is accepted", service.ready() and service.end()[0] == 0)
    with open(example, encoding="utf-8") as text:
        said = {line.removeprefix("# ").partition(" ")[0] for line in text if re.match(r"(# )?[a-z_]+ +=", line)}
    for name, text in (("", "x = 1\n"), ("tasks", "[tasks]\nx = 1\n"), ("callbacks", "[callbacks]\nx = 1\n"), ("limits", "[limits]\nx = 1\n")):
        with open(config, "w", encoding="utf-8") as out:
            out.write(text)
        known = subprocess.run([binary, "--config", config], capture_output=True, text=True, timeout=PATIENCE, cwd=directory).stderr
        keys = set(known.strip().rpartition("there are ")[2].split(", ")) - {"tasks", "callbacks", "limits"}
        check(f"config: the example has all keys of [{name}]", keys and keys <= said, repr(keys - said))
    helped = subprocess.run([binary, "--help"], capture_output=True, text=True, timeout=PATIENCE)
    check("--help", helped.returncode == 0 and "--redis URL" in helped.stdout)
    check("--version", subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout.startswith("cogwheeld "))
