# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What the compiler says of a mistake. The first five lines of its output must say what to write instead. A program that
only asks whether such a call compiles must be told no, without an error. One run of the compiler has them all.

usage: mistakes.py COMPILER INCLUDE_DIRECTORY..."""

import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = """
#include <cogwheel/asio/callback_timer.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/pending_requests.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
using namespace std::chrono_literals;
using cogwheel::timer_wheel;
"""

# By #line, each mistake is a file of its own in the messages.
FUNCTION = """#line 1 "mistake_%d"
void mistake_%d([[maybe_unused]] asio::io_context& io, [[maybe_unused]] timer_wheel& wheel) {
    %s
}
"""

# The mistake, and the words of the message.
MISTAKES = [
    ("wheel.schedule(std::chrono::system_clock::now(), [] {});", "for_a_date_write_async_wait_until_date"),
    ("wheel.schedule(1s, [](std::error_code) {});", "f_takes_no_argument_for_an_error_code_write_async_wait"),
    ("timer_wheel other{10ms};", "write_wheel_io_tick_10ms"),
    ("wheel.async_wait(1s, [] {});", "the_handler_takes_an_error_code_else_write_schedule"),
    (
        "cogwheel::local_timer_wheel own{io}; cogwheel::idle_stream<asio::ip::tcp::socket> stream{own, {}, io};",
        "name_the_wheel_as_in_idle_stream_socket_wheel",
    ),
    (
        "struct f { void operator()() {} }; cogwheel::local_timer_wheel own{io}; cogwheel::callback_timer<f> t{own, {}};",
        "name_the_wheel_as_in_callback_timer_function_wheel",
    ),
    (
        "cogwheel::local_timer_wheel own{io}; cogwheel::pending_requests<int, int> requests{own};",
        "name_the_wheel_as_in_pending_requests_key_response_wheel",
    ),
    (
        "cogwheel::local_timer_wheel own{io}; cogwheel::pending_requests<int, int> requests{own, io.get_executor()};",
        "name_the_wheel_as_in_pending_requests_key_response_wheel",
    ),
    (
        "cogwheel::local_timer_wheel own{io}; cogwheel::keyed_timers<int> table{own};",
        "name_the_wheel_as_in_keyed_timers_key_wheel",
    ),
    (
        "cogwheel::keyed_timers<int> table{wheel}; table.add(1, 1s, asio::bind_executor(io, [] {}));",
        "jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor",
    ),
    (
        "cogwheel::keyed_timers<int> table{wheel};"
        "table.add(1, timer_wheel::time_point(), asio::bind_executor(io, [](int) {}));",
        "jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor",
    ),
    ("wheel.schedule(5, [] {});", "a_delay_needs_a_unit_write_schedule_5s_f"),
    ("cogwheel::timeout(5, [](std::error_code) {});", "a_delay_needs_a_unit_write_timeout_5s_token"),
    ("cogwheel::timeout(wheel, 5, [](std::error_code) {});", "a_delay_needs_a_unit_write_timeout_5s_token"),
]

DETECTION = """#line 1 "detection"
template <class W, class D, class F> concept schedules = requires(W& w, D d, F f) { w.schedule(d, f); };
template <class W, class D, class F> concept waits = requires(W& w, D d, F f) { w.async_wait(d, f); };
struct nullary { void operator()() {} };
struct handler { void operator()(std::error_code) {} };
static_assert(schedules<timer_wheel, std::chrono::seconds, nullary>);
static_assert(!schedules<timer_wheel, std::chrono::seconds, handler>);
static_assert(!schedules<timer_wheel, int, nullary>);
static_assert(schedules<timer_wheel, std::chrono::steady_clock::time_point, nullary>);
static_assert(!schedules<timer_wheel, std::chrono::system_clock::time_point, nullary>);
static_assert(waits<timer_wheel, std::chrono::seconds, handler>);
static_assert(!waits<timer_wheel, std::chrono::seconds, nullary>);
static_assert(!std::is_constructible_v<timer_wheel, std::chrono::seconds>);
static_assert(std::is_constructible_v<timer_wheel, asio::io_context&>);
"""


def messages(compiler, directories):
    """What the compiler says: its errors, and the lines that begin with each mistake's file, up to the next one's."""
    includes = [flag for d in directories for flag in ("-I", d)]
    functions = [FUNCTION % (n, n, mistake) for n, (mistake, _) in enumerate(MISTAKES)]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(HEADERS + "".join(functions) + DETECTION)
        command = [compiler, "-std=c++20", "-DASIO_STANDALONE", *includes, "-fsyntax-only", source]
        output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    errors, parts, part = [], {}, []
    for line in output.splitlines():
        errors += [line] if "error:" in line else []
        if begins := re.match("mistake_([0-9]+):", line):
            part = parts.setdefault(int(begins[1]), [])
        part.append(line)
    return errors, parts


def main(compiler, *directories):
    errors, parts = messages(compiler, directories)
    failures = 0
    for n, (mistake, words) in enumerate(MISTAKES):
        lines = parts.get(n, [])
        found = next((number for number, line in enumerate(lines, 1) if words in line), None)
        own = [e for e in errors if e.startswith(f"mistake_{n}:")]
        good = len(own) == 1 and found is not None and found <= 5
        failures += not good
        print(f"{'ok  ' if good else 'FAIL'} line {found} of {len(lines):3}: {mistake}")
    others = [e for e in errors if not e.startswith("mistake_")]
    print("ok   no other error, and detection by concepts" if not others else "FAIL " + "\n     ".join(others))
    return bool(failures or others)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
