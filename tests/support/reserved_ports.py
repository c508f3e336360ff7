# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""TCP ports for servers that must be told theirs: as tests/support/durable/reserved_port.hpp, with which it shares the names."""

import random
import socket

_reservations = []  # until the process ends; a child does not get them


def reserved_ports(number):
    """Returns a range of ports of 127.0.0.1 that nobody has. No other test gets one of them until this process ends.

    They are below the ports that Linux gives to connections, one of which could take a port before the server does.
    """
    while True:
        first = random.randrange(10_000, 32_768 - number)
        ports, names = range(first, first + number), []
        try:
            for port in ports:
                names.append(socket.socket(socket.AF_UNIX))
                names[-1].bind(f"\0cogwheel-test-port-{port}")
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            _reservations.extend(names)
            return ports
        except OSError:
            for name in names:
                name.close()
