// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A cache of sessions that expire when nobody asks for them: a million keys, each with a time to live that every lookup
// renews. A part of them is asked for all the time and has to stay; the others have to go, none before its time.

#include "support/command_line.hpp"

#include <cogwheel/schedule/interval.hpp>
#include <cogwheel/schedule/keyed_timers.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <string>
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

/// What a session knows: here when it was last asked for, so that the end can be judged. Each that was opened is there,
/// or has expired: size() + expired() == opened().
class session_store {
public:
    session_store(const cogwheel::timer_wheel& wheel, std::chrono::nanoseconds ttl) : ttl_(ttl), expiries_(wheel) {}

    void open(std::uint64_t id) {
        opened_ += sessions_.insert_or_assign(id, clock_type::now()).second;
        expiries_.add(id, ttl_, expire{this}, cogwheel::on_duplicate::replace);
    }

    /// False for a session that has expired.
    bool ask_for(std::uint64_t id) {
        const auto session = sessions_.find(id);
        if (session == sessions_.end()) return false;
        session->second = clock_type::now();
        expiries_.touch(id);
        return true;
    }

    std::size_t size() const { return sessions_.size(); }
    std::size_t opened() const { return opened_; }
    std::size_t expired() const { return expired_; }
    std::chrono::nanoseconds soonest() const { return soonest_; } ///< from the last use of a session to its end
    std::chrono::nanoseconds latest() const { return latest_; }

    std::string sum() const { return fmt::format("{} there + {} expired = {} opened", size(), expired_, opened_); }
    bool adds_up() const { return size() + expired_ == opened_; }

private:
    struct expire {
        session_store* store;
        void operator()(std::uint64_t id) const { store->drop(id); }
    };

    void drop(std::uint64_t id) {
        const auto session = sessions_.find(id);
        const std::chrono::nanoseconds unused = clock_type::now() - session->second;
        soonest_ = std::min(soonest_, unused);
        latest_ = std::max(latest_, unused);
        sessions_.erase(session);
        ++expired_;
    }

    std::chrono::nanoseconds ttl_;
    std::unordered_map<std::uint64_t, clock_type::time_point> sessions_;
    cogwheel::keyed_timers<std::uint64_t, cogwheel::timer_wheel, expire> expiries_;
    std::size_t opened_ = 0, expired_ = 0;
    std::chrono::nanoseconds soonest_ = std::chrono::nanoseconds::max(), latest_{};
};

struct options {
    std::uint64_t keys = 1'000'000, hot = 10'000;
    std::chrono::nanoseconds ttl = 2s;
};

double seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>(d).count(); }

struct visits {
    std::uint64_t found = 0, too_late = 0;
};

/// Asks for the hot ones ten times, each long before its end, if the machine is not busy elsewhere. One that has
/// expired is opened again, as a cache does.
asio::awaitable<void> visit(cogwheel::timer_wheel& wheel, session_store& store, const options& wanted, visits& all) {
    const auto begin = clock_type::now();
    cogwheel::interval every(wheel, {.period = wanted.ttl / 4, .times = 10});
    for (int round = 1; round <= 10; ++round) {
        co_await every.async_tick(asio::use_awaitable);
        for (std::uint64_t id = 0; id < wanted.hot; ++id) {
            const bool there = store.ask_for(id);
            ++(there ? all.found : all.too_late);
            if (!there) store.open(id);
        }
        fmt::print("{:5.2f} s: {}\n", seconds(clock_type::now() - begin), store.sum());
    }
}

int serve(const options& wanted) {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    session_store store(wheel, wanted.ttl);
    const auto begin = clock_type::now();
    for (std::uint64_t id = wanted.keys; id-- > 0;) store.open(id); // the hot ones last
    fmt::print("{} sessions opened in {:.2f} s; {} of them are asked for ten times, every {:.3f} s\n", store.opened(),
               seconds(clock_type::now() - begin), wanted.hot, seconds(wanted.ttl / 4));

    visits all;
    bool good = true;
    asio::co_spawn(io, visit(wheel, store, wanted, all), [&](const std::exception_ptr& failure) {
        if (failure != nullptr) std::rethrow_exception(failure);
        good = store.adds_up();
        fmt::print("asked for {} times: {} found, {} had expired and were opened again\n", all.found + all.too_late,
                   all.found, all.too_late);
    });
    io.run(); // until the last session has expired
    fmt::print("in the end: {}\n", store.sum());
    fmt::print("from the last use of a session to its end: {:.6f} s at least, {:.6f} s at most; its time to live is "
               "{:.6f} s\n",
               seconds(store.soonest()), seconds(store.latest()), seconds(wanted.ttl));
    good = good && store.size() == 0 && store.adds_up() && store.soonest() >= wanted.ttl;
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
