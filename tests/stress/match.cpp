// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See match.hpp.
#include "match.hpp"

#include "support/threads.hpp"

#include <algorithm>
#include <limits>

namespace stress {

using namespace std::chrono_literals;

match::match(const options& o) : options_(o), random_(o.seed) {}

plan match::draw(std::uint64_t index, std::uint64_t operations, bool last) {
    static constexpr std::array<std::size_t, 4> slots{4, 16, 64, 512};
    static constexpr std::array<std::uint32_t, 4> work{1, 7, 64, 1024};
    plan p;
    p.index = index;
    p.operations = operations;
    p.options.tick = random_.below(4) == 0 ? 250us : 1ms;
    p.options.slots = slots[random_.below(slots.size())];
    p.options.work_per_turn = work[random_.below(work.size())];
    p.options.reserve = random_.below(2u) * 1000;
    p.waits_per_timer = random_.below(2) == 0 ? 1 : 3;
    p.limits = random_.below(4) != 0;
    p.sweeps = random_.below(6);
    p.end = last || index % 8 == 7 ? ending::drop : static_cast<ending>(index % 4);
    // What is rejected completes later: a context that is dropped meanwhile would not let it be counted.
    if (p.end != ending::drop && random_.below(4) == 0) p.options.max_pending = 2000 + random_.below(6000u);
    return p;
}

void match::play() {
    const auto start = steady::now();
    if (options_.limit) until_ = start + *options_.limit;
    const std::uint64_t share = std::clamp<std::uint64_t>(options_.operations / 8, 1000, 250'000);
    std::uint64_t left = options_.operations;
    while (left != 0 && !findings::any() && !cut_short_) {
        const bool last = left < 2 * share;
        const std::uint64_t operations = last ? left : share;
        const plan p = draw(rounds_, operations, last);
        play(p);
        left -= operations;
        ++rounds_;
        cut_short_ = left != 0 && until_ && steady::now() >= *until_;
    }
    io_.reset();
    elapsed_ = steady::now() - start;
}

void match::play(const plan& p) {
    if (io_ == nullptr) io_ = std::make_unique<asio::io_context>();
    io_->restart();
    ledger book;
    {
        round r(p, cells_, *io_, options_.seed);
        player referee(r, std::numeric_limits<unsigned>::max(), options_.seed);
        std::vector<ledger> books(players());
        {
            const cogwheel_tests::runners running(*io_, static_cast<int>(runners()));
            cogwheel_tests::on_threads(static_cast<int>(players()), [&](int i) {
                player one(r, static_cast<unsigned>(i) + 1, options_.seed);
                one.play(until_);
                books[static_cast<std::size_t>(i)] = one.book;
            });
            if (p.end == ending::drop)
                io_->stop();
            else
                r.end_wheel(referee);
        } // here run() has returned on all threads: what has not ended by now never will
        if (r.wheel != nullptr) r.last_seen = r.wheel->stats();
        if (p.end == ending::drop)
            drop(r);
        else
            end_quietly(r);
        cells_.for_each([&](cell& c) { referee.settle_last(c); });
        for (const ledger& b : books) book += b;
        book += referee.book;
        book += r.in_turn->book;
        check(r, book);
        turns_ += r.last_seen->turns;
        handlers_ += r.in_turn_runs;
    }
    total_ += book;
    ++endings_[static_cast<std::size_t>(p.end)];
}

void match::end_quietly(round& r) {
    for (auto& t : cells_.timers) t.timer.reset();
    r.wheel.reset();
    for (auto& c : cells_.callables)
        if (c.token.pending() || c.token.cancel())
            findings::add("callable {} use {}: its token is pending after all is over", c.address(), c.serial());
}

// Who runs the context has left, and will not come back.
void match::drop(round& r) {
    r.dropping = true;
    for (auto& t : cells_.timers) t.timer.reset();
    for (auto& c : cells_.limits) c.operation.drop();
    if (r.planned.index % 2 == 0) { // a handler owns the wheel
        cogwheel::timer_wheel& wheel = *r.wheel;
        wheel.schedule(1h, [w = std::move(r.wheel)] {});
    }
    r.wheel.reset();
    const auto clear = [](signalled_cell& c) { c.signal.slot().clear(); };
    for (auto& c : cells_.waits) clear(c);
    for (auto& c : cells_.limits) clear(c);
    for (auto& t : cells_.timers)
        for (auto& c : t.waits) clear(c);
    for (auto& c : cells_.callables) c.token = c.stale = {};
    r.strand.reset();
    io_.reset();
}

void match::check(round& r, const ledger& l) {
    const plan& p = r.planned;
    const std::string where = fmt::format("round {}", p.index);
    for (std::size_t i = 0; i < l.kinds.size(); ++i)
        if (l.kinds[i].started != l.kinds[i].ended())
            findings::add("{}: of {} {}s {} are accounted for", where, l.kinds[i].started, kind_names[i],
                          l.kinds[i].ended());
    if (r.unguarded != r.in_turn_runs)
        findings::add("{}: {} handlers ran on the wheel's executor, the unguarded count is {}", where,
                      r.in_turn_runs.load(), r.unguarded);
    const cogwheel::wheel_stats& s = *r.last_seen;
    if (s.largest_turn > p.options.work_per_turn)
        findings::add("{}: a turn fired {} timers, {} were allowed", where, s.largest_turn, p.options.work_per_turn);
    const bool at_end = p.end != ending::destroy && p.end != ending::move_away; // else the wheel went on
    compare(l, s, p.waits_per_timer, at_end, where);
    if (at_end && p.end != ending::drop && s.pending != 0)
        findings::add("{}: {} are pending at the end", where, s.pending);
}

std::string match::summary() const {
    return fmt::format("{} rounds: {} stopped, {} destroyed, {} dropped{}\n{} handlers in {} turns\n"
                       "{} calls in {:.1f} s: {:.0f} a second\n",
                       rounds_.load(), endings_[0] + endings_[1], endings_[2] + endings_[3], endings_[4],
                       cut_short_ ? "; cut short by --seconds-limit" : "", handlers_, turns_, total_.calls_made(),
                       elapsed_.count(), static_cast<double>(total_.calls_made()) / elapsed_.count());
}

std::string match::state() {
    std::array<std::array<std::uint64_t, phase_names.size()>, kind_names.size()> counts{};
    cells_.for_each(
        [&](const cell& c) { ++counts[static_cast<std::size_t>(c.of)][static_cast<std::size_t>(c.now_in())]; });
    std::string text = fmt::format("seed {}, round {}", options_.seed, rounds_.load());
    for (std::size_t k = 0; k < counts.size(); ++k) {
        text += fmt::format("\n  {}:", kind_names[k]);
        for (std::size_t i = 0; i < phase_names.size(); ++i)
            if (counts[k][i] != 0) text += fmt::format(" {} {}", counts[k][i], phase_names[i]);
    }
    return text;
}

} // namespace stress
