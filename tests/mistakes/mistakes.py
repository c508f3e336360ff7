# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What the compiler says of a mistake. The first five lines of its output must say what to write instead. A program that
only asks whether such a call compiles must be told no, without an error.

usage: mistakes.py COMPILER INCLUDE_DIRECTORY..."""

import pathlib
import subprocess
import sys
import tempfile

HEADERS = """
#include <cogwheel/asio/callback_timer.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/session_group.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
"""

PROGRAM = """
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
    ("cogwheel::local_timer_wheel own{io}; cogwheel::session_group sessions{own};", "write_local_session_group"),
    (
        "cogwheel::local_timer_wheel own{io}; cogwheel::idle_stream<asio::ip::tcp::socket> stream{own, {}, io};",
        "name_the_wheel_as_in_idle_stream_socket_wheel",
    ),
    (
        "struct f { void operator()() {} }; cogwheel::local_timer_wheel own{io}; cogwheel::callback_timer<f> t{own, {}};",
        "name_the_wheel_as_in_callback_timer_function_wheel",
    ),
    ("wheel.schedule(5, [] {});", "a_delay_needs_a_unit_write_schedule_5s_f"),
    ("cogwheel::timeout_after(5, [](std::error_code) {});", "a_delay_needs_a_unit_write_timeout_after_5s_token"),
    ("cogwheel::timeout_after(wheel, 5, [](std::error_code) {});", "a_delay_needs_a_unit_write_timeout_after_5s_token"),
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


class Compiler:
    """Reads the headers once, for all programs."""

    def __init__(self, folder, command, directories):
        self.folder = folder
        includes = [flag for d in directories for flag in ("-I", d)]
        self.command = [command, "-std=c++20", "-DASIO_STANDALONE", *includes]
        self.headers = folder / "headers.hpp"
        self.headers.write_text(HEADERS)
        subprocess.run([*self.command, "-x", "c++-header", self.headers, "-o", f"{self.headers}.gch"], check=True)

    def messages(self, body, outside=""):
        source = self.folder / "program.cpp"
        source.write_text(PROGRAM % body + outside)
        command = [*self.command, "-fsyntax-only", "-include", self.headers, source]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def checked(compiler):
    failures = 0
    for mistake, words in MISTAKES:
        result = compiler.messages(mistake)
        lines = result.stderr.splitlines()
        found = next((n for n, line in enumerate(lines, 1) if words in line), None)
        good = result.returncode != 0 and found is not None and found <= 5
        failures += not good
        print(f"{'ok  ' if good else 'FAIL'} line {found} of {len(lines):3}: {mistake}")
    result = compiler.messages("", DETECTION)
    failures += result.returncode != 0
    print(f"{'ok  ' if result.returncode == 0 else 'FAIL'} no mistake, and detection by concepts\n{result.stderr}", end="")
    return failures != 0


def main(command, *directories):
    with tempfile.TemporaryDirectory() as folder:
        return checked(Compiler(pathlib.Path(folder), command, directories))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
