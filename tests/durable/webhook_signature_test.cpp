// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Signatures of webhooks: the vector of the specification, and each part that an attacker could change.
#include <cogwheel/durable/webhook_signature.hpp>

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <stdexcept>

using namespace cogwheel;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t spec_seconds = 1614265330;
constexpr std::string_view spec_id = "msg_p5jXN8AQM9LWM0D4loKWxJek", spec_timestamp = "1614265330",
                           spec_body = R"({"test": 2432232314})",
                           spec_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

webhook_key spec_key() { return webhook_key::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"); }
webhook_key other_key() { return webhook_key::from_text("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"); }
std::chrono::system_clock::time_point at_second(std::int64_t s) {
    return std::chrono::system_clock::time_point(std::chrono::seconds(s));
}

/// Verifies the message of the specification, with changes.
struct message {
    std::string id{spec_id}, timestamp{spec_timestamp}, signature{spec_signature}, body{spec_body};
    std::int64_t now = spec_seconds;
    std::vector<webhook_key> keys{spec_key()};

    std::error_code verify() const {
        return verify_webhook(keys, {.id = id, .timestamp = timestamp, .signature = signature}, body, at_second(now));
    }
};

} // namespace

TEST_CASE("webhook_key_signs_as_the_specification_shows") {
    CHECK(spec_key().sign(spec_id, spec_seconds, spec_body) == spec_signature);
    CHECK(message{}.verify() == std::error_code());
}

TEST_CASE("webhook_of_another_id_body_time_or_key_is_refused") {
    CHECK(message{.id = "msg_p5jXN8AQM9LWM0D4loKWxJeK"}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.body = R"({"test": 2432232315})"}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.body = ""}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.timestamp = "1614265331"}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.keys = {other_key()}}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.keys = {}}.verify() == webhook_errc::no_key);
}

TEST_CASE("webhook_with_a_changed_signature_is_refused_at_each_character") {
    for (std::size_t i = 3; i < spec_signature.size(); ++i) {
        message m;
        m.signature[i] = m.signature[i] == 'A' ? 'B' : 'A';
        CHECK(m.verify() == webhook_errc::wrong_signature);
        m.signature = spec_signature.substr(0, i);
        CHECK(m.verify() == webhook_errc::wrong_signature);
    }
    CHECK(message{.signature = std::string(spec_signature) + "="}.verify() == webhook_errc::wrong_signature);
}

TEST_CASE("webhook_without_a_v1_signature_says_so") {
    for (const char* text : {"", " ", "v2,g0hM9SsE", "v1a,abc", "v1", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="})
        CHECK(message{.signature = text}.verify() == webhook_errc::no_signature);
}

TEST_CASE("webhook_with_several_signatures_needs_one_that_is_right") {
    const std::string right(spec_signature);
    const std::string wrong = other_key().sign(spec_id, spec_seconds, spec_body);
    CHECK(message{.signature = wrong + " " + right}.verify() == std::error_code());
    CHECK(message{.signature = right + " " + wrong}.verify() == std::error_code());
    CHECK(message{.signature = "v1a,x  v2,y " + right}.verify() == std::error_code());
    CHECK(message{.signature = wrong + " " + wrong}.verify() == webhook_errc::wrong_signature);
    CHECK(message{.signature = wrong, .keys = {spec_key(), other_key()}}.verify() == std::error_code());
}

TEST_CASE("webhook_with_endless_signatures_is_read_up_to_the_limit") {
    std::string many;
    for (std::size_t i = 0; i < webhook_headers::max_signatures; ++i) many += "v1,x ";
    CHECK(message{.signature = many + std::string(spec_signature)}.verify() == webhook_errc::wrong_signature);
    many.resize(many.size() - 5);
    CHECK(message{.signature = many + std::string(spec_signature)}.verify() == std::error_code());
}

TEST_CASE("webhook_beyond_the_tolerance_is_refused_on_both_sides") {
    CHECK(message{.now = spec_seconds + 300}.verify() == std::error_code());
    CHECK(message{.now = spec_seconds + 301}.verify() == webhook_errc::too_old);
    CHECK(message{.now = spec_seconds - 300}.verify() == std::error_code());
    CHECK(message{.now = spec_seconds - 301}.verify() == webhook_errc::too_new);
}

TEST_CASE("webhook_whose_timestamp_is_no_number_is_refused") {
    for (const char* text : {"", "x", "-1", "+1614265330", " 1614265330", "1614265330 ", "1614265330.0", "01614265330",
                             "0x60380972", "253402300800", "99999999999999999999", "-9223372036854775808"})
        CHECK(message{.timestamp = text}.verify() == webhook_errc::bad_timestamp);
}

TEST_CASE("webhook_whose_id_could_be_read_in_two_ways_is_refused") {
    CHECK(message{.id = ""}.verify() == webhook_errc::bad_id);
    for (const char* id :
         {"a.1700000000", "a.17e8", "a.0x6553f100", "a.+1", "a.123456789", "a.1700000000.b", "a.b.1_7"})
        CHECK_MESSAGE(message{.id = id}.verify() == webhook_errc::bad_id, id);
    for (const char* id : {"a.b", "a.17", "v1.2.3", "a.12345678", "a.", ".a", "a..b", "a.-1", "a.17@1700000000000"})
        CHECK_MESSAGE(message{.id = id}.verify() != webhook_errc::bad_id, id);
    CHECK(message{.id = "a\nb"}.verify() == webhook_errc::bad_id);
    CHECK(message{.id = std::string(2049, 'a')}.verify() == webhook_errc::bad_id);
    CHECK(message{.id = std::string(2048, 'a')}.verify() == webhook_errc::wrong_signature);
}

TEST_CASE("webhook_key_text_is_strict_and_says_what_is_wrong") {
    CHECK(spec_key().text() == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    CHECK(webhook_key::from_text("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").text() == spec_key().text());
    for (const char* text :
         {"", "whsec_", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ 9r8GKYqrTwjUPD8ILPZIo2LaLaS",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaL===", "whsec_AAAA", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaB="})
        CHECK_THROWS_AS(webhook_key::from_text(text), std::invalid_argument);
    CHECK_THROWS_WITH(webhook_key::from_text("whsec_AAAA"), doctest::Contains("3 bytes, but must have 24 to 64"));
}

TEST_CASE("webhook_key_has_24_to_64_bytes") {
    const std::vector<std::byte> bytes(65, std::byte{7});
    const auto with = [&](std::size_t n) { return webhook_key(std::span(bytes).first(n)); };
    CHECK_THROWS_AS(with(23), std::invalid_argument);
    CHECK_THROWS_AS(with(65), std::invalid_argument);
    for (std::size_t n = 24; n <= 64; ++n) {
        const webhook_key key = with(n);
        CHECK(webhook_key::from_text(key.text()).sign("a", 1, "b") == key.sign("a", 1, "b"));
    }
}

TEST_CASE("webhook_key_is_a_value") {
    webhook_key a = spec_key(), b = other_key();
    const webhook_key copy = a;
    a = b;
    CHECK(a.text() == b.text());
    a = std::move(b);
    a = webhook_key(copy);
    CHECK(a.text() == copy.text());
}

TEST_CASE("webhook_safe_keeps_visible_bytes_and_encodes_the_others") {
    CHECK(webhook_safe("order-17@1700000000000") == "order-17@1700000000000");
    CHECK(webhook_safe(std::string_view("a b.c%\r\n\0\xff", 10)) == "a%20b.c%25%0D%0A%00%FF");
    CHECK(webhook_safe("order.17") == "order.17");
    CHECK(webhook_safe("report.daily@1700000000000") == "report.daily@1700000000000");
    CHECK(webhook_safe("order.17@1700000000000") == "order.17@1700000000000");
    CHECK(webhook_safe("a.1700000000.b") == "a%2E1700000000.b");
    CHECK(webhook_safe("a.b.17e8") == "a.b%2E17e8");
    std::set<std::string> all;
    for (int c = 0; c < 256; ++c) all.insert(webhook_safe(std::string(1, static_cast<char>(c))));
    CHECK(all.size() == 256);
    for (const std::string& s : all)
        for (const char c : s) CHECK((c > ' ' && c <= '~'));
}

TEST_CASE("webhook_safe_ids_cannot_be_read_as_another_message") {
    const webhook_key key = spec_key();
    const std::string id = webhook_safe("a.1614265330"), body = "b";
    const std::string signature = key.sign(id, 1'614'265'331, body);
    const auto now = std::chrono::system_clock::from_time_t(1'614'265'331);
    CHECK(!verify_webhook({&key, 1}, {.id = id, .timestamp = "1614265331", .signature = signature}, body, now));
    // The same bytes, cut elsewhere.
    const std::string whole = id + ".1614265331." + body;
    for (std::size_t i = whole.find('.'); i != whole.npos; i = whole.find('.', i + 1)) {
        const std::size_t j = whole.find('.', i + 1);
        if (j == whole.npos || whole.substr(0, i) == id) continue;
        const std::string other = whole.substr(0, i), time = whole.substr(i + 1, j - i - 1);
        CHECK(verify_webhook({&key, 1}, {.id = other, .timestamp = time, .signature = signature}, whole.substr(j + 1),
                             now) != std::error_code());
    }
}

TEST_CASE("webhook_of_a_body_that_begins_like_a_timestamp_is_no_other_message") {
    const webhook_key key = spec_key();
    const auto now = std::chrono::system_clock::from_time_t(1'614'265'331);
    const std::string signature = key.sign("a", 1'614'265'330, "1614265331.b");
    CHECK(verify_webhook({&key, 1}, {.id = "a.1614265330", .timestamp = "1614265331", .signature = signature}, "b",
                         now) == webhook_errc::bad_id);
}
