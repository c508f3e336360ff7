// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Replays the fuzz body with random bytes, and with valid texts that have a few random changes.
#include "fuzz/webhook_fuzz.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

const std::array<std::string, 6>& fuzz_seeds() {
    static const std::array<std::string, 6> seeds{
        http_callback{.url = "https://shop.example:8443/orders/17?x=%20y",
                      .method = "PUT",
                      .headers = {{"authorization", "Bearer abc"}},
                      .body = "{}"}
            .encode(),
        "a.example/xx-token-headervalue of headerbody of it!application/j",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "msg_p5jXN8AQM9LWM0D4loKWxJek1614265330v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,x",
        "2001:db8::/32",
        "http://[::ffff:127.0.0.1]:8080/path?query",
    };
    return seeds;
}

} // namespace

TEST_CASE("webhook_parsers_keep_their_promises_on_changed_texts") {
    const std::uint64_t seed = 20261125;
    INFO(seed);
    random_source random(seed);
    for (int i = 0; i < 60'000; ++i) {
        const std::size_t which = random.below(6);
        const std::string& text = fuzz_seeds()[which];
        std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(which)};
        bytes.insert(bytes.end(), text.begin(), text.end());
        for (std::uint64_t changes = random.below(4); changes != 0 && bytes.size() > 1; --changes) {
            const auto at = static_cast<std::ptrdiff_t>(1 + random.below(bytes.size() - 1));
            switch (random.below(3)) {
            case 0:
                bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
                break;
            case 1:
                bytes.erase(bytes.begin() + at);
                break;
            default:
                bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(random()));
            }
        }
        REQUIRE_NOTHROW(fuzz_webhook(bytes)); // a broken promise aborts
    }
}

TEST_CASE("webhook_parsers_keep_their_promises_on_random_bytes") {
    random_source random(7);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::uint8_t> bytes(random.below(64));
        for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz_webhook(bytes)); // a broken promise aborts
    }
}
