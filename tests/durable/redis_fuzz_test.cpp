// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Replays random inputs, and changed good ones, through what reads a server's bytes.
#include "fuzz/redis_fuzz.hpp"
#include "support/random.hpp"

#include <doctest/doctest.h>

TEST_CASE("redis_fuzz_random_inputs_break_no_promise") {
    const std::vector<std::string> good{
        "+OK\r\n-MOVED 3999 127.0.0.1:6381\r\n:12\r\n$3\r\nabc\r\n*2\r\n$-1\r\n*0\r\n",
        "*1\r\n*3\r\n:0\r\n:5460\r\n*3\r\n$9\r\n127.0.0.1\r\n:30001\r\n$2\r\nid\r\n",
        "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$5\r\nhello\r\n",
        "$33\r\n# Server\r\nredis_version:7.0.15\r\n\r\n\r\n*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n",
        "redis://user:p%40ss@host:6379/3",
        "sentinel://a:1,[::1]:2/name/1",
        "MOVED 1 ::1:7000",
        "ASK 16383 :7000",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    };
    constexpr std::string_view usual = "+-:$*\r\n0123456789@/%,[]{}ab ";
    cogwheel_tests::random_source random(1);
    for (int round = 0; round < 20'000; ++round) {
        std::string input(1, static_cast<char>(random.below(8)));
        const auto start = random.below(good.size() + 1);
        if (start < good.size()) input += good[start];
        for (auto changes = random.below(6); changes > 0; --changes) {
            const auto at = static_cast<std::size_t>(1 + random.below(input.size()));
            const char c =
                random.below(8) == 0 ? static_cast<char>(random.below(256)) : usual[random.below(usual.size())];
            const auto what = random.below(4);
            if (what == 0 || at >= input.size())
                input.insert(at, 1, c);
            else if (what == 1)
                input[at] = c;
            else if (what == 2)
                input.erase(at, random.below(4));
            else
                input += good[random.below(good.size())];
        }
        cogwheel_tests::fuzz_redis({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
    }
}
