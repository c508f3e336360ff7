// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a limit costs an operation: so many in flight, each of which starts the next.
#pragma once

#include "contenders/limits.hpp"
#include "workloads/live_set.hpp"

namespace bench {

template <class C>
class limit_leg final : public leg {
public:
    explicit limit_leg(std::size_t in_flight) { contender_.launch(in_flight); }

    sample repeat(std::uint64_t) override {
        constexpr std::uint64_t operations = 300'000;
        contender_.run(operations / 4);
        const stopwatch watch;
        contender_.run(operations);
        sample s;
        note_times(s, watch, operations);
        s.result.cancelled = contender_.errors();
        return s;
    }

private:
    C contender_;
};

} // namespace bench
