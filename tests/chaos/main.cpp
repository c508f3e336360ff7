// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// chaos_proxy --to PORT: a bad network on the loopback, between a program and its server. Prints where it listens, and at the end
// (SIGINT, SIGTERM) what it did. The same seed does the same to the same connections.
#include "support/chaos_proxy.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <sys/resource.h>

using namespace cogwheel_tests;
using asio::ip::tcp;

namespace {

constexpr const char* usage = R"(usage: chaos_proxy --to PORT [options]
  --listen PORT   of the loopback; 0, the default, takes a free one
  --to PORT       of the loopback: the server
  --seed N        1 by default
  --forward N, --delay N, --split N, --stall N, --swallow N, --truncate N, --reset N
                  how often each step is taken, relative to the others
  --steps N       in each direction, at most (6)
  --bytes N       that a step covers, at most (2000)
  --longest MS    of the pauses (50)
  --buffer N      bytes, for each direction of each connection (4096)
  --show N        prints the plans of the first N connections, and ends
)";

struct settings {
    std::uint16_t listen = 0;
    std::uint16_t to = 0;
    std::uint64_t seed = 1;
    std::uint64_t show = 0;
    chaos_profile profile;
    chaos_options options;
};

std::uint64_t number(const std::string& name, const char* text, std::uint64_t most) {
    char* end = nullptr;
    const std::uint64_t n = text == nullptr ? 0 : std::strtoull(text, &end, 10);
    if (text == nullptr || *text == '-' || end == text || *end != '\0' || n > most)
        throw std::invalid_argument(name + " takes a number of 0 .. " + std::to_string(most) + ", not '" +
                                    (text == nullptr ? "" : text) + "'");
    return n;
}

settings parse(int argc, char** argv) {
    settings s;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const auto value = [&](std::uint64_t most) { return number(name, argv[i + 1], most); };
        constexpr std::uint64_t many = 1'000'000'000;
        bool known = true;
        if (name == "--listen")
            s.listen = static_cast<std::uint16_t>(value(65535));
        else if (name == "--to")
            s.to = static_cast<std::uint16_t>(value(65535));
        else if (name == "--seed")
            s.seed = value(std::numeric_limits<std::uint64_t>::max());
        else if (name == "--steps")
            s.profile.most_steps = value(many);
        else if (name == "--bytes")
            s.profile.most_bytes = std::max<std::uint64_t>(value(many), 1);
        else if (name == "--longest")
            s.profile.longest = std::chrono::milliseconds(std::max<std::uint64_t>(value(many), 1));
        else if (name == "--buffer")
            s.options.buffer = std::max<std::uint64_t>(value(many), 1);
        else if (name == "--show")
            s.show = value(many);
        else
            known = false;
        for (std::size_t k = 0; k < chaos_kinds && !known; ++k) {
            if (name != std::string("--") + name_of(static_cast<chaos>(k))) continue;
            s.profile.weights[k] = static_cast<unsigned>(value(1'000'000));
            known = true;
        }
        if (!known) throw std::invalid_argument("unknown option " + name);
    }
    if (s.to == 0 && s.show == 0) throw std::invalid_argument("--to is missing: which server?");
    return s;
}

/// Two descriptors a connection: as many as the system lets us have.
std::uint64_t raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

void print(const chaos_counts& c) {
    std::printf("accepted %" PRIu64 ", finished %" PRIu64 ", refused %" PRIu64 ", accept failures %" PRIu64 "\n",
                c.accepted, c.finished, c.refused, c.accept_failures);
    std::printf("bytes up %" PRIu64 ", down %" PRIu64 ", swallowed %" PRIu64 "\n", c.bytes_up, c.bytes_down,
                c.swallowed);
    for (std::size_t k = 0; k < chaos_kinds; ++k)
        std::printf("%s%s %" PRIu64, k == 0 ? "steps: " : ", ", name_of(static_cast<chaos>(k)), c.begun[k]);
    std::printf("\n");
}

int run(const settings& s) {
    for (std::uint64_t i = 0; i < s.show; ++i)
        std::printf("%" PRIu64 ": %s\n", i, describe(make_chaos(s.seed, i, s.profile)).c_str());
    if (s.show != 0) return 0;

    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io, {.tick = std::chrono::milliseconds(1)});
    const auto loopback = [](std::uint16_t port) { return tcp::endpoint(asio::ip::address_v4::loopback(), port); };
    const std::uint64_t descriptors = raise_descriptor_limit();
    chaos_proxy proxy(
        io.get_executor(), wheel, loopback(s.listen), loopback(s.to),
        [&s](std::uint64_t connection) { return make_chaos(s.seed, connection, s.profile); }, s.options);
    std::printf("listening on %u, seed %" PRIu64 ", %" PRIu64 " descriptors\n", proxy.endpoint().port(), s.seed,
                descriptors);
    std::fflush(stdout);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](std::error_code, int) { proxy.close(); });
    io.run();
    print(proxy.counts());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::invalid_argument& e) {
        std::fprintf(stderr, "chaos_proxy: %s\n%s", e.what(), usage);
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "chaos_proxy: %s\n", e.what());
        return 1;
    }
}
