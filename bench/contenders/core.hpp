// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel alone, in virtual ticks of 1 ms: with bare nodes in blocks of the node_table, of which the user keeps the id;
// and with a node inside the user's own object, a cache line like the floor's.
#pragma once

#include "contenders/contender.hpp"

#include <cogwheel/wheel/hashed_wheel.hpp>

namespace bench {

class core_base {
public:
    static constexpr bool real_time = false;

    struct time_point {
        std::uint64_t tick;
        friend time_point operator+(time_point t, std::chrono::nanoseconds d) {
            return {t.tick + static_cast<std::uint64_t>(d / milliseconds(1))};
        }
    };

    template <class F>
    void work(std::size_t operations, F f) {
        f();
        clock_.pass(operations);
        if (clock_.now() != wheel_.now().value) advance();
    }

    time_point after(milliseconds delay) const noexcept { return time_point{clock_.now()} + delay; }
    bool reach(time_point at) {
        if (clock_.now() >= at.tick) return false;
        fire_until({at.tick - 1});
        return true;
    }
    void fire_until(time_point at) {
        while (clock_.now() < at.tick) {
            clock_.tick();
            advance();
        }
    }

    std::size_t pending() const noexcept { return wheel_.size(); }
    tally fired() const noexcept { return fired_; }

protected:
    static constexpr std::size_t slots = 512;

    void advance() { wheel_.advance({clock_.now()}, cogwheel::work_budget::unlimited(), this); }

    cogwheel::node_table nodes_;
    cogwheel::hashed_wheel wheel_{nodes_, slots};
    virtual_clock clock_;
    tally fired_;
};

class core : public core_base {
public:
    static constexpr std::string_view name = "cogwheel-core";
    static constexpr bool handle_is_timer = false;

    using handle = cogwheel::timer_id;

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n); }

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        cogwheel::timer_node& node = nodes_.allocate(sizeof(cogwheel::timer_node));
        node.on_expiry(&expire);
        wheel_.schedule(node, {after(delay).tick});
        h = node.id();
    }
    bool cancel(handle& h) {
        cogwheel::timer_node* node = nodes_.find(h);
        if (node == nullptr) return false;
        wheel_.cancel(*node);
        nodes_.release(*node, sizeof(cogwheel::timer_node));
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) {
        if (cogwheel::timer_node* node = nodes_.find(h)) wheel_.reschedule(*node, {at.tick});
    }

private:
    // A bare node has no room for the timer's number. But blocks are handed out in order, so where each timer was
    // scheduled once, it is the index.
    static void expire(cogwheel::timer_node& node, void* context) {
        auto& self = *static_cast<core*>(context);
        self.fired_.record(node.next_id().index);
        self.nodes_.release(node, sizeof(cogwheel::timer_node));
    }
};

class embedded_core : public core_base {
public:
    static constexpr std::string_view name = "cogwheel-core-embed";
    static constexpr bool handle_is_timer = true;

    struct alignas(64) handle {
        explicit handle(cogwheel::node_table& nodes) : node(&expire) { nodes.attach(node); }
        cogwheel::timer_node node; // the first member: expire() gets back from there
        std::uint32_t number = 0;
    };

    fixed_array<handle> make_handles(std::size_t n) { return fixed_array<handle>(n, nodes_); }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        h.number = number;
        wheel_.schedule(h.node, {after(delay).tick});
    }
    bool cancel(handle& h) {
        if (!h.node.armed()) return false;
        wheel_.cancel(h.node);
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) { wheel_.reschedule(h.node, {at.tick}); }

private:
    static void expire(cogwheel::timer_node& node, void* context) {
        static_cast<embedded_core*>(context)->fired_.record(reinterpret_cast<handle&>(node).number);
    }
};

static_assert(firing_contender<core> && movable_contender<core>);
static_assert(firing_contender<embedded_core> && movable_contender<embedded_core>);

} // namespace bench
