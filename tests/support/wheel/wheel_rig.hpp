// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The bench on which a script drives a wheel and the reference side by side, comparing every outcome.
//
// Nodes live in blocks of several sizes and in objects of their own; they are kept, given back and destroyed while
// entries still lead to them. Handlers re-enter. The first difference ends the run and is described in words.
#pragma once

#include "support/wheel/filing_history.hpp"
#include "support/wheel/reference_wheel.hpp"
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_script.hpp"
#include "support/wheel/wheels_under_test.hpp"

#include <cogwheel/wheel/timing_wheel.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cogwheel_tests {

/// Counts the operations after which a jump was unfinished, by its phase.
struct operations_in_jumps {
    std::size_t gathering = 0, sorting = 0;
};
inline operations_in_jumps in_jumps;

template <cogwheel::timing_wheel Wheel>
class wheel_rig {
public:
    explicit wheel_rig(const script_header& h)
        : header_(h),
          wheel_(nodes_, h.slots, cogwheel::tick{h.start}),
          model_(h.start),
          settled_(h.start),
          timers_(h.timers) {
        cogwheel::wheel_access::set_sort_limit(wheel_, h.sort_limit);
    }

    ~wheel_rig() {
        if (!fault_.empty()) wheel_.clear([](cogwheel::timer_node&) {});
        for (timer& t : timers_) drop(t);
    }
    wheel_rig(const wheel_rig&) = delete;
    wheel_rig& operator=(const wheel_rig&) = delete;

    /// Empty, or what differed.
    std::string run(script_view operations) {
        for (std::size_t i = 0; i + script_op::size <= operations.size() && fault_.empty(); i += script_op::size) {
            const script_op op = script_op::decode(operations.subspan(i));
            perform(op);
            if (trimming_ && !wheel_.trim(*trimming_, op.raw[1] % 40)) trimming_.reset();
            in_jumps.gathering += cogwheel::wheel_access::gathering(wheel_) ? 1U : 0U;
            in_jumps.sorting += cogwheel::wheel_access::sorting(wheel_) ? 1U : 0U;
            compare(op, i / script_op::size % header_.check_every == 0);
            if (!fault_.empty()) fault_ = "operation " + std::to_string(i / script_op::size) + ": " + fault_;
        }
        return fault_;
    }

private:
    struct handler_error {};

    struct timer {
        cogwheel::timer_node* node = nullptr;
        std::size_t bytes = 0; // of its block; 0: an object of its own
        script_op op;
        reference_wheel::key life = 0;
        cogwheel::timer_id id;
        unsigned rearmed = 0; // from handlers, since the script armed it: bounded, so that every drain ends
    };

    static constexpr unsigned max_rearmed = 3;
    static constexpr std::size_t max_drain = 500'000;

    void perform(const script_op& op) {
        timer& t = at(op.timer());
        const std::uint64_t deadline = op.deadline(model_.now(), header_.slots);
        using verb = script_op::verb;
        switch (op.what()) {
        case verb::schedule:
            arm(t, deadline, op);
            break;
        case verb::cancel:
            cancel(t, op.keeps_node());
            break;
        case verb::reschedule:
            if (pending(t)) arm(t, deadline, op);
            break;
        case verb::replace:
            cancel(t, op.keeps_node());
            arm(t, deadline, op);
            break;
        case verb::advance:
            advance(op.target(model_.now(), header_.slots), op.budget());
            break;
        case verb::drain:
            drain(op);
            break;
        case verb::advance_to_deadline:
            if (pending(t)) {
                const std::uint64_t to = model_.deadline(t.life);
                advance(op.raw[4] % 3 == 0 ? to - (to != 0) : std::min(to + op.raw[4] % 3 - 1, script_op::last_tick),
                        op.budget());
            }
            break;
        case verb::drop:
            drop(t);
            break;
        case verb::burst:
            for (std::size_t i = 0; i < 8; ++i) arm(at(op.timer() + i), deadline, op);
            break;
        case verb::clear:
            clear();
            break;
        case verb::trim: // false half-way through a turn
            if (op.raw[2] % 4 == 0)
                wheel_.trim();
            else
                trimming_ = cogwheel::detail::trim_position{}; // in steps, of which each later operation takes one
            break;
        case verb::advance_to_next:
            if (const auto next = wheel_.next_due()) advance(next->value, op.budget());
            break;
        }
    }

    // ---- what a script and a handler can do to a timer

    timer& at(std::size_t i) { return timers_[i % timers_.size()]; }
    bool pending(const timer& t) const { return t.life != 0 && model_.pending(t.life); }

    void arm(timer& t, std::uint64_t deadline, const script_op& op) {
        if (!advancing_) t.rearmed = 0;
        if (advancing_ && ++t.rearmed > max_rearmed) return;
        t.op = op;
        if (t.node == nullptr) house(t, op.kind());
        if (deadline <= model_.now())
            overdue_armed_ = true;
        else
            history_[t.node].add(deadline, settled_);
        if (pending(t)) {
            model_.reschedule(t.life, deadline);
            wheel_.reschedule(*t.node, cogwheel::tick{deadline});
            expect(t.node->id() == t.id, "reschedule changed the id");
        } else {
            model_.schedule(t.life = ++lives_, deadline);
            wheel_.schedule(*t.node, cogwheel::tick{deadline});
            t.id = t.node->id();
        }
        expect(t.node->deadline().value == model_.deadline(t.life), "deadline() is not the one set");
    }

    void cancel(timer& t, bool keep) {
        if (!pending(t)) return;
        model_.cancel(t.life);
        wheel_.cancel(*t.node);
        ended(t);
        if (!keep) drop(t);
    }

    void ended(timer& t) {
        expect(!t.node->armed(), "armed() after its end");
        stale_.push_back(t.id);
        if (stale_.size() > 64) stale_.pop_front();
    }

    void house(timer& t, std::uint8_t kind) {
        static constexpr std::size_t sizes[] = {32, 33, 64, 65, 200, 256, 300, 512};
        if (kind < 8) {
            t.bytes = sizes[kind];
            t.node = &nodes_.allocate(t.bytes);
            t.node->completion(&wheel_rig::on_expiry);
        } else {
            t.bytes = 0;
            t.node = new cogwheel::timer_node(&wheel_rig::on_expiry);
            nodes_.attach(*t.node);
        }
        expect(!t.node->armed(), "a new node that is armed");
        owner_[t.node] = &t;
    }

    // Gives the node back, pending or not.
    void drop(timer& t) {
        if (t.node == nullptr) return;
        if (t.node->armed()) cancel(t, true);
        owner_.erase(t.node);
        if (t.bytes != 0) {
            nodes_.release(*t.node, t.bytes);
        } else {
            nodes_.detach(*t.node);
            history_.erase(t.node);
            delete t.node;
        }
        t.node = nullptr;
    }

    void clear() {
        std::size_t seen = 0;
        wheel_.clear([&](cogwheel::timer_node& node) {
            ++seen;
            const auto owner = owner_.find(&node);
            expect(owner != owner_.end() && pending(*owner->second), "clear() visited a timer that was not pending");
            if (owner != owner_.end()) ended(*owner->second);
        });
        expect(seen == model_.size(), "clear() missed a timer");
        model_.clear();
        for (auto& [node, history] : history_) history.forget();
    }

    // ---- turns

    void advance(std::uint64_t to, std::int64_t units) {
        model_.begin_advance(to);
        fired_ = 0;
        overdue_armed_ = false;
        bool threw = false;
        cogwheel::advance_result result{0, true};
        advancing_ = true;
        try {
            result = wheel_.advance(cogwheel::tick{to}, cogwheel::work_budget{units}, this);
        } catch (const handler_error&) {
            threw = true;
        }
        advancing_ = false;
        leftover_ = result.more;
        if (!leftover_) settled_ = model_.now();
        expect(wheel_.now().value == model_.now(), "now() is not the latest tick told");
        if (threw) return;
        const bool unlimited = units == cogwheel::work_budget::unlimited().units;
        expect(result.fired == fired_, "advance() miscounts what it fired");
        expect(fired_ <= 1 || static_cast<std::int64_t>(fired_ - 1) * cogwheel::work_budget::expiry < units,
               "advance() fired beyond its budget");
        expect(result.more || !model_.work_left(), "advance() forgot that more is due");
        expect(!unlimited || !model_.due_left(), "a due timer left behind without need");
        expect(!unlimited || !result.more || overdue_armed_, "advance() asks for another turn without need");
    }

    void drain(const script_op& op) {
        for (std::size_t calls = 0; fault_.empty(); ++calls) {
            advance(model_.now(), op.budget());
            if (!leftover_) break;
            if (!model_.work_left() && op.budget() > 1 && calls > max_drain / 2) break;
            expect(calls < max_drain, "more and more and more");
        }
        expect(!model_.work_left(), "a drained wheel with work left");
    }

    static void on_expiry(cogwheel::timer_node& node, void* context) {
        static_cast<wheel_rig*>(context)->expired(node);
    }

    void expired(cogwheel::timer_node& node) {
        if (!fault_.empty()) return;
        const auto owner = owner_.find(&node);
        if (owner == owner_.end()) return expect(false, "fired a node that was given back");
        timer& t = *owner->second;
        if (const char* why = model_.fire(t.life)) return expect(false, why);
        ++fired_;
        ended(t);
        expect(nodes_.find(t.id) == nullptr, "the id of a timer that fires is still valid");
        expect(wheel_.size() == model_.size(), "size() is wrong inside a handler");
        if (trimming_ && !wheel_.trim(*trimming_, t.op.raw[1] % 40)) trimming_.reset();
        react(t);
    }

    void react(timer& t) {
        const script_op op = t.op; // t may be armed anew below
        const unsigned argument = op.handler() >> 4;
        timer& other = at(static_cast<std::size_t>(&t - timers_.data()) + 1 + argument % 7);
        const std::uint64_t deadline = op.deadline(model_.now(), header_.slots);
        switch (op.handler() & 15) {
        case 3:
            return drop(t);
        case 4:
            return arm(other, deadline, op);
        case 5:
            return cancel(other, argument & 1);
        case 6:
            if (pending(other)) arm(other, deadline, op);
            return;
        case 7:
            return arm(t, model_.now(), op);
        case 8:
            return arm(t, deadline, op);
        case 9:
            drop(t);
            return arm(other, deadline, op);
        case 10:
            if (argument < 2) clear();
            return;
        case 11:
            throw handler_error{};
        case 12:
            compare(op, header_.check_every == 1);
            return;
        case 13:
            arm(t, deadline, op);
            throw handler_error{};
        case 14:
            cancel(other, argument & 1);
            return arm(other, deadline, op);
        case 15:
            for (std::size_t i = 0; i < 4; ++i) cancel(at(op.timer() + i), argument & 1);
            return;
        default:
            return;
        }
    }

    // ---- comparing

    void compare(const script_op& op, bool thoroughly) {
        expect(wheel_.size() == model_.size(), "size() is wrong");
        if (!stale_.empty())
            expect(nodes_.find(stale_[op.raw[1] % stale_.size()]) == nullptr, "a stale id is valid again");
        if (!thoroughly) return;
        const char* broken = wheel_.check_invariants();
        expect(broken == nullptr, broken);
        if (op.asks_next_due()) compare_next_due();
        if (!op.compares_all()) return;
        if constexpr (cogwheel::detail::counted_wheel<Wheel>) compare_counts(op);
        for (const timer& t : timers_) {
            if (t.node == nullptr) continue;
            expect(t.node->armed() == pending(t), "armed() is wrong");
            if (!t.node->armed()) continue;
            expect(nodes_.find(t.id) == t.node, "the id of a pending timer leads nowhere");
            expect(t.node->deadline().value == model_.deadline(t.life), "a deadline changed by itself");
        }
        std::size_t seen = 0;
        wheel_.for_each([&](const cogwheel::timer_node& node) { seen += node.armed() ? 1 : 2; });
        expect(seen == model_.size(), "for_each() visits something else than the pending timers");
    }

    // What the wheel counts of its entries and slots.
    void compare_counts(const script_op& op) {
        cogwheel::detail::level_census all;
        for (std::size_t level = 0; level < wheel_.levels(); ++level) {
            cogwheel::detail::level_census whole, sliced;
            expect(!wheel_.count_slots(level, 0, cogwheel::wheel_levels::max_slots, whole), "a census without an end");
            const std::size_t slice = 1 + op.raw[1] % 5;
            for (std::size_t first = 0; wheel_.count_slots(level, first, slice, sliced); first += slice) {
            }
            expect(whole.entries == sliced.entries && whole.occupied == sliced.occupied &&
                       whole.fullest == sliced.fullest && whole.slots == sliced.slots,
                   "a census in slices counts something else");
            expect((whole.fullest != 0) == (whole.occupied != 0) && whole.occupied <= whole.slots &&
                       whole.entries <= whole.occupied * whole.fullest && whole.occupied <= whole.entries,
                   "occupied slots, fullest slot and entries do not fit");
            all.entries += whole.entries;
            all.cascades += whole.cascades;
        }
        const bool settled = !leftover_ && !advancing_ && !model_.work_left();
        const std::size_t in_slots = wheel_.entries() - cogwheel::wheel_access::overdue_entries(wheel_);
        expect(settled ? all.entries == in_slots : all.entries <= in_slots,
               "the levels hold another number of entries than the wheel");
        expect(all.cascades >= cascades_ && wheel_.sweeps() >= sweeps_, "a count that falls");
        cascades_ = all.cascades;
        sweeps_ = wheel_.sweeps();
        for (const std::uint64_t at :
             {model_.now(), model_.now() + op.raw[2] % 16 % (script_op::last_tick - model_.now() + 1)}) {
            const std::size_t due = wheel_.due(cogwheel::tick{at}, ~std::size_t{0});
            expect(due >= model_.due(at), "due() misses a timer");
            expect(due <= wheel_.entries(), "due() counts more than there are");
        }
    }

    void compare_next_due() {
        const auto got = wheel_.next_due();
        const auto want = model_.next_due();
        expect(got.has_value() == want.has_value(), "next_due() is empty if and only if the wheel is");
        if (!got || !want) return;
        expect(!model_.work_left() || got->value == model_.now(), "next_due() is not now() though work is left");
        expect(got->value <= *want, "next_due() is too late");
        if (model_.work_left() || leftover_ || advancing_) return;
        expect(got->value > model_.now(), "next_due() is now() though nothing is left");
        std::uint64_t earliest = ~std::uint64_t{0};
        for (const timer& t : timers_)
            if (pending(t)) earliest = std::min(earliest, history_[t.node].earliest(model_.now()));
        expect(got->value >= earliest || wheel_.entries() > 4096, "next_due() wakes for a timer that is not pending");
    }

    void expect(bool holds, const char* what) {
        if (!holds && fault_.empty()) fault_ = what;
    }

    script_header header_;
    cogwheel::node_table nodes_;
    Wheel wheel_;
    reference_wheel model_;
    std::uint64_t settled_; // the latest tick up to which the wheel has certainly done everything
    std::vector<timer> timers_;
    std::unordered_map<const cogwheel::timer_node*, timer*> owner_;
    std::unordered_map<const cogwheel::timer_node*, filing_history> history_;
    std::deque<cogwheel::timer_id> stale_;
    std::uint64_t lives_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t cascades_ = 0, sweeps_ = 0;
    std::optional<cogwheel::detail::trim_position> trimming_; // a trim in steps that is under way
    bool advancing_ = false, leftover_ = false, overdue_armed_ = false;
    std::string fault_;
};

template <class Wheel>
std::string run_script(script_view script) {
    if (script.size() < script_header::size) return {};
    return wheel_rig<Wheel>(script_header::decode(script)).run(script.subspan(script_header::size));
}

/// Runs a script on the wheel that it names itself.
inline std::string run_script_on_its_wheel(script_view script) {
    if (script.size() < script_header::size) return {};
    switch (script[3] % 3) {
    case 0:
        return run_script<cogwheel::hashed_wheel>(script);
    case 1:
        return run_script<cogwheel::hierarchical_wheel>(script);
    default:
        return run_script<uneven_levels>(script);
    }
}

} // namespace cogwheel_tests
