// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a workload asks of a contender, and what the contenders share. One header each stands beside this one.
//
// A timer is named by its number, 0 .. N-1, and by a handle of the contender's own kind: what its user has to keep for
// a timer (an id, an iterator, a token), or the timer object itself.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

namespace bench {

using std::chrono::milliseconds;

/// What fired: how many, and which.
struct tally {
    std::uint64_t fired = 0;
    std::uint64_t sum = 0;

    /// Told of each timer, if there is one: for workloads that ask when, not only what.
    static inline void (*witness)(std::uint32_t number) = nullptr;

    void record(std::uint32_t number) noexcept {
        if (witness != nullptr) [[unlikely]]
            witness(number);
        ++fired;
        sum += (number + 1) * std::uint64_t{0x9E3779B97F4A7C15};
    }
    friend bool operator==(const tally&, const tally&) = default;
};

/// Objects in one piece of memory that can be neither copied nor moved.
template <class T>
class fixed_array {
public:
    template <class... Args>
    explicit fixed_array(std::size_t size, Args&... args)
        : items_(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t{alignof(T)}))) {
        for (; size_ < size; ++size_) ::new (static_cast<void*>(items_ + size_)) T(args...);
    }
    fixed_array(const fixed_array&) = delete;
    fixed_array& operator=(const fixed_array&) = delete;
    ~fixed_array() {
        std::destroy_n(items_, size_);
        ::operator delete(items_, std::align_val_t{alignof(T)});
    }

    T& operator[](std::size_t i) noexcept { return items_[i]; }
    T* data() noexcept { return items_; }
    std::size_t size() const noexcept { return size_; }

private:
    T* items_;
    std::size_t size_ = 0;
};

/// - schedule(h, number, delay), cancel(h), move(h, number, delay): cancel is true iff the timer was pending.
/// - work(n, f) runs f(), n operations, where a user of the contender would run them, and then everything that has
///   become ready by that, such as the handlers of cancelled waits.
/// - handle_is_timer: the handle is not a name that the user keeps, but the contender's own memory.
/// - real_time: time passes by itself, and what is set to +30 s fires then.
/// - make_handles(n), if the handles need anything to be made of; close(handles), if there is one, comes before their
///   end.
template <class C>
concept contender = requires(C& c, typename C::handle& h, std::uint32_t number, milliseconds delay, void (*f)()) {
    requires std::default_initializable<C>;
    { C::name } -> std::convertible_to<std::string_view>;
    requires std::same_as<decltype(C::handle_is_timer), const bool>;
    requires std::same_as<decltype(C::real_time), const bool>;
    c.schedule(h, number, delay);
    { c.cancel(h) } -> std::same_as<bool>;
    c.work(std::size_t{}, f);
    { c.pending() } -> std::same_as<std::size_t>;
    { c.fired() } -> std::same_as<tally>;
};

template <contender C>
fixed_array<typename C::handle> make_handles(C& c, std::size_t n) {
    if constexpr (requires { c.make_handles(n); })
        return c.make_handles(n);
    else
        return fixed_array<typename C::handle>(n);
}

/// - move_to(h, number, at): to a point in time, which after(delay) makes. Points may be exact or whole milliseconds.
/// - reach(at) lets time pass until the timers due at `at` are on the point of firing; false if it is too late for
///   that.
/// - fire_until(at) fires everything due before `at`, or all.
template <class C>
concept firing_contender = contender<C> && requires(C& c, typename C::handle& h, std::uint32_t number,
                                                    milliseconds delay, typename C::time_point at) {
    { c.after(delay) } -> std::same_as<typename C::time_point>;
    { at + std::chrono::nanoseconds() } -> std::convertible_to<typename C::time_point>;
    c.move_to(h, number, at);
    { c.reach(at) } -> std::same_as<bool>;
    c.fire_until(at);
};

template <class C>
concept movable_contender = contender<C> && requires(C& c, typename C::handle& h, std::uint32_t number,
                                                     milliseconds delay) { c.move(h, number, delay); };

} // namespace bench
