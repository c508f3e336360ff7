// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel alone, in virtual ticks of 1 ms, as each kind of its users meets it:
// - core: a bare node per owner, in a block of the node_table that the owner keeps, as it would a steady_timer;
// - core_by_id: a block per timer, given back when it ends; the user keeps ids, which may outlive it. So does
//   timer_token;
// - embedded_core: a node inside the user's own object, a cache line like the floor's;
// - levels: as core, but the wheel has levels of 64 slots.
#pragma once

#include "contenders/virtual_time.hpp"

#include <cogwheel/wheel/hashed_wheel.hpp>
#include <cogwheel/wheel/hierarchical_wheel.hpp>

namespace bench {

template <class Wheel>
class wheel_base : public virtual_time<wheel_base<Wheel>> {
    using time = virtual_time<wheel_base<Wheel>>;

public:
    explicit wheel_base(std::size_t slots, bool huge_pages = false) : wheel_(prepared(nodes_, huge_pages), slots) {}

    std::size_t pending() const noexcept { return wheel_.size(); }
    void trim() { wheel_.trim(); }
    void expire_due() { wheel_.advance({time::now()}, cogwheel::work_budget::unlimited(), this); }

protected:
    using time::fired_;

    cogwheel::node_table nodes_;
    Wheel wheel_;

private:
    static cogwheel::node_table& prepared(cogwheel::node_table& nodes, bool huge_pages) {
        nodes.prefer_huge_pages(huge_pages);
        return nodes;
    }
};

using core_base = wheel_base<cogwheel::hashed_wheel>;

template <class Wheel>
class blocks_on : public wheel_base<Wheel> {
    using base = wheel_base<Wheel>;

public:
    static constexpr bool handle_is_timer = false;

    using base::base;
    using typename base::time_point;

    struct handle {
        cogwheel::timer_node* node = nullptr;
    };

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        if (h.node == nullptr) h.node = &make_node();
        wheel_.schedule(*h.node, {this->after(delay).tick});
    }
    bool cancel(handle& h) {
        if (!h.node->armed()) return false;
        wheel_.cancel(*h.node);
        return true;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, this->after(delay)); }
    void move_to(handle& h, std::uint32_t, time_point at) { wheel_.reschedule(*h.node, {at.tick}); }

private:
    using base::fired_;
    using base::nodes_;
    using base::wheel_;

    [[gnu::noinline]] cogwheel::timer_node& make_node() {
        cogwheel::timer_node& node = nodes_.allocate(sizeof(cogwheel::timer_node));
        node.completion(&expire);
        return node;
    }

    // A bare node has no room for the timer's number. But blocks are handed out in order, so where each timer was
    // scheduled once, it is the index. Here as in core_by_id.
    static void expire(cogwheel::timer_node& node, void* context) {
        static_cast<blocks_on*>(static_cast<base*>(context))->fired_.record(node.next_id().index);
    }
};

class core : public blocks_on<cogwheel::hashed_wheel> {
public:
    static constexpr std::string_view name = "cogwheel-core";
    explicit core(bool huge_pages = false) : blocks_on(512, huge_pages) {}
};

class levels : public blocks_on<cogwheel::hierarchical_wheel> {
public:
    static constexpr std::string_view name = "cogwheel-core-levels";
    levels() : blocks_on(64) {}
};

class core_in_huge_pages : public core {
public:
    core_in_huge_pages() : core(true) {}
};

class core_by_id : public core_base {
public:
    core_by_id() : core_base(512) {}

    static constexpr std::string_view name = "cogwheel-core-id";
    static constexpr bool handle_is_timer = false;

    using handle = cogwheel::timer_id;

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        cogwheel::timer_node& node = nodes_.allocate(sizeof(cogwheel::timer_node));
        node.completion(&expire);
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
    static void expire(cogwheel::timer_node& node, void* context) {
        auto& self = *static_cast<core_by_id*>(static_cast<core_base*>(context));
        self.fired_.record(node.next_id().index);
        self.nodes_.release(node, sizeof(cogwheel::timer_node));
    }
};

class embedded_core : public core_base {
public:
    // Not inlined, so that making the wheel does not change the code of the loops that are measured.
    [[gnu::noinline]] embedded_core() : core_base(512) {}

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
        auto& self = *static_cast<embedded_core*>(static_cast<core_base*>(context));
        self.fired_.record(reinterpret_cast<handle&>(node).number);
    }
};

static_assert(firing_contender<core> && movable_contender<core>);
static_assert(firing_contender<levels> && movable_contender<levels>);
static_assert(firing_contender<core_by_id> && movable_contender<core_by_id>);
static_assert(firing_contender<embedded_core> && movable_contender<embedded_core>);

} // namespace bench
