// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <atomic>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The pins of an operation. `Concurrent`: threads change them without a lock, so the word is atomic.
template <bool Concurrent>
class pin_bits {
public:
    unsigned get() const noexcept { return bits_.load(std::memory_order_acquire); }
    /// Sets or clears bits. Returns the previous bits.
    unsigned set(unsigned b) noexcept { return bits_.fetch_or(b, std::memory_order_acq_rel); }
    unsigned clear(unsigned b) noexcept { return bits_.fetch_and(~b, std::memory_order_acq_rel); }

private:
    std::atomic<unsigned> bits_{0};
};
template <>
class pin_bits<false> {
public:
    unsigned get() const noexcept { return bits_; }
    unsigned set(unsigned b) noexcept { return std::exchange(bits_, bits_ | b); }
    unsigned clear(unsigned b) noexcept { return std::exchange(bits_, bits_ & ~b); }
    /// Clears `b` and returns true if no other bit is set.
    bool clear_if_alone(unsigned b) noexcept {
        if (bits_ != b) return false;
        bits_ = 0;
        return true;
    }

private:
    unsigned bits_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
