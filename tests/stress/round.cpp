// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See round.hpp.
#include "player.hpp"

namespace stress {

round::round(const plan& p, arena& c, asio::io_context& context, std::uint64_t seed)
    : planned(p),
      cells(c),
      io(context),
      strand(asio::make_strand(context)),
      wheel(std::make_shared<cogwheel::timer_wheel>(context, p.options)),
      in_turn(std::make_unique<player>(*this, 0, seed)) {}

round::~round() = default;

void round::note(std::uint64_t n, player& by) {
    const std::uint64_t before = done.fetch_add(n);
    const auto passes = [&](std::uint64_t mark) { return before < mark && mark <= before + n; };
    const std::uint64_t every = planned.operations / (planned.sweeps + 1);
    if (planned.sweeps != 0 && every != 0 && before / every != (before + n) / every) {
        if (by.one_of(2))
            sweep(by);
        else
            sweep_in_turn_ = true;
    }
    // The last eighth finds a wheel that is stopped, or gone.
    if (planned.end != ending::drop && passes(planned.operations - planned.operations / 8)) {
        if (by.one_of(2))
            end_wheel(by);
        else
            end_in_turn_ = true;
    }
}

void round::ran_in_turn() {
    ++unguarded;
    ++in_turn_runs;
    if (sweep_in_turn_.exchange(false)) sweep(*in_turn);
    if (end_in_turn_.exchange(false)) end_wheel(*in_turn);
}

void round::sweep(player& by) {
    const lease l(*this);
    if (!l) return;
    ++sweeps_begun;
    const std::size_t n = l->cancel_all();
    ++sweeps_over;
    by.called(role::sweep, n != 0);
}

void round::end_wheel(player& by) {
    if (ended_.exchange(true)) return;
    by.called(role::end, true);
    if (planned.end == ending::stop || planned.end == ending::stop_visited) {
        stopping = true;
        ++sweeps_begun;
        std::size_t visited = 0;
        const std::size_t n = planned.end == ending::stop
                                  ? wheel->stop()
                                  : wheel->stop([&](cogwheel::timer_wheel::time_point) { ++visited; });
        if (planned.end == ending::stop_visited && n != visited)
            findings::add("stop() visited {} timers and returned {}", visited, n);
        if (const std::size_t left = wheel->pending(); left != 0) findings::add("{} are pending after stop()", left);
    } else {
        wheel_goes = true;
        const std::lock_guard lock(wheel_mutex);
        stopping = true;
        ++sweeps_begun;
        last_seen = wheel->stats();
        if (planned.end == ending::move_away) {
            const cogwheel::timer_wheel moved(std::move(*wheel));
            wheel.reset();
        } else {
            wheel.reset();
        }
    }
    stopped = true;
    ++sweeps_over;
}

} // namespace stress
