// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A cache of sessions that expire when nobody asks for them: a million keys, each with a time to live that every lookup renews.
// A part of them is asked for all the time and has to stay; the others have to go, none before its time.

#include "support/command_line.hpp"

#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <unordered_map>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::string_view usage = R"(usage: session_store [options]
A cache whose keys expire when nobody asks for them.

  --keys N     sessions (default 1000000)
  --hot N      of these, asked for again and again (default 10000)
  --ttl D      time to live (default 2s)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

/// What a session knows: here when it was last asked for, so that the end can be judged.
class session_store {
public:
    session_store(const cogwheel::timer_wheel& wheel, std::chrono::nanoseconds ttl) : ttl_(ttl), expiries_(wheel) {}

    void put(std::uint64_t id) {
        sessions_[id] = clock_type::now();
        expiries_.add(id, ttl_, expire{this}, cogwheel::on_duplicate::replace);
    }

    /// Nothing for a session that has expired.
    bool ask_for(std::uint64_t id) {
        const auto session = sessions_.find(id);
        if (session == sessions_.end()) return false;
        session->second = clock_type::now();
        expiries_.touch(id);
        return true;
    }

    std::size_t size() const { return sessions_.size(); }
    std::size_t expired() const { return expired_; }
    std::chrono::nanoseconds earliest() const { return earliest_; } ///< from the last use of a session to its end

private:
    struct expire {
        session_store* store;
        void operator()(std::uint64_t id) const { store->drop(id); }
    };

    void drop(std::uint64_t id) {
        const auto session = sessions_.find(id);
        earliest_ = std::min<std::chrono::nanoseconds>(earliest_, clock_type::now() - session->second);
        sessions_.erase(session);
        ++expired_;
    }

    std::chrono::nanoseconds ttl_;
    std::unordered_map<std::uint64_t, clock_type::time_point> sessions_;
    cogwheel::keyed_timers<std::uint64_t, cogwheel::timer_wheel, expire> expiries_;
    std::size_t expired_ = 0;
    std::chrono::nanoseconds earliest_ = std::chrono::nanoseconds::max();
};

struct options {
    std::uint64_t keys = 1'000'000, hot = 10'000;
    std::chrono::nanoseconds ttl = 2s;
};

asio::awaitable<void> visit(cogwheel::timer_wheel& wheel, session_store& store, const options& wanted,
                            std::uint64_t& missed) {
    cogwheel::interval every(wheel, {.period = wanted.ttl / 4, .times = 10});
    for (int round = 1; round <= 10; ++round) {
        co_await every.async_tick(asio::use_awaitable);
        for (std::uint64_t id = 0; id < wanted.hot; ++id) missed += !store.ask_for(id);
        fmt::print("{:4.1f} s: {} sessions, {} expired\n",
                   static_cast<double>(round) / 4 * std::chrono::duration<double>(wanted.ttl).count(), store.size(),
                   store.expired());
    }
}

int serve(const options& wanted) {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    session_store store(wheel, wanted.ttl);
    const auto begin = clock_type::now();
    for (std::uint64_t id = wanted.keys; id-- > 0;) store.put(id); // the hot ones last
    fmt::print("{} sessions in {:.2f} s\n", store.size(),
               std::chrono::duration<double>(clock_type::now() - begin).count());

    std::uint64_t missed = 0;
    std::size_t kept = 0;
    asio::co_spawn(io, visit(wheel, store, wanted, missed), [&](std::exception_ptr) { kept = store.size(); });
    io.run(); // until the last session has expired
    fmt::print("{} kept while they were asked for, {} of {} expired; the earliest {:.6f} s after its last use\n", kept,
               store.expired(), wanted.keys, std::chrono::duration<double>(store.earliest()).count());
    const bool good =
        missed == 0 && kept == wanted.hot && store.expired() == wanted.keys && store.earliest() >= wanted.ttl;
    fmt::print("{}\n", good ? "ok" : "BROKEN");
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("session_store", [&] {
        options wanted;
        command_line::reader line(argc, argv);
        while (line.next()) {
            if (line.name() == "--keys") {
                wanted.keys = line.count(1, 100'000'000);
            } else if (line.name() == "--hot") {
                wanted.hot = line.count(0, 100'000'000);
            } else if (line.name() == "--ttl") {
                wanted.ttl = line.positive_duration();
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("{}", usage);
                return 0;
            } else {
                line.unknown();
            }
        }
        wanted.hot = std::min(wanted.hot, wanted.keys);
        return serve(wanted);
    });
}
