// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The head of a request is judged alike however it is cut into pieces, and as soon as it can be.
#include "support/http_request_head.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

const std::vector<std::string_view> paths{"/metrics", "/events"};

// Gives the head a byte more at a time. Returns the status, and how many bytes it took.
std::pair<int, std::size_t> judged_byte_by_byte(const std::string& text) {
    http_request_head head{paths};
    for (std::size_t size = 1; size <= text.size(); ++size)
        if (const int status = head.look(std::string_view{text}.substr(0, size)); status != 0) return {status, size};
    return {0, text.size()};
}

int judged(const std::string& text) {
    const int at_once = http_request_head{paths}.look(text);
    REQUIRE(judged_byte_by_byte(text).first == at_once);
    return at_once;
}

} // namespace

TEST_CASE("http_request_head_good_requests_are_accepted") {
    CHECK(judged("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") == 200);
    CHECK(judged("GET /metrics HTTP/1.0\r\n\r\n") == 200);
    CHECK(judged("GET /metrics?name[]=up HTTP/1.1\r\nhOST:a\r\nX-Empty:\r\n\r\n") == 200);
    CHECK(judged("GET /metrics HTTP/1.1\r\nHost: a\r\nUser-Agent: \xc3\xa4\t(b)\r\n\r\n") == 200);
}

TEST_CASE("http_request_head_other_paths_and_methods_are_told_apart") {
    CHECK(judged("GET /metrics/ HTTP/1.1\r\nHost: a\r\n\r\n") == 404);
    CHECK(judged("POST / HTTP/1.1\r\nHost: a\r\n\r\n") == 404);
    CHECK(judged("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n") == 405);
    CHECK(judged("get /metrics HTTP/1.1\r\nHost: a\r\n\r\n") == 405);
}

TEST_CASE("http_request_head_garbage_is_refused_at_its_first_line") {
    for (const char* text :
         {"\x16\x03\x01", "hello\r\n", "GET /metrics\r\n", "GET /metrics HTTP/2.0\r\n", "GET  HTTP/1.1\r\n",
          "GET /me trics HTTP/1.1\r\n", "G(T /metrics HTTP/1.1\r\n", "\r\n", "GET /metrics HTTP/1.1\n"}) {
        CAPTURE(text);
        CHECK(judged(text) == 400);
        CHECK(judged_byte_by_byte(std::string(text) + "Host: a\r\n\r\n").second <= std::string_view(text).size());
    }
}

TEST_CASE("http_request_head_bad_fields_are_refused") {
    const std::string get = "GET /metrics HTTP/1.1\r\nHost: a\r\n";
    for (const char* field : {"Accept\r\n", "Acc ept: a\r\n", "Accept : a\r\n", ": a\r\n", " folded: a\r\n",
                              "Accept: a\x01\r\n", "Host: b\r\n"}) {
        CAPTURE(field);
        CHECK(judged(get + field + "\r\n") == 400);
    }
    CHECK(judged("GET /metrics HTTP/1.1\r\n\r\n") == 400); // no host
    CHECK(judged(get + std::string("A: \0b\r\n\r\n", 10)) == 400);
}

TEST_CASE("http_request_head_without_its_end_waits_for_more") {
    CHECK(judged("") == 0);
    CHECK(judged("GET /metr") == 0);
    CHECK(judged("GET /metrics HTTP/1.1\r\nHost: a\r\n\r") == 0);
}

TEST_CASE("http_request_head_joins_the_fields_accept") {
    http_request_head head{paths};
    CHECK(head.look(
              "GET /metrics HTTP/1.1\r\nHost: a\r\nACCEPT: a/b\r\nAccept-Encoding: x\r\naccept:c/d;q=0.5\r\n\r\n") ==
          200);
    CHECK(head.accept() == "a/b, c/d;q=0.5");
}

TEST_CASE("http_request_head_names_the_path_without_its_query") {
    const auto path_of = [](std::string_view target) {
        http_request_head head{paths};
        CHECK(head.look("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n") == 200);
        return head.path();
    };
    CHECK(path_of("/events?a=/metrics") == "/events");
    CHECK(path_of("/metrics?") == "/metrics");
}
