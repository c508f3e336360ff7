// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the sub-commands of durable_node share: options, lines of output, and the handler.
#pragma once

#include "support/asio_versions.hpp"

#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include <asio/use_awaitable.hpp>

#include <charconv>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

namespace durable_node {

constexpr auto token = cogwheel_tests::as_tuple(asio::use_awaitable);

struct options {
    std::string url;
    std::string name = "chaos";
    std::string id;     // of a worker, in its lines
    std::string socket; // the harness' datagram socket
    std::uint32_t shards = 16;
    cogwheel::durable_durability durability = cogwheel::durable_durability::aof();
    std::chrono::milliseconds replica_timeout{1'000};
    std::chrono::milliseconds lease{2'000};
    std::uint32_t in_flight = 256;
    std::string directory, life; // of the journal
    bool finish = false;
};

int run_worker(const options&);
int run_client(const options&);
int run_journal(const options&);

/// Writes a line at once, by one call, so that lines of several threads do not mix and none is lost by kill -9.
inline void write_line(int descriptor, std::string line) {
    line += '\n';
    if (::write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::system_error(errno, std::generic_category(), "write");
}
inline void print(const std::string& line) { write_line(STDOUT_FILENO, line); }

inline std::int64_t wall_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Takes the next word off a text.
inline std::string_view next_word(std::string_view& text) {
    const auto from = std::min(text.find_first_not_of(' '), text.size());
    const auto to = std::min(text.find(' ', from), text.size());
    const auto word = text.substr(from, to - from);
    text.remove_prefix(to);
    return word;
}

inline std::int64_t to_number(std::string_view word) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size())
        throw std::invalid_argument("not a number: " + std::string(word));
    return number;
}

inline std::string text_of(const cogwheel::fencing_token& t) {
    return std::to_string(t.attempt) + ' ' + std::to_string(t.generation);
}

/// "done ID ATTEMPT GENERATION", "trouble - 0 0 WORDS" and so on.
inline std::string text_of(const cogwheel::durable_event& e) {
    std::string line(to_string(e.what));
    for (char& c : line)
        if (c == ' ') c = '_';
    line += ' ' + (e.id.empty() ? "-" : std::string(e.id)) + ' ' + text_of(e.token);
    if (e.error) line += ' ' + e.error.message();
    return line;
}

/// Works for as long as the body says: "RETRIES MILLISECONDS". The first RETRIES attempts fail.
inline asio::awaitable<cogwheel::durable_outcome> work(const cogwheel::timer_wheel& wheel,
                                                       const cogwheel::durable_delivery& task) {
    std::string_view body = task.body();
    const std::int64_t retries = to_number(next_word(body));
    const std::chrono::milliseconds time(to_number(next_word(body)));
    cogwheel::wheel_timer timer(wheel);
    timer.expires_after(time);
    // If the worker asks the handler to stop, the wait ends at once. The answer does not count then.
    const auto waited = co_await timer.async_wait(token);
    (void)waited;
    if (task.attempt() <= static_cast<std::uint64_t>(retries)) co_return cogwheel::durable_outcome::retry("planned");
    co_return cogwheel::durable_outcome::done();
}

} // namespace durable_node
