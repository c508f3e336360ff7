# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""kill -9 may end a write(2) at a page of the file: half a line is left, and the next process would write on behind it."""

import os


def cut_torn_line(file):
    """Cuts off what follows the last newline. The event counts as never noted: the kill came first."""
    if not os.path.exists(file):
        return
    with open(file, "r+b") as log:
        log.truncate(log.read().rfind(b"\n") + 1)
