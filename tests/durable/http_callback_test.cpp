// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The description of an HTTP callback: what it refuses, and its bytes.
#include <cogwheel/durable/http_callback.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;

namespace {

std::error_code check_of(http_callback call) { return call.check(); }
std::error_code check_url(std::string url) { return check_of({.url = std::move(url)}); }
std::error_code check_header(std::string name, std::string value) {
    return check_of({.url = "http://a/", .headers = {{std::move(name), std::move(value)}}});
}

http_callback full_callback() {
    return {.url = "https://shop.example:8443/orders/17?x=%20y",
            .method = "PUT",
            .headers = {{"authorization", "Bearer abc"}, {"X-Empty", ""}, {"x-late", "caf\xc3\xa9\t!"}},
            .body = std::string("{\"order\":17}\0\xff", 14),
            .content_type = "application/octet-stream"};
}

} // namespace

TEST_CASE("http_callback_url_needs_a_scheme_and_a_host") {
    for (const char* url :
         {"http://a", "http://a/", "HTTPS://A.example", "https://a.example:8443/x?y=z", "http://127.0.0.1:80/",
          "http://[::1]:8080/x", "http://[::ffff:127.0.0.1]/", "http://2130706433/", "http://0x7f.1/", "http://a?b",
          "http://a_b.example./%20", "http://a:065/"})
        CHECK(check_url(url) == std::error_code());
    for (const char* url : {"a", "/a", "ftp://a/", "file:///etc/passwd", "gopher://a/", "http:/a", "httpx://a", "://a",
                            "javascript:alert(1)", "dict://127.0.0.1:6379/"})
        CHECK(check_url(url) == callback_errc::bad_scheme);
    for (const char* url : {"",
                            "http://",
                            "http:///",
                            "http:///a",
                            "http://?a",
                            "http://:80/",
                            "http://a:/",
                            "http://a:0/",
                            "http://a:65536/",
                            "http://a:-1/",
                            "http://a:8x/",
                            "http://user@a/",
                            "http://user:pass@a/",
                            "http://a@b/",
                            "http://a\\b/",
                            "http://a/\\b",
                            "http://a b/",
                            "http://a/ b",
                            "http://a/\n",
                            "http://a/\r\nx: y",
                            "http://\xc3\xa9/",
                            "http://a/\xc3\xa9",
                            "http://a%2eb/",
                            "http://[::1/",
                            "http://[]/",
                            "http://[1]/",
                            "http://[::1%25lo]/",
                            "http://[::1]x/",
                            "http://.a/",
                            "http://a/#b",
                            "http://a,b/",
                            "http://a/\x7f"}) {
        INFO(url);
        CHECK(check_url(url) == callback_errc::bad_url);
    }
    CHECK(check_url("http://a/\0b") == std::error_code()); // a literal ends there
    CHECK(check_url(std::string("http://a/\0b", 11)) == callback_errc::bad_url);
    CHECK(check_url("http://a/" + std::string(http_callback::max_url - 9, 'b')) == std::error_code());
    CHECK(check_url("http://a/" + std::string(http_callback::max_url - 8, 'b')) == callback_errc::bad_url);
    CHECK(check_url("http://" + std::string(254, 'b')) == callback_errc::bad_url);
}

TEST_CASE("http_callback_method_is_one_of_five") {
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
        CHECK(check_of({.url = "http://a/", .method = method}) == std::error_code());
    for (const char* method :
         {"", "post", "HEAD", "CONNECT", "TRACE", "OPTIONS", "GET ", "GET\r\n", "POST / HTTP/1.1\r\nx:"})
        CHECK(check_of({.url = "http://a/", .method = method}) == callback_errc::bad_method);
}

TEST_CASE("http_callback_headers_cannot_inject_others") {
    CHECK(check_header("authorization", "Bearer x") == std::error_code());
    CHECK(check_header("x", "") == std::error_code());
    CHECK(check_header("x", "tab\tand caf\xe9") == std::error_code());
    for (const char* name : {"", "a b", "a:", "a\n", "a\r", "(a)", "\xc3\xa9", "a\t"})
        CHECK(check_header(name, "x") == callback_errc::bad_header);
    for (const char* value : {"a\nb: c", "a\r\nb: c", "\r", "a\x01", "\x1b[0m", "a\x7f"})
        CHECK(check_header("x", value) == callback_errc::bad_header);
    CHECK(check_header("x", std::string("a\0b", 3)) == callback_errc::bad_header);
}

TEST_CASE("http_callback_headers_of_the_sender_are_reserved") {
    for (const char* name :
         {"webhook-id", "Webhook-Signature", "WEBHOOK-X", "cogwheel-attempt", "Traceparent", "Host", "Content-Length",
          "content-type", "Transfer-Encoding", "connection", "Expect", "Upgrade", "User-Agent", "TE", "Trailer"})
        CHECK(check_header(name, "x") == callback_errc::reserved_header);
    for (const char* name : {"webhook", "x-webhook-id", "cogwheel", "hostname"})
        CHECK(check_header(name, "x") == std::error_code());
}

TEST_CASE("http_callback_parts_have_limits") {
    http_callback call{.url = "http://a/"};
    for (std::size_t i = 0; i < http_callback::max_headers; ++i) call.headers.emplace_back("x", "y");
    CHECK(call.check() == std::error_code());
    call.headers.emplace_back("x", "y");
    CHECK(call.check() == callback_errc::too_many_headers);
    call.headers = {{"x", std::string(http_callback::max_header_bytes - 1, 'y')}};
    CHECK(call.check() == std::error_code());
    call.headers[0].second += 'y';
    CHECK(call.check() == callback_errc::too_many_headers);
    call.headers.clear();

    call.content_type = std::string(http_callback::max_content_type, 'a');
    CHECK(call.check() == std::error_code());
    call.content_type += 'a';
    CHECK(call.check() == callback_errc::bad_content_type);
    call.content_type = "text/plain\r\nx: y";
    CHECK(call.check() == callback_errc::bad_content_type);
    call.content_type = "";

    call.body = std::string(http_callback::max_body, 'b');
    CHECK(call.check() == std::error_code());
    call.body += 'b';
    CHECK(call.check() == callback_errc::bad_body);
    call.body = "b";
    call.method = "GET";
    CHECK(call.check() == callback_errc::bad_body);
}

TEST_CASE("http_callback_bytes_bring_each_field_back") {
    const http_callback small{.url = "http://a"};
    const http_callback get{.url = "http://a/", .method = "GET", .content_type = ""};
    for (const http_callback& call : {full_callback(), small, get}) CHECK(http_callback::decode(call.encode()) == call);
}

TEST_CASE("http_callback_of_the_largest_size_fits_into_a_task") {
    http_callback call{.url = "http://a/" + std::string(http_callback::max_url - 9, 'b'), .method = "DELETE"};
    for (std::size_t i = 0; i < http_callback::max_headers; ++i) call.headers.emplace_back("x", std::string(255, 'y'));
    call.body = std::string(http_callback::max_body, '\0');
    call.content_type = std::string(http_callback::max_content_type, 'a');
    REQUIRE(call.check() == std::error_code());
    const std::string bytes = call.encode();
    CHECK(bytes.size() <= (std::size_t{512} << 10)); // durable_task::max_body
    CHECK(http_callback::decode(bytes) == call);
}

TEST_CASE("http_callback_bytes_cut_anywhere_are_refused") {
    const std::string bytes = full_callback().encode();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(!http_callback::decode(std::string_view(bytes).substr(0, size)));
    CHECK(!http_callback::decode(bytes + '\0'));
}

TEST_CASE("http_callback_bytes_with_a_changed_byte_are_refused_or_valid") {
    const std::string bytes = full_callback().encode();
    for (std::size_t i = 0; i < bytes.size(); ++i)
        for (const unsigned change : {1U, 0x20U, 0x80U, 0xffU}) {
            std::string other = bytes;
            other[i] = static_cast<char>(static_cast<unsigned char>(other[i]) ^ change);
            if (const auto call = http_callback::decode(other)) {
                CHECK(call->check() == std::error_code());
                CHECK(call->encode() == other);
            }
        }
}

TEST_CASE("http_callback_bytes_of_another_version_or_a_bad_request_are_refused") {
    std::string bytes = full_callback().encode();
    bytes[3] = 2;
    CHECK(!http_callback::decode(bytes));
    CHECK(!http_callback::decode(""));
    CHECK(!http_callback::decode("{\"order\":17}"));
    CHECK(!http_callback::decode(http_callback{.url = "ftp://a/"}.encode()));
    CHECK(!http_callback::decode(http_callback{.url = "http://a/", .headers = {{"x", "a\nb"}}}.encode()));
}
