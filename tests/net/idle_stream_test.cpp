// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A stream that knows when it has gone quiet, on real sockets in virtual time.
#include "support/asio/asio_backend.hpp"
#include "support/net/idle_rig.hpp"
#include "support/net/socket_pair.hpp"

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/net/idle_stream.hpp>

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using socket_type = stream_socket;

template <class Wheel>
struct stream_rig {
    using stream_type = idle_stream<socket_type, Wheel>;

    asio::io_context io;
    Wheel wheel{io, {.tick = 1ms}};
    socket_type peer{io};
    std::optional<stream_type> stream;
    idle_log log;
    std::array<char, 65536> buffer{};

    explicit stream_rig(const idle_timeouts& limits) {
        socket_type mine(io);
        connect_pair(mine, peer);
        stream.emplace(wheel, limits, std::move(mine));
    }

    void wait() { stream->async_idle(log.handler()); }
    void peer_says(const std::string& text) { asio::write(peer, asio::buffer(text)); }
    std::size_t run() { return run_ready(io); }
    std::size_t pass(std::chrono::nanoseconds by) { return cogwheel_tests::pass(io, by); }
};

struct io_result {
    std::error_code ec;
    std::size_t bytes = 0;
    int times = 0;
    auto handler() {
        return [this](std::error_code e, std::size_t n) {
            ec = e;
            bytes = n;
            ++times;
        };
    }
};

} // namespace

TEST_CASE_TEMPLATE("read_completion_is_activity_a_pending_read_is_none", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.wait();
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.pass(6s);
    r.peer_says("hello");
    r.run();
    CHECK(read.bytes == 5);
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.pass(9s);
    CHECK(r.log.size() == 0);
    r.pass(1s);
    CHECK(r.log.size() == 1);
    CHECK(read.times == 1);
}

TEST_CASE_TEMPLATE("composed_read_is_observed_piece_by_piece", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    std::string line;
    io_result read;
    r.wait();
    asio::async_read_until(*r.stream, asio::dynamic_buffer(line), '\n', read.handler());
    for (const char* piece : {"a", "b", "c", "d"}) {
        r.pass(8s);
        r.peer_says(piece);
        r.run();
    }
    CHECK(r.log.size() == 0);
    CHECK(read.times == 0);
    r.peer_says("\n");
    r.run();
    CHECK(read.bytes == 5);
    r.pass(10s);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("write_completion_is_activity", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.writer = 10s});
    io_result written;
    r.wait();
    r.pass(6s);
    asio::async_write(*r.stream, asio::buffer("hello", 5), written.handler());
    r.run();
    CHECK(written.bytes == 5);
    r.pass(6s);
    CHECK(r.log.size() == 0);
    r.pass(4s);
    CHECK(r.log.size() == 1);
}

// io_uring reads the bytes at once, and nobody sees them before Asio tells that they are read.
TEST_CASE_TEMPLATE("bytes_that_have_arrived_for_a_read_under_way_are_activity", Wheel, BOTH_WHEELS) {
    if (on_io_uring) return;
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.wait();
    r.pass(1ms);
    r.peer_says("hello"); // nobody reads: backpressure is idleness
    r.pass(10s);
    REQUIRE(r.log.size() == 1);
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.run();
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.wait();
    // The process was too busy to see them: timer and bytes come up in the same run of the context.
    manual_clock::advance(10s);
    r.peer_says("again");
    r.run();
    CHECK(r.log.size() == 1);
    CHECK(read.times == 2);
}

TEST_CASE_TEMPLATE("slow_peer_that_drains_the_queue_is_not_idle_if_observed", Wheel, BOTH_WHEELS) {
    for (const bool observed : {false, COGWHEEL_LINUX != 0}) {
        CAPTURE(observed);
        stream_rig<Wheel> r({.writer = 10s});
        r.stream->observe_output(observed);
        const std::vector<char> piece(4096, 'x'); // the system frees whole pieces
        io_result written;
        for (int i = 0; i < 8; ++i) {
            asio::async_write(*r.stream, asio::buffer(piece), written.handler());
            r.run();
        }
        REQUIRE(written.times == 8);
        const auto events = [&] {
            r.wait();
            r.pass(10s);
            const std::size_t n = r.log.size();
            r.stream->monitor().cancel();
            r.run();
            r.log.entries.clear();
            return n;
        };
        CHECK(events() == (observed ? 0 : 1)); // what has left since the beginning is news
        asio::read(r.peer, asio::buffer(r.buffer, 4096));
        CHECK(events() == (observed ? 0 : 1));
        CHECK(events() == 1);
        CHECK(events() == 1);
        asio::read(r.peer, asio::buffer(r.buffer, 4096));
        CHECK(events() == (observed ? 0 : 1));
    }
}

TEST_CASE_TEMPLATE("observed_output_that_has_all_left_changes_nothing", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.writer = 10s});
    r.stream->observe_output();
    io_result written;
    asio::async_write(*r.stream, asio::buffer("hello", 5), written.handler());
    r.run();
    asio::read(r.peer, asio::buffer(r.buffer, 5));
    r.wait();
    r.pass(10s);
    REQUIRE(r.log.size() == 1);
    CHECK(r.log.last().event.idle_for == 10s);
}

TEST_CASE_TEMPLATE("read_that_is_done_but_not_told_is_activity", Wheel, BOTH_WHEELS) {
    if (on_io_uring) return;
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    bool closed = false;
    r.stream->close_when_idle([&](const idle_event&) { closed = true; });
    manual_clock::advance(10s); // the turn is posted
    r.peer_says("hello");
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler()); // done at once, and behind the turn
    r.run();
    CHECK(read.bytes == 5);
    CHECK_FALSE(closed);
    r.pass(10s);
    CHECK(closed);
}

TEST_CASE_TEMPLATE("close_when_idle_on_a_full_wheel_closes", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    Wheel wheel(io, {.max_pending = 1});
    [[maybe_unused]] const auto other = wheel.schedule(1h, [] {});
    socket_type mine(io), peer(io);
    connect_pair(mine, peer);
    idle_stream<socket_type, Wheel> stream(wheel, {.reader = 10s}, std::move(mine));
    stream.close_when_idle();
    run_ready(io);
    CHECK_FALSE(stream.lowest_layer().is_open());
}

TEST_CASE_TEMPLATE("close_when_idle_on_a_full_wheel_is_an_abort_and_no_event", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    bool closed = false;
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.wheel.stop();
    r.stream->close_when_idle([&](const idle_event&) { closed = true; });
    r.run();
    CHECK_FALSE(r.stream->lowest_layer().is_open());
    CHECK(read.times == 1);
    CHECK(read.ec == asio::error::operation_aborted); // nothing was idle
    CHECK_FALSE(closed);
}

TEST_CASE_TEMPLATE("close_when_idle_beside_an_async_idle_is_refused", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    r.wait();
    CHECK_THROWS_AS(r.stream->close_when_idle(), std::system_error);
    r.stream->monitor().cancel();
    r.stream->close_when_idle();
    r.pass(10s);
    CHECK_FALSE(r.stream->lowest_layer().is_open());
}

TEST_CASE_TEMPLATE("closed_by_its_user_it_is_not_closed_for_idleness", Wheel, BOTH_WHEELS) {
    for (const bool through_the_stream : {true, false}) {
        stream_rig<Wheel> r({.reader = 10s});
        bool closed = false;
        io_result read;
        r.stream->close_when_idle([&](const idle_event&) { closed = true; });
        r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
        if (through_the_stream)
            r.stream->close();
        else
            r.stream->lowest_layer().close();
        r.run();
        // wine has another error for what the socket's own close() ends
        if (through_the_stream || !COGWHEEL_WINDOWS) CHECK(read.ec == asio::error::operation_aborted);
        r.pass(10s);
        CHECK_FALSE(closed);
    }
}

TEST_CASE_TEMPLATE("composed_read_cut_off_between_two_pieces_times_out", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.all = 10s});
    io_result read;
    r.stream->close_when_idle();
    std::string line;
    asio::async_read_until(*r.stream, asio::dynamic_buffer(line), '\n', read.handler());
    r.pass(10s);
    r.run();
    CHECK(read.ec == asio::error::timed_out);
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.run();
    CHECK(read.ec == asio::error::timed_out); // bad_descriptor, said so that one understands it
}

TEST_CASE_TEMPLATE("close_when_idle_closes_once_and_reads_time_out", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    std::vector<idle_event> closed;
    r.stream->close_when_idle([&](const idle_event& e) { closed.push_back(e); });
    io_result read, written;
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.pass(10s);
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].kind == idle_kind::reader);
    r.run();
    CHECK(read.times == 1);
    CHECK(read.ec == asio::error::timed_out);
    CHECK_FALSE(r.stream->lowest_layer().is_open());
    char c;
    std::error_code ec;
    r.peer.read_some(asio::buffer(&c, 1), ec);
    CHECK(ec == asio::error::eof);
    r.pass(1h);
    CHECK(closed.size() == 1);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("connected_anew_after_an_idle_close_an_abort_is_an_abort", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.stream->close_when_idle();
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.pass(10s);
    r.run();
    CHECK(read.ec == asio::error::timed_out);
    socket_type peer(r.io);
    connect_pair(r.stream->lowest_layer(), peer);
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.run();
    CHECK(read.times == 1);
    r.stream->lowest_layer().cancel();
    r.run();
    CHECK(read.times == 2);
    CHECK(read.ec == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("destroyed_with_operations_under_way_they_are_aborted_and_nothing_fires", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    bool closed = false;
    r.stream->close_when_idle([&](const idle_event&) { closed = true; });
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    r.stream.reset();
    r.run();
    CHECK(read.ec == asio::error::operation_aborted);
    r.pass(1h);
    CHECK_FALSE(closed);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("destroyed_while_a_completion_is_on_the_way", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.wait();
    r.peer_says("hello");
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler()); // succeeds at once, and is queued
    r.stream.reset();
    r.run();
    CHECK(read.times == 1);
    CHECK(read.bytes == 5);
    CHECK(r.log.last_error() == asio::error::operation_aborted);
}

TEST_CASE_TEMPLATE("moved_with_operations_under_way_they_go_on", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.wait();
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    typename stream_rig<Wheel>::stream_type moved(std::move(*r.stream));
    r.stream.reset();
    r.pass(6s);
    r.peer_says("hello");
    r.pass(6s);
    CHECK(read.bytes == 5);
    CHECK(r.log.size() == 0);
    r.pass(10s);
    CHECK(r.log.size() == 1);
}

TEST_CASE_TEMPLATE("moved_with_close_when_idle_under_way_it_closes", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    int closed = 0;
    r.stream->close_when_idle([&](const idle_event&) { ++closed; });
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    typename stream_rig<Wheel>::stream_type moved(std::move(*r.stream));
    r.stream.reset();
    r.pass(9s);
    CHECK(read.times == 0);
    CHECK(moved.lowest_layer().is_open());
    r.pass(1s);
    r.run();
    CHECK(closed == 1);
    CHECK(read.ec == asio::error::timed_out);
    CHECK_FALSE(moved.lowest_layer().is_open());
}

TEST_CASE_TEMPLATE("move_assigned_its_own_operations_are_aborted_and_the_others_go_on", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> mine({.reader = 10s});
    io_result lost, kept;
    bool lost_closed = false;
    int kept_closed = 0;
    mine.stream->close_when_idle([&](const idle_event&) { lost_closed = true; });
    mine.stream->async_read_some(asio::buffer(mine.buffer), lost.handler());
    std::array<char, 16> buffer{};
    socket_type theirs(mine.io), peer(mine.io);
    connect_pair(theirs, peer);
    {
        typename stream_rig<Wheel>::stream_type other(mine.wheel, {.reader = 20s}, std::move(theirs));
        other.close_when_idle([&](const idle_event&) { ++kept_closed; });
        other.async_read_some(asio::buffer(buffer), kept.handler());
        *mine.stream = std::move(other);
    }
    mine.run();
    CHECK(lost.ec == asio::error::operation_aborted);
    CHECK(lost.times == 1);
    CHECK(kept.times == 0);
    char c = 0;
    std::error_code ec;
    mine.peer.read_some(asio::buffer(&c, 1), ec);
    CHECK(ec == asio::error::eof); // closed at once, not when it would have been idle
    mine.pass(15s);
    CHECK_FALSE(lost_closed);
    CHECK(mine.stream->lowest_layer().is_open());
    mine.pass(5s);
    mine.run();
    CHECK(kept_closed == 1);
    CHECK(kept.ec == asio::error::timed_out);
    CHECK_FALSE(lost_closed);
    CHECK(mine.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("move_assigned_to_itself_it_goes_on", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.wait();
    r.stream->async_read_some(asio::buffer(r.buffer), read.handler());
    auto& same = *r.stream;
    *r.stream = std::move(same);
    r.peer_says("hello");
    r.run();
    CHECK(read.bytes == 5);
    r.pass(10s);
    CHECK(r.log.size() == 1);
    CHECK_FALSE(r.log.last_error());
}

TEST_CASE_TEMPLATE("limit_of_one_operation_goes_through_the_stream", Wheel, BOTH_WHEELS) {
    stream_rig<Wheel> r({.reader = 10s});
    io_result read;
    r.stream->async_read_some(asio::buffer(r.buffer), timeout(r.wheel, 2s, read.handler()));
    r.pass(2s);
    r.run();
    CHECK(read.ec == asio::error::timed_out);
    CHECK(r.stream->lowest_layer().is_open());
    asio::cancellation_signal signal;
    r.stream->async_read_some(asio::buffer(r.buffer), asio::bind_cancellation_slot(signal.slot(), read.handler()));
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(read.times == 2);
    CHECK(read.ec == asio::error::operation_aborted);
}

TEST_CASE("coroutine_on_a_stream_over_tcp") {
    asio::io_context io;
    manual_timer_wheel wheel(io, {.tick = 1ms});
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket client(io);
    client.connect(acceptor.local_endpoint());
    idle_stream stream{wheel, {.reader = 10s}, acceptor.accept()};
    stream.close_when_idle();
    std::string got;
    std::error_code ended;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            try {
                for (;;) {
                    char c;
                    co_await asio::async_read(stream, asio::buffer(&c, 1), asio::use_awaitable);
                    got += c;
                    co_await asio::async_write(stream, asio::buffer(&c, 1), asio::use_awaitable);
                }
            } catch (const std::system_error& error) {
                ended = error.code();
            }
        },
        asio::detached);
    for (int i = 0; i < 3; ++i) {
        asio::write(client, asio::buffer("x", 1));
        char echoed;
        while (got.size() <= static_cast<std::size_t>(i)) {
            io.restart();
            io.run_one();
        }
        run_ready(io);
        asio::read(client, asio::buffer(&echoed, 1));
        pass(io, 9s);
    }
    CHECK(got == "xxx");
    CHECK_FALSE(ended);
    pass(io, 1s);
    run_ready(io);
    CHECK(ended == asio::error::timed_out);
}
