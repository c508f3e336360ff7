// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/request_parser.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using cogwheeld::request_limits;
using cogwheeld::request_parser;
using stage = cogwheeld::request_parser::stage;

namespace {

constexpr std::size_t piece_sizes[] = {1, 2, 3, 7, 64, 100'000};

/// Feeds a text in pieces, until the request is complete or refused. Returns what is left of it.
std::string_view feed(request_parser& parser, std::string_view text, std::size_t piece) {
    std::string_view rest = text.substr(0, piece);
    text.remove_prefix(rest.size());
    while (parser.where() < stage::complete) {
        if (rest.empty()) {
            if (text.empty()) break;
            rest = text.substr(0, piece);
            text.remove_prefix(rest.size());
        }
        rest.remove_prefix(parser.take(rest));
    }
    return {rest.data(), rest.size() + text.size()};
}

int refusal_of(std::string_view text, std::size_t piece = 100'000, const request_limits& limits = {}) {
    request_parser parser(limits);
    feed(parser, text, piece);
    return parser.where() == stage::refused ? parser.refusal() : 0;
}

std::string request_with(std::string_view fields, std::string_view body = {}) {
    return "POST /v1/tasks HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

} // namespace

TEST_CASE("request_in_pieces_of_any_size_is_read_as_a_whole") {
    for (const std::size_t piece : piece_sizes) {
        CAPTURE(piece);
        request_parser parser({});
        const std::string text = "POST /v1/tasks?x=1 HTTP/1.1\r\nHost: a:1\r\nX-One:  first \r\nx-one: second\r\n"
                                 "Content-Length: 5\r\n\r\nhello";
        CHECK(feed(parser, text, piece).empty());
        REQUIRE(parser.where() == stage::complete);
        auto& r = parser.request();
        CHECK(r.method == "POST");
        CHECK(r.target == "/v1/tasks?x=1");
        CHECK(r.path() == "/v1/tasks");
        CHECK(r.query() == "x=1");
        CHECK(r.field("host") == "a:1");
        CHECK(r.field("x-one") == "first, second");
        CHECK(r.field("x-two").empty());
        CHECK(r.body == "hello");
        CHECK(parser.keeps_alive());
        CHECK_FALSE(parser.waits_for_continue());
    }
}

TEST_CASE("requests_that_follow_each_other_are_read_one_by_one") {
    for (const std::size_t piece : piece_sizes) {
        CAPTURE(piece);
        request_parser parser({});
        const std::string text = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: "
                                 "chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
                                 "GET /3 HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n";
        auto rest = feed(parser, text, piece);
        REQUIRE(parser.where() == stage::complete);
        CHECK(parser.request().target == "/1");
        parser.next();
        CHECK(parser.where() == stage::idle);
        rest = feed(parser, rest, piece);
        REQUIRE(parser.where() == stage::complete);
        CHECK(parser.request().target == "/2");
        CHECK(parser.request().body == "abcde");
        CHECK(parser.request().field("trailer").empty()); // nobody has admitted it
        parser.next();
        rest = feed(parser, rest, piece);
        REQUIRE(parser.where() == stage::complete);
        CHECK(parser.request().target == "/3");
        CHECK_FALSE(parser.keeps_alive());
        CHECK(rest.empty());
    }
}

TEST_CASE("request_whose_head_is_complete_can_be_judged_before_its_body") {
    request_parser parser({});
    std::string_view text = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\nabc";
    text.remove_prefix(parser.take(text));
    CHECK(parser.where() == stage::body);
    CHECK(parser.waits_for_continue());
    CHECK(parser.request().field("content-length") == "3");
    CHECK(parser.request().body.empty());
    text.remove_prefix(parser.take(text));
    CHECK(parser.where() == stage::complete);
    CHECK(parser.request().body == "abc");
    CHECK(text.empty());
}

TEST_CASE("what_is_no_request_is_refused_with_its_status") {
    struct row {
        const char* what;
        std::string text;
        int status;
    };
    const std::vector<row> rows{
        {"TLS", "\x16\x03\x01\x02\x01\x01", 400},
        {"no method", " / HTTP/1.1\r\n\r\n", 400},
        {"unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"an answer", "HTTP/1.1 200 OK\r\n\r\n", 400},
        {"HTTP/0.9", "GET /\r\n\r\n", 505},
        {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
        {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"HTTP/1.9", "GET / HTTP/1.9\r\nHost: a\r\n\r\n", 505},
        {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
        {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {"space before the colon", request_with("X : 1\r\n"), 400},
        {"no colon", request_with("nonsense\r\n"), 400},
        {"control character in a value",
         request_with("X: a\x01"
                      "b\r\n"),
         400},
        {"NUL in a value", request_with(std::string_view("X: a\0b\r\n", 8)), 400},
        {"two lengths", request_with("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
        {"negative length", request_with("Content-Length: -1\r\n"), 400},
        {"length that is no number", request_with("Content-Length: 3x\r\n", "abc"), 400},
        {"huge length", request_with("Content-Length: 99999999999999999999999\r\n"), 400},
        {"length and chunks", request_with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
        {"unknown coding", request_with("Transfer-Encoding: gzip\r\n"), 400},
        {"chunked twice", request_with("Transfer-Encoding: chunked, gzip\r\n"), 400},
        {"bad chunk", request_with("Transfer-Encoding: chunked\r\n", "zz\r\n"), 400},
        {"huge chunk", request_with("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400},
        {"expectation", request_with("Expect: cake\r\n"), 417},
        {"tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
    };
    for (const auto& r : rows) {
        for (const std::size_t piece : piece_sizes) {
            INFO(std::string(r.what));
            CAPTURE(piece);
            CHECK(refusal_of(r.text, piece) == r.status);
        }
    }
}

TEST_CASE("upgrade_is_ignored") {
    request_parser parser({});
    feed(parser, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 5);
    CHECK(parser.where() == stage::complete);
}

TEST_CASE("head_up_to_its_limit_is_taken_and_a_longer_one_refused") {
    const request_limits limits{.head = 1'024, .body = 100};
    const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nX: ", end = "\r\n\r\n";
    const std::size_t room = limits.head - begin.size() - end.size();
    for (const std::size_t piece : piece_sizes) {
        CAPTURE(piece);
        CHECK(refusal_of(begin + std::string(room, 'x') + end, piece, limits) == 0);
        CHECK(refusal_of(begin + std::string(room + 1, 'x') + end, piece, limits) == 431);
        CHECK(refusal_of("GET /" + std::string(2'000, 'x'), piece, limits) == 414);
        CHECK(refusal_of("GET / HTTP/1.1\r\nHost: a\r\n" + std::string(2'000, 'x'), piece, limits) == 431);
    }
}

TEST_CASE("fields_of_128_names_are_taken_and_one_more_is_refused") {
    std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 1; i < 128; ++i) head += "x" + std::to_string(i) + ": a\r\n";
    head += "x7: b\r\n"; // a name that it has
    CHECK(refusal_of(head + "\r\n", 1'000) == 0);
    CHECK(refusal_of(head + "y: a\r\n\r\n", 1'000) == 431);
}

TEST_CASE("body_up_to_its_limit_is_taken_and_a_longer_one_refused") {
    const request_limits limits{.head = 1'024, .body = 100};
    const auto with_length = [](std::size_t n) {
        return request_with("Content-Length: " + std::to_string(n) + "\r\n", std::string(n, 'x'));
    };
    const auto in_chunks = [](std::size_t n) {
        std::string body;
        for (std::size_t i = 0; i < n; ++i) body += "1\r\nx\r\n";
        return request_with("Transfer-Encoding: chunked\r\n", body + "0\r\n\r\n");
    };
    for (const std::size_t piece : piece_sizes) {
        CAPTURE(piece);
        CHECK(refusal_of(with_length(100), piece, limits) == 0);
        CHECK(refusal_of(with_length(101), piece, limits) == 413);
        CHECK(refusal_of(in_chunks(100), piece, limits) == 0);
        CHECK(refusal_of(in_chunks(101), piece, limits) == 413);
    }
    // A length alone is enough: nobody waits for the bytes.
    CHECK(refusal_of(request_with("Content-Length: 101\r\n"), 100'000, limits) == 413);
}

TEST_CASE("requests_of_http_1_0_close_unless_they_say_otherwise") {
    for (const auto& [fields, keeps] : {std::pair("", false), {"Connection: keep-alive\r\n", true}}) {
        request_parser parser({});
        feed(parser, std::string("GET / HTTP/1.0\r\n") + fields + "\r\n", 100);
        REQUIRE(parser.where() == stage::complete);
        CHECK(parser.keeps_alive() == keeps);
    }
}
