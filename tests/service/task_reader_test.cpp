// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/task_reader.hpp"
#include "support/random.hpp"

#include <cogwheel/durable/http_callback.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheeld;
using namespace std::chrono_literals;
using cogwheel::http_callback;
using cogwheel::on_duplicate;
using cogwheel::task_trigger;

namespace {

std::string with(const std::string& members) {
    return R"({"url":"http://a/x")" + (members.empty() ? "" : "," + members) + "}";
}

http_callback call_of(const std::string& json) {
    const auto call = http_callback::decode(read_task(json).task.body);
    REQUIRE(call);
    return *call;
}

/// The refusal of a request: "status field", or "" if there is none.
template <class Read>
std::string refusal_of(Read read) {
    try {
        read();
    } catch (const refusal& r) {
        CHECK_FALSE(r.why().detail.empty());
        return std::to_string(r.why().status) + ' ' + r.why().field;
    }
    return {};
}
std::string refused(const std::string& json) {
    return refusal_of([&] { read_task(json); });
}

} // namespace

TEST_CASE("task_reader_takes_all_members") {
    const auto order = read_task(R"({"id":"order-17","delay":"1h30m","url":"https://a.example/x?y","method":"PUT",
        "headers":{"Authorization":"Bearer x","X-Y":"z"},"body":{"b":[1,2.5,"\u00e9"],"a":null},"max_attempts":3,
        "policy":"keep","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})");
    CHECK(order.task.id == "order-17");
    CHECK(order.task.when.what() == task_trigger::kind::once);
    CHECK(order.task.when.first_delay() == 90min);
    CHECK(order.task.max_attempts == 3);
    CHECK(order.task.traceparent == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    CHECK(order.policy == on_duplicate::keep);
    const auto call = http_callback::decode(order.task.body);
    REQUIRE(call);
    CHECK(*call == http_callback{.url = "https://a.example/x?y",
                                 .method = "PUT",
                                 .headers = {{"Authorization", "Bearer x"}, {"X-Y", "z"}},
                                 .body = "{\"a\":null,\"b\":[1,2.5,\"\xc3\xa9\"]}",
                                 .content_type = "application/json"});
}

TEST_CASE("task_reader_needs_a_url_alone") {
    const auto order = read_task(with(""));
    CHECK(order.task.id.size() == 32);
    CHECK(order.task.id != read_task(with("")).task.id);
    CHECK(order.task.when.first_delay() == 0s);
    CHECK(order.task.max_attempts == 10);
    CHECK(order.policy == on_duplicate::reject);
    CHECK(call_of(with("")) == http_callback{.url = "http://a/x"});
    CHECK(read_task(with(R"("id":null,"delay":null,"policy":null)")).task.id.size() == 32); // as if they were not there
    CHECK(refused("{}") == "422 url");
}

TEST_CASE("task_reader_body_is_a_text_or_any_json") {
    CHECK(call_of(with(R"("body":"plain")")).body == "plain");
    CHECK(call_of(with(R"("body":"plain")")).content_type == "text/plain; charset=utf-8");
    CHECK(call_of(with(R"("body":[])")).body == "[]");
    CHECK(call_of(with(R"("body":0)")).body == "0");
    CHECK(call_of(with(R"("body":"<a/>","headers":{"Content-Type":"text/xml"})")).content_type == "text/xml");
    CHECK(call_of(with(R"("body":"<a/>","headers":{"Content-Type":"text/xml"})")).headers.empty());
}

TEST_CASE("task_reader_times") {
    CHECK(read_task(with(R"("due":"2026-12-24T18:00:00Z")")).task.when.text() == "at 2026-12-24T18:00:00Z");
    CHECK(read_task(with(R"("every":"90s")")).task.when.period() == 90s);
    CHECK(read_task(with(R"("cron":"0 7 * * MON-FRI","zone":"Europe/Berlin")")).task.when.text() ==
          "0 7 * * MON-FRI Europe/Berlin");
    CHECK(refused(with(R"("due":"2026-12-24T18:00:00Z","delay":"5s")")) == "422 due");
    CHECK(refused(with(R"("delay":"5s","zone":"Europe/Berlin")")) == "422 zone");
    CHECK(refused(with(R"("cron":"0 7 * * *","zone":"Mars/Olympus")")) == "422 zone");
    CHECK(refused(with(R"("cron":"0 7 * * *","zone":"../../etc/passwd")")) == "422 zone");
    CHECK(refused(with(R"("cron":"0 25 * * *")")) == "422 cron");
    CHECK(refused(with(R"("cron":"")")) == "422 cron");
    CHECK(refused(with(R"("every":"0s")")) == "422 every");
    CHECK(refused(with(R"("every":"0.1ms")")) == "422 every");
    CHECK(refused(with(R"("delay":5)")) == "422 delay");
    CHECK(refused(with(R"("delay":"5")")) == "422 delay");
    CHECK(refused(with(R"("delay":"-5s")")) == "422 delay");
    CHECK(refused(with(R"("delay":"9999999d")")) == "422 delay");
    CHECK(refused(with(R"("due":"10000-01-01T00:00:00Z")")) == "422 due");
    CHECK(refused(with(R"("due":"9999-12-31T23:59:59Z")")) == "422 due");
    CHECK(refused(with(R"("due":1795793970)")) == "422 due");
}

TEST_CASE("task_reader_refuses_what_a_callback_must_not_have") {
    for (const char* url : {"ftp://a/", "file:///etc/passwd", "gopher://a", "javascript:alert(1)", "a", ""}) {
        CAPTURE(std::string(url));
        CHECK(refused(R"({"url":")" + std::string(url) + "\"}") == "422 url");
    }
    CHECK(refused(R"({"url":"http://a/\r\nX: y"})") == "422 url");
    CHECK(refused(R"({"url":"http://user:secret@a/"})") == "422 url");
    CHECK(refused(R"({"url":5})") == "422 url");
    CHECK(refused(with(R"("method":"TRACE")")) == "422 method");
    CHECK(refused(with(R"("method":"POST / HTTP/1.1\r\n")")) == "422 method");
    CHECK(refused(with(R"("headers":{"X":"a\r\nY: b"})")) == "422 headers");
    CHECK(refused(with(R"("headers":{"X\r\nY":"b"})")) == "422 headers");
    CHECK(refused(with(R"("headers":{"Host":"b"})")) == "422 headers");
    CHECK(refused(with(R"("headers":{"Transfer-Encoding":"chunked"})")) == "422 headers");
    CHECK(refused(with(R"("headers":{"webhook-id":"b"})")) == "422 headers");
    CHECK(refused(with(R"("headers":{"X":1})")) == "422 headers");
    CHECK(refused(with(R"("headers":[])")) == "422 headers");
    CHECK(refused(with(R"("method":"GET","body":"x")")) == "422 body");
    CHECK(refused(with("\"body\":\"" + std::string(http_callback::max_body, 'x') + "\"")).empty());
    CHECK(refused(with("\"body\":\"" + std::string(http_callback::max_body + 1, 'x') + "\"")) == "413 body");
}

TEST_CASE("task_reader_refuses_other_members_out_of_range") {
    CHECK(refused(with(R"("id":"")")) == "422 id");
    CHECK(refused(with(R"("id":5)")) == "422 id");
    CHECK(refused(with(R"("id":"a\nb")")) == "422 id");
    CHECK(refused(with("\"id\":\"" + std::string(512, 'x') + "\"")).empty());
    CHECK(refused(with("\"id\":\"" + std::string(513, 'x') + "\"")) == "422 id");
    for (const char* n : {"0", "65536", "-1", "1.5", "\"3\"", "1e30", "99999999999999999999999", "true", "[]"}) {
        CAPTURE(std::string(n));
        CHECK(refused(with("\"max_attempts\":" + std::string(n))) == "422 max_attempts");
    }
    CHECK(refused(with(R"("policy":"whatever")")) == "422 policy");
    CHECK(refused(with(R"("traceparent":"00-x")")) == "422 traceparent");
    CHECK(refused(with(R"("retries":3)")) == "422 retries");
}

TEST_CASE("task_reader_refuses_what_is_not_json") {
    for (const char* text : {"", " ", "{", "[]", "5", "null", "{\"url\":}", "{\"url\":\"http://a/\"} x",
                             "{'url':'http://a/'}", "{\"url\":\"http://a/\xff\"}", "{\"url\":\"http://a/\",}",
                             "\xef\xbb\xbf\xef", "{\"url\":1e999}", "{\"url\":\"\\ud800\"}"}) {
        CAPTURE(std::string(text));
        CHECK(refused(text) == "400 ");
    }
    CHECK(refused(R"({"url":"http://a/","url":"http://b/"})") == "400 url");
    CHECK(refused(with(R"("body":{"a":{"b":1,"b":2}})")) == "400 b");
    const auto nested = [](std::size_t depth) {
        return with("\"body\":" + std::string(depth, '[') + std::string(depth, ']'));
    };
    CHECK(refused(nested(max_depth - 1)).empty());
    CHECK(refused(nested(max_depth)) == "400 ");
    CHECK(refused(std::string(8'000'000, '[')) == "400 ");
    CHECK(refused(R"({"url":)" + std::string(4'000'000, '[')) == "400 ");
}

TEST_CASE("task_reader_bulk_answers_for_each_task") {
    const auto orders = read_bulk(R"({"policy":"replace","tasks":[{"id":"a","url":"http://a/"},{"id":"b"},5,
        {"id":"c","url":"http://a/","policy":"keep"},{"id":"d","url":"http://a/","delay":"1s"}]})");
    CHECK(orders.policy == on_duplicate::replace);
    REQUIRE(orders.tasks.size() == 5);
    CHECK(std::get<cogwheel::durable_task>(orders.tasks[0]).id == "a");
    CHECK(std::get<problem>(orders.tasks[1]).field == "url");
    CHECK(std::get<problem>(orders.tasks[2]).status == 422);
    CHECK(std::get<problem>(orders.tasks[3]).field == "policy");
    CHECK(std::get<cogwheel::durable_task>(orders.tasks[4]).when.first_delay() == 1s);
    const auto many = [](int n) {
        std::string text = "{\"tasks\":[";
        for (int i = 0; i < n; ++i) text += std::string(i != 0 ? "," : "") + R"({"url":"http://a/"})";
        return text + "]}";
    };
    CHECK(read_bulk(many(1'000)).tasks.size() == 1'000);
    CHECK(refusal_of([&] { read_bulk(many(1'001)); }) == "413 tasks");
    CHECK(refusal_of([] { read_bulk("{}"); }) == "422 tasks");
    CHECK(refusal_of([] { read_bulk(R"({"tasks":[],"task":[]})"); }) == "422 task");
    CHECK(read_bulk(R"({"tasks":[]})").tasks.empty());
}

TEST_CASE("task_reader_change_takes_due_or_delay_alone") {
    CHECK(read_change(R"({"delay":"5s"})").first_delay() == 5s);
    CHECK(read_change(R"({"due":"2026-12-24T18:00:00Z"})").text() == "at 2026-12-24T18:00:00Z");
    const auto refused_change = [](const char* json) { return refusal_of([&] { read_change(json); }); };
    CHECK(refused_change("{}") == "422 due");
    CHECK(refused_change(R"({"url":"http://a/"})") == "422 url");
    CHECK(refused_change(R"({"delay":"5s","cron":"* * * * *"})") == "422 cron");
    CHECK(refused_change(R"({"delay":"5s","due":"2026-12-24T18:00:00Z"})") == "422 due");
    CHECK(refused_change(R"({"delay":"73001d"})") == "422 delay");
}

TEST_CASE("task_reader_of_random_damage_gives_an_order_or_says_why") {
    const std::string good =
        R"({"id":"order-17","due":"2026-12-24T18:00:00.5+01:00","url":"https://a.example/x","method":"PUT",
"headers":{"X":"y"},"body":{"a":[1,2,{"b":"\u00e9"}]},"max_attempts":3,"policy":"keep"})";
    const std::string bytes = "{}[]\",:\\0123456789eE+-.tnfu \n\x00\xff\xc3\x80";
    cogwheel_tests::random_source random(22);
    int orders = 0, refusals = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = good;
        for (std::uint64_t i = random.below(4) + 1; i != 0; --i) {
            const auto at = random.below(text.size());
            switch (random.below(4)) {
            case 0:
                text[at] = bytes[random.below(bytes.size())];
                break;
            case 1:
                text.erase(at, random.below(10));
                break;
            case 2:
                text.insert(at, text.substr(random.below(text.size()), random.below(20)));
                break;
            default:
                text.insert(at, random.below(3) == 0 ? "1e999" : std::string(1, static_cast<char>(random.below(256))));
            }
        }
        CAPTURE(text);
        try {
            const auto order = read_task(text);
            CHECK(order.task.check() == std::error_code());
            ++orders;
        } catch (const refusal& r) {
            ++refusals;
            const int status = r.why().status;
            CHECK((status == 400 || status == 413 || status == 422));
            CHECK_FALSE(r.why().detail.empty());
        }
    }
    CHECK(orders > 100);
    CHECK(refusals > 10'000);
}
