#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""poll_loop_input.py BINARY: lines push the idle timer back, silence ends the program, and so does the end of the input."""

import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from server_process import PATIENCE, check, conclude, readable


def start(*options):
    return subprocess.Popen([sys.argv[1], *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def silence_ends_it():
    with start("300", "3600000") as program:
        program.stdin.write(b"one\ntwo\n")
        program.stdin.flush()
        said = program.stdout.read() if readable(program.stdout) else b""
        check("silence ends it", said == b"idle: 2 lines\n" and program.wait(PATIENCE) == 0, f"{said!r}")


def lines_push_the_timer_back():
    with start("3600000", "20") as program:
        for count in range(1, 4):
            program.stdin.write(b"another\n")
            program.stdin.flush()
            wanted = b"%d lines\n" % count
            line = b""
            while readable(program.stdout) and line != wanted:
                line = program.stdout.readline()
            check(f"heartbeat {count}", line == wanted, f"{line!r}")
        program.stdin.close()
        rest = program.stdout.read()
        check("the end of the input ends it", rest.endswith(b"end of input: 3 lines\n") and program.wait(PATIENCE) == 0, f"{rest!r}")


silence_ends_it()
lines_push_the_timer_back()
sys.exit(conclude())
