// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that several threads share. Any thread may call a timer_wheel, but two threads must not replace one token, or
// use one steady_timer, at the same time. So each handle has a flag beside it, which an operation holds. All contenders
// have it, so that all do the same. (To push a timer back through a token that stays as it is needs no flag.)
#pragma once

#include "contenders/contender.hpp"

#include <atomic>
#include <thread>

namespace bench {

template <class Base>
class guarded : public Base {
public:
    struct handle {
        template <class... Arguments>
        explicit handle(Arguments&... arguments) : timer(arguments...) {}

        std::atomic_flag busy;
        typename Base::handle timer;
    };

    fixed_array<handle> make_handles(std::size_t n) {
        if constexpr (std::is_default_constructible_v<typename Base::handle>)
            return fixed_array<handle>(n);
        else
            return fixed_array<handle>(n, this->context());
    }

    // For the operation that holds the flag.
    void schedule(handle& h, std::uint32_t number, milliseconds delay) { Base::schedule(h.timer, number, delay); }
    bool cancel(handle& h) { return Base::cancel(h.timer); }
    void move(handle& h, std::uint32_t number, milliseconds delay) { Base::move(h.timer, number, delay); }
};

template <class Operation>
struct guarded_operation {
    template <class C>
    static bool apply(C& c, typename C::handle& h, std::uint32_t number) {
        while (h.busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
        const bool result = Operation::template apply<C>(c, h, number);
        h.busy.clear(std::memory_order_release);
        return result;
    }
};

} // namespace bench
