// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The reader of replies: whole replies from pieces, its limits, and bytes that are no reply.
#include "src/durable/resp_reader.hpp"

#include <doctest/doctest.h>

#include <ostream>

using cogwheel::redis_reply;
using cogwheel::detail::resp_reader;

namespace {

constexpr std::string_view some_replies = "+OK\r\n-ERR no\r\n:-42\r\n$5\r\na\r\nb\n\r\n$-1\r\n*-1\r\n$0\r\n\r\n*0\r\n"
                                          "*3\r\n:1\r\n*2\r\n$1\r\nx\r\n*1\r\n$-1\r\n+y\r\n";

std::string show_reply(const redis_reply& r) {
    switch (r.what()) {
    case redis_reply::kind::nil:
        return "nil";
    case redis_reply::kind::integer:
        return std::to_string(r.integer());
    case redis_reply::kind::array: {
        std::string all = "[";
        for (const auto& e : r.elements()) all += show_reply(e) + " ";
        return all + "]";
    }
    default:
        return std::string(r.is_error() ? "!" : "") + "'" + r.text() + "'";
    }
}

resp_reader::outcome read_replies(resp_reader& reader, std::string& shown) {
    for (;;) {
        redis_reply r;
        const auto outcome = reader.next(r);
        if (outcome != resp_reader::outcome::reply) return outcome;
        shown += show_reply(r) + "\n";
    }
}

} // namespace

TEST_CASE("resp_reader_pieces_of_any_size_give_the_same_replies") {
    const std::string expected = "'OK'\n!'ERR no'\n-42\n'a\r\nb\n'\nnil\nnil\n''\n[]\n[1 ['x' [nil ] ] 'y' ]\n";
    for (std::size_t split = 0; split <= some_replies.size(); ++split) {
        CAPTURE(split);
        resp_reader reader(1000);
        std::string shown;
        reader.feed(some_replies.substr(0, split));
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
        reader.feed(some_replies.substr(split));
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
        CHECK(shown == expected);
    }
    resp_reader reader(1000);
    std::string shown;
    for (const char& c : some_replies) {
        reader.feed({&c, 1});
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
    }
    CHECK(shown == expected);
}

TEST_CASE("resp_reader_limit_counts_each_reply_alone") {
    resp_reader reader(16);
    std::string shown;
    for (int i = 0; i < 100; ++i) {
        reader.feed("$5\r\n12345\r\n$5\r\n67890\r\n");
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
    }
    reader.feed("$6\r\n123456\r\n");
    CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
    reader.feed("$15\r\n123456789012");
    CHECK(read_replies(reader, shown) == resp_reader::outcome::bad);
    CHECK(reader.message().find("more than 16 bytes") != std::string::npos);
    CHECK(read_replies(reader, shown) == resp_reader::outcome::bad);

    resp_reader at_once(16);
    at_once.feed("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n");
    CHECK(read_replies(at_once, shown) == resp_reader::outcome::bad);
}

TEST_CASE("resp_reader_bytes_that_are_no_reply_are_bad") {
    for (const char* bytes :
         {"x\r\n", "HTTP/1.1 200 OK\r\n", ":1x\r\n", ":\r\n", "$-2\r\n", "$x\r\n", "*-2\r\n", "*99999999999\r\n",
          "$99999999999999999999\r\n", "%1\r\n", "*1\r\n?\r\n", "\r\n", "\x16\x03\x01", "$1\r\nab\r\n", "$1\r\na\rb",
          ":99999999999999999999\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"}) {
        CAPTURE(bytes);
        resp_reader reader(1000);
        std::string shown;
        reader.feed(bytes);
        CHECK(read_replies(reader, shown) == resp_reader::outcome::bad);
        CHECK(!reader.message().empty());
    }
}

TEST_CASE("resp_reader_promise_of_a_huge_array_takes_no_memory") {
    resp_reader reader(std::size_t{1} << 31);
    std::string shown;
    reader.feed("*2147483647\r\n:1\r\n");
    CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
}

TEST_CASE("resp_reader_promise_of_more_than_the_limit_is_bad_at_once") {
    for (const char* promise : {"*1001\r\n", "$1001\r\n", "*1\r\n$1001\r\n"}) {
        CAPTURE(promise);
        resp_reader reader(1000);
        std::string shown;
        reader.feed(promise);
        CHECK(read_replies(reader, shown) == resp_reader::outcome::bad);
        CHECK(reader.message().find("more than 1000 bytes") != std::string::npos);
    }
}

TEST_CASE("resp_reader_after_a_long_reply_goes_on") {
    resp_reader reader(1'000'000);
    std::string shown;
    for (int i = 0; i < 3; ++i) { // its buffer is released in between
        shown.clear();
        reader.feed("$300000\r\n" + std::string(300'000, 'x'));
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
        reader.feed("\r\n:7\r\n");
        CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
        CHECK(shown == "'" + std::string(300'000, 'x') + "'\n7\n");
    }
}

TEST_CASE("resp_reader_line_without_an_end_is_bad") {
    for (const char* start : {"+", "-", ":", "*", "$"}) {
        CAPTURE(start);
        resp_reader reader(10'000'000);
        std::string shown;
        reader.feed(start + std::string(64 * 1024 + 1, '1'));
        CHECK(read_replies(reader, shown) == resp_reader::outcome::bad);
    }
    resp_reader reader(10'000'000);
    std::string shown;
    reader.feed("$200000\r\n" + std::string(199'000, '1')); // a long string without a line's end is none
    CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
    reader.feed(std::string(1'000, '1') + "\r\n");
    CHECK(read_replies(reader, shown) == resp_reader::outcome::more);
    CHECK(shown.size() >= 200'000);
}
