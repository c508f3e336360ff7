// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The same work on one thread and on two: on timers that the threads share, and with a loop for each thread. The rows
// of a pair differ in their number of threads only, so their wall times show what the second thread gains. The floor: a
// safe token, the counter, the line, and the mutex of a wheel.
#include "workloads/threads.hpp"

#include "contenders/binding.hpp"
#include "contenders/floor.hpp"
#include "contenders/guarded.hpp"
#include "contenders/steady_timer.hpp"
#include "plans/legs.hpp"
#include "plans/more_binding.hpp"
#include "workloads/per_thread.hpp"

namespace bench {

namespace {

using any_thread = scheduled<cogwheel::timer_wheel>;
using one_thread = scheduled<cogwheel::local_timer_wheel>;

template <class Leg, with Asio = with::own>
entrant row(std::string_view name) {
    return {name, &make<Leg>, Asio};
}

/// A floor in place of the wheel.
class floor_on_loop : public asio_loop {
public:
    using floor = safe_token_counter_lock;
    using handle = floor::handle;
    static constexpr std::string_view name = floor::name;
    static constexpr bool handle_is_timer = floor::handle_is_timer;

    fixed_array<handle> make_handles(std::size_t n) { return floor_.make_handles(n); }
    void schedule(handle& h, std::uint32_t number, milliseconds delay) { floor_.schedule(h, number, delay); }
    bool cancel(handle& h) { return floor_.cancel(h); }
    void move(handle& h, std::uint32_t number, milliseconds delay) { floor_.move(h, number, delay); }
    std::size_t pending() const noexcept { return floor_.pending(); }

private:
    floor floor_;
};

template <class C, class Operation, int Threads>
using shared = threads_leg<guarded<C>, guarded_operation<Operation>, Threads, works_on::all>;

template <class Operation>
entrants shared_rows() {
    return {
        row<shared<any_thread, Operation, 1>>("cogwheel, one thread"),
        row<shared<any_thread, Operation, 2>>("cogwheel, two threads"),
        row<shared<steady_timer, Operation, 1>, with::both>("asio::steady_timer, one thread"),
        row<shared<steady_timer, Operation, 2>, with::both>("asio::steady_timer, two threads"),
    };
}

template <class Operation>
entrants per_thread_rows() {
    return {
        row<per_thread_leg<floor_on_loop, Operation, 1>>("floor, one loop"),
        row<per_thread_leg<floor_on_loop, Operation, 2>>("floor, two loops"),
        row<threads_leg<floor_on_loop, Operation, 2>>("floor, two threads on one loop"),
        row<per_thread_leg<any_thread, Operation, 1>>("cogwheel, one loop"),
        row<per_thread_leg<any_thread, Operation, 2>>("cogwheel, two loops"),
        row<threads_leg<any_thread, Operation, 2>>("cogwheel, two threads on one loop"),
        row<per_thread_leg<one_thread, Operation, 1>>("cogwheel-local, one loop"),
        row<per_thread_leg<one_thread, Operation, 2>>("cogwheel-local, two loops"),
        row<per_thread_leg<steady_timer, Operation, 1>, with::both>("asio::steady_timer, one loop"),
        row<per_thread_leg<steady_timer, Operation, 2>, with::both>("asio::steady_timer, two loops"),
        row<threads_leg<steady_timer, Operation, 2>, with::both>("asio::steady_timer, two threads on one loop"),
    };
}

} // namespace

entrants shared_churn() { return shared_rows<churn_operation>(); }
entrants shared_touch() { return shared_rows<touch_operation>(); }
entrants per_thread_churn() { return per_thread_rows<churn_operation>(); }
entrants per_thread_touch() { return per_thread_rows<touch_operation>(); }

} // namespace bench
