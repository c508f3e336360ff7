// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#pragma once

#include <atomic>
#include <utility>

namespace cogwheel::detail {

/// Who pins an operation. Bits that change under the engine's lock, but for the end of an initiation, which takes none.
template <bool Concurrent>
class pin_bits {
public:
    unsigned get() const noexcept { return bits_.load(std::memory_order_acquire); }
    /// The bits before.
    unsigned set(unsigned b) noexcept { return bits_.fetch_or(b, std::memory_order_acq_rel); }
    unsigned clear(unsigned b) noexcept { return bits_.fetch_and(~b, std::memory_order_acq_rel); }
    /// False, and nothing changes, if other bits are set, too. On success the block is not ours any more.
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

} // namespace cogwheel::detail
