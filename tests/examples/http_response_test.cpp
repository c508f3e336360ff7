// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What examples/http_get_with_timeout makes of a response's header: where the body ends, or that nobody can say.
#include "http_get_with_timeout/response.hpp"

#include <doctest/doctest.h>

using namespace http;

TEST_CASE("parse_head_status_and_reason") {
    const response r = parse_head("HTTP/1.1 404 Not Found\r\n\r\n");
    CHECK(r.status == 404);
    CHECK(r.reason == "Not Found");
    CHECK_FALSE(r.length.has_value());
    CHECK_FALSE(r.chunked);
    CHECK(parse_head("HTTP/1.0 200\r\n\r\n").reason.empty());
}

TEST_CASE("parse_head_length_in_any_spelling") {
    CHECK(parse_head("HTTP/1.1 200 OK\r\nA: b\r\ncOnTeNt-LeNgTh:\t 42 \r\n\r\n").length == 42);
    CHECK(parse_head("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n").length == ~std::uint64_t{0});
}

TEST_CASE("parse_head_chunked_in_any_spelling") {
    CHECK(parse_head("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n").chunked);
}

TEST_CASE("parse_head_folded_lines_are_one_field") {
    const response r = parse_head("HTTP/1.1 200 OK\r\nA: b\r\n Content-Length: 5\r\nContent-Length:\r\n\t 7\r\n\r\n");
    CHECK(r.length == 7);
}

TEST_CASE("parse_head_no_body_where_there_is_never_one") {
    CHECK(parse_head("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n").length == 0);
    CHECK_FALSE(parse_head("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n").chunked);
}

TEST_CASE("parse_head_bad_ones_are_refused") {
    for (const char* text : {
             "\r\n\r\n",
             "220 mail.example ESMTP\r\n\r\n",
             "HTTP/2 200 OK\r\n\r\n",
             "HTTP/1.1 20 OK\r\n\r\n",
             "HTTP/1.1 2x0 OK\r\n\r\n",
             "HTTP/1.1 -20 OK\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
             "HTTP/1.x 200 OK\r\n\r\n",
             "HTTP/1.1 020 OK\r\n\r\n",
             "HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length\t: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\n Content-Length: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n",
             "HTTP/1.1 200 OK\r\n: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nA: b\rContent-Length: 5\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
             "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
         }) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_head(text), bad_response);
    }
}

TEST_CASE("parse_chunk_size_hexadecimal_with_extensions") {
    CHECK(parse_chunk_size("0") == 0);
    CHECK(parse_chunk_size("00fF") == 255);
    CHECK(parse_chunk_size("a ;name=value") == 10);
    CHECK(parse_chunk_size("a  ") == 10);
    for (const char* line : {"", "-1", "+1", "0x10", "g", ";", " 5", "5 5", "5;a\nb", "5;\r", "10000000000000000"}) {
        CAPTURE(line);
        CHECK_THROWS_AS(parse_chunk_size(line), bad_response);
    }
}
