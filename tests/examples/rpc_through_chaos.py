#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rpc_through_chaos.py RPC CHAOS_PROXY: calls through a network that delays, stalls, cuts and swallows.

Every call has to be answered, time out or fail, once; afterwards the server and the proxy have no descriptor left of it. The whole:

    rpc_through_chaos.py ... --connections 9000 --ramp 20s --in-flight 1 --pause 5s --timeout 2s --deadline 8s --heartbeat 10s \\
        --idle 30s --seconds 60
"""

import argparse
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, Server, check, conclude, descriptors, eventually


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for program in ("rpc", "chaos_proxy"):
        parser.add_argument(program, help="path of the program")
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--in-flight", type=int, default=2)
    parser.add_argument("--ramp", default="0")
    parser.add_argument("--pause", default="50ms")
    parser.add_argument("--timeout", default="200ms")
    parser.add_argument("--deadline", default="1s")
    parser.add_argument("--heartbeat", default="1s")
    parser.add_argument("--idle", default="5s", help="until the server drops who says nothing")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()

    with Server(wanted.rpc, "--delay", "150ms", "--idle", wanted.idle) as server:
        with Server(wanted.chaos_proxy, "--to", str(server.address[1]), "--seed", str(wanted.seed)) as proxy:
            processes = server.process.pid, proxy.process.pid
            before = [descriptors(pid) for pid in processes]
            client = subprocess.run(
                [wanted.rpc, "call", "--port", str(proxy.address[1]), "--connections", str(wanted.connections),
                 "--in-flight", str(wanted.in_flight), "--ramp", wanted.ramp, "--pause", wanted.pause, "--timeout", wanted.timeout,
                 "--deadline", wanted.deadline, "--heartbeat", wanted.heartbeat, "--seconds", str(wanted.seconds)],
                capture_output=True, text=True, timeout=wanted.seconds + 10 * PATIENCE)
            print(client.stdout, client.stderr, sep="", end="")
            check("each call and each request ended once", client.returncode == 0, f"exit code {client.returncode}")
            sums = dict(re.findall(r"(?m)^(\w+) +(\d+)", client.stdout))
            check("calls were made", int(sums.get("calls", 0)) >= wanted.connections * wanted.in_flight)
            check("and most were answered in spite of it all",
                  2 * int(re.search(r"= (\d+) answered", client.stdout)[1]) > int(sums["calls"]))
            check("connections were lost and made again", int(sums.get("network", 0)) > wanted.connections)
            # Fewer is as well: when they were counted first, the program may have had a file of its start-up open.
            left = lambda: [descriptors(pid) for pid in processes]
            none_left = lambda: all(now <= then for now, then in zip(left(), before))
            check("no descriptor is left", eventually(none_left, server, proxy),
                  f"server and proxy had {before}, have {left()}")
            code, out, err = proxy.end(signal.SIGINT)
            print(out, err, sep="", end="")
            check("the proxy ends in good order", code == 0)
        code, out, err = server.end(signal.SIGTERM)
        print(out, err, sep="", end="")
        check("so does the server", code == 0 and err == "", err.splitlines()[0] if err else "")
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
