// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The pins of an operation, as bits in one word.
#pragma once

#include <atomic>
#include <utility>

namespace cogwheel::inline v0::detail {

/// The pins of an operation. All changes happen under the engine's lock, with one exception: the end of an initiation
/// takes no lock. So the word is atomic if the wheel is for several threads.
template <bool Concurrent>
class pin_bits {
public:
    unsigned get() const noexcept { return bits_.load(std::memory_order_acquire); }
    /// Sets or clears bits. Returns the previous bits.
    unsigned set(unsigned b) noexcept { return bits_.fetch_or(b, std::memory_order_acq_rel); }
    unsigned clear(unsigned b) noexcept { return bits_.fetch_and(~b, std::memory_order_acq_rel); }
    /// Clears `b` and returns true if no other bit is set. After that, another thread may free the operation's block.
    bool clear_if_alone(unsigned b) noexcept {
        return bits_.compare_exchange_strong(b, 0, std::memory_order_acq_rel, std::memory_order_acquire);
    }

private:
    std::atomic<unsigned> bits_{0};
};
template <>
class pin_bits<false> {
public:
    unsigned get() const noexcept { return bits_; }
    unsigned set(unsigned b) noexcept { return std::exchange(bits_, bits_ | b); }
    unsigned clear(unsigned b) noexcept { return std::exchange(bits_, bits_ & ~b); }

private:
    unsigned bits_ = 0;
};

} // namespace cogwheel::inline v0::detail
