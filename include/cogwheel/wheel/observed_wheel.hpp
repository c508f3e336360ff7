// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel that tells an observer of each timer, for traces and for counts by call site. The observer is a part of the
// wheel's type, so a wheel without an observer pays nothing.
//
//     struct slowest { void on_expire(const cogwheel::timer_node&, std::string_view what) noexcept; };
//     using watched = cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::multi_threaded,
//                                                 cogwheel::observed_wheel<cogwheel::hashed_wheel, slowest>>;
#pragma once

#include <cogwheel/wheel/timing_wheel.hpp>

#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI {

namespace detail {

/// Returns the compiler's name of a type.
template <class T>
constexpr std::string_view name_of_type() noexcept {
    std::string_view name = __PRETTY_FUNCTION__;
    const std::size_t begin = name.find("T = ");
    if (begin == name.npos) return name;
    name.remove_prefix(begin + 4);
    const std::size_t end = name.find_last_of(";]"); // GCC appends the type behind string_view
    return name.substr(0, name.find("; std::string_view") != name.npos ? name.find("; std::string_view") : end);
}

} // namespace detail

/// A wheel of type Base and an observer of its timers.
///
/// Observer: default constructible. It may have any of the functions below, all of them noexcept. Neither they nor its
/// destructor may use the wheel. A timer_wheel calls them under its lock, on the thread that makes the change:
/// - on_schedule(const timer_node&, tick due): the timer is pending.
/// - on_reschedule(const timer_node&, tick due): the timer has another deadline.
/// - on_cancel(const timer_node&): the timer is no longer pending, and does not fire. node.last_id() is its id.
/// - on_expire(const timer_node&, std::string_view what): the timer fires; its handler runs next, unless it has another
///   executor. `what` is the compiler's name of the handler's type. For timer objects, idle monitors and requests, this
///   is Cogwheel's own type; for a timeout, the operation's handler, which runs when the cancelled operation ends. A
///   wheel outside of a timer_wheel calls this only from expired().
/// - on_turn_begin(), on_turn_end(): a turn of a timer_wheel begins or ends, also if a handler throws. No handler runs
///   inside a turn after on_turn_end().
template <timing_wheel Base, class Observer>
class observed_wheel : public Base {
public:
    using Base::Base;

    /// Arms a node: see Base.
    void schedule(timer_node& node, tick due) {
        if constexpr (detail::wheel_with_short_path<Base>)
            if (take_over(node, due)) return;
        Base::schedule(node, due);
        if constexpr (requires { observer_.on_schedule(std::as_const(node), due); }) observer_.on_schedule(node, due);
    }
    void reschedule(timer_node& node, tick due) {
        Base::reschedule(node, due);
        if constexpr (requires { observer_.on_reschedule(std::as_const(node), due); })
            observer_.on_reschedule(node, due);
    }
    bool take_over(timer_node& node, tick due) noexcept
        requires detail::wheel_with_short_path<Base>
    {
        if (!Base::take_over(node, due)) return false;
        ++take_overs_;
        if constexpr (requires { observer_.on_schedule(std::as_const(node), due); }) observer_.on_schedule(node, due);
        return true;
    }
    bool postpone(timer_node& node, tick due) noexcept
        requires detail::wheel_with_short_path<Base>
    {
        if (!Base::postpone(node, due)) return false;
        if constexpr (requires { observer_.on_reschedule(std::as_const(node), due); })
            observer_.on_reschedule(node, due);
        return true;
    }
    void cancel(timer_node& node) noexcept {
        Base::cancel(node);
        tell_cancelled(node);
    }
    template <class F>
    void clear(F f) {
        Base::clear([&](timer_node& node) {
            tell_cancelled(node);
            f(node);
        });
    }

    /// Tells the observer that the timer fires. A timer_wheel calls this; with the bare wheel, call it from the
    /// completion function of the node. What: a type that names the handler.
    template <class What>
    void expired(const timer_node& node) noexcept {
        if constexpr (requires { observer_.on_expire(node, std::string_view()); })
            observer_.on_expire(node, detail::name_of_type<What>());
    }

    /// Tell the observer of the turns of a timer_wheel.
    void turn_begins() noexcept {
        if constexpr (requires { observer_.on_turn_begin(); }) observer_.on_turn_begin();
    }
    void turn_ends() noexcept {
        if constexpr (requires { observer_.on_turn_end(); }) observer_.on_turn_end();
    }

    /// Returns how many timers needed no new entry.
    std::uint64_t take_overs() const noexcept
        requires detail::wheel_with_short_path<Base>
    {
        return take_overs_;
    }

    Observer& observer() noexcept { return observer_; }

private:
    void tell_cancelled(const timer_node& node) noexcept {
        if constexpr (requires { observer_.on_cancel(node); }) observer_.on_cancel(node);
    }

    std::uint64_t take_overs_ = 0;
    [[no_unique_address]] Observer observer_;
};

} // namespace cogwheel::COGWHEEL_ABI
