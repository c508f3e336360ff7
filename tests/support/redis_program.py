# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The server that tests start: as redis_program() of tests/support/durable/redis_program.hpp."""

import os
import shutil


def redis_program():
    """Returns what the environment variable COGWHEEL_REDIS names, else redis-server, else valkey-server; None: not installed."""
    named = os.environ.get("COGWHEEL_REDIS")
    return next(filter(shutil.which, [named] if named else ["redis-server", "valkey-server"]), None)
