# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What the compiler says of a mistake. The first five lines of its output must say what to write instead. A program that
only asks whether such a call compiles must be told no, without an error.

usage: mistakes.py COMPILER INCLUDE_DIRECTORY..."""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
#include <cogwheel/asio/timer_wheel.hpp>
#include <asio/io_context.hpp>
using namespace std::chrono_literals;
using cogwheel::timer_wheel;
template <class T> void used(T&&) {}
void program(asio::io_context& io, timer_wheel& wheel) {
    used(io);
    used(wheel);
    %s
}
"""

# The mistake, and the words of the message.
MISTAKES = [
    ("wheel.schedule(std::chrono::steady_clock::now(), [] {});", "for_a_point_in_time_write_schedule_at"),
    ("wheel.schedule(1s, [](std::error_code) {});", "f_takes_no_argument_for_an_error_code_write_async_wait"),
    ("timer_wheel other{10ms};", "write_wheel_io_tick_10ms"),
    ("wheel.async_wait(1s, [] {});", "the_handler_takes_an_error_code_else_write_schedule"),
    ("wheel.schedule(5, [] {});", "a_delay_needs_a_unit_write_schedule_5s_f"),
]

DETECTION = """
template <class W, class D, class F> concept schedules = requires(W& w, D d, F f) { w.schedule(d, f); };
template <class W, class D, class F> concept waits = requires(W& w, D d, F f) { w.async_wait(d, f); };
struct nullary { void operator()() {} };
struct handler { void operator()(std::error_code) {} };
static_assert(schedules<timer_wheel, std::chrono::seconds, nullary>);
static_assert(!schedules<timer_wheel, std::chrono::seconds, handler>);
static_assert(!schedules<timer_wheel, int, nullary>);
static_assert(!schedules<timer_wheel, std::chrono::steady_clock::time_point, nullary>);
static_assert(waits<timer_wheel, std::chrono::seconds, handler>);
static_assert(!waits<timer_wheel, std::chrono::seconds, nullary>);
static_assert(!std::is_constructible_v<timer_wheel, std::chrono::seconds>);
static_assert(std::is_constructible_v<timer_wheel, asio::io_context&>);
"""


def compile_program(compiler, directories, body, outside=""):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(PROGRAM % body + outside)
        includes = [flag for d in directories for flag in ("-I", d)]
        command = [compiler, "-std=c++20", "-DASIO_STANDALONE", "-fsyntax-only", *includes, str(source)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def main(compiler, *directories):
    failures = 0
    for mistake, words in MISTAKES:
        result = compile_program(compiler, directories, mistake)
        lines = result.stderr.splitlines()
        found = next((n for n, line in enumerate(lines, 1) if words in line), None)
        good = result.returncode != 0 and found is not None and found <= 5
        failures += not good
        print(f"{'ok  ' if good else 'FAIL'} line {found} of {len(lines):3}: {mistake}")
    for what, body, outside in [("no mistake", "", ""), ("detection by concepts", "", DETECTION)]:
        result = compile_program(compiler, directories, body, outside)
        failures += result.returncode != 0
        print(f"{'ok  ' if result.returncode == 0 else 'FAIL'} {what}\n{result.stderr}", end="")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
