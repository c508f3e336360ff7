// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A limit on the requests a second of each address: a token bucket. The addresses of an IPv6 /64 share one, because a
// client usually has all of them.
#pragma once

#include <asio/ip/address.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>

namespace cogwheeld {

struct rate_options {
    double rate = 5'000;   ///< requests a second; 0: no limit
    double burst = 10'000; ///< requests at once
};

/// Memory: one entry for each address that has used up a part of its burst; at most max_addresses. Beyond, all further
/// addresses share one bucket, so that nobody gets around the limit by many addresses. Thread safety: none.
class rate_limit {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::size_t max_addresses = 10'000;

    explicit rate_limit(const rate_options& wanted) : options_{wanted} {}

    /// Buckets keep what is left in them.
    void change(const rate_options& wanted) noexcept { options_ = wanted; }

    /// Takes a request. Returns 0 if it is allowed, else the whole seconds until the next one is: at least 1.
    /// Complexity: O(log addresses).
    int take(const asio::ip::address& from, clock::time_point now) {
        if (options_.rate <= 0) return 0;
        auto key = key_of(from);
        if (buckets_.size() >= max_addresses && !buckets_.contains(key)) {
            forget_full_ones(now);
            if (buckets_.size() >= max_addresses) key = {}; // of all others
        }
        auto& b = buckets_.try_emplace(key, bucket{options_.burst, now}).first->second;
        fill(b, now);
        if (b.left >= 1) {
            b.left -= 1;
            return 0;
        }
        return std::max(1, static_cast<int>(std::ceil(std::min((1 - b.left) / options_.rate, 3600.0))));
    }

    std::size_t addresses() const noexcept { return buckets_.size(); }

private:
    using key_type = std::array<std::uint8_t, 9>; // 4 or 6, then the address or its network
    struct bucket {
        double left = 0;
        clock::time_point at{};
    };

    static key_type key_of(const asio::ip::address& a) noexcept {
        key_type key{};
        if (a.is_v6() && !a.to_v6().is_v4_mapped()) {
            const auto bytes = a.to_v6().to_bytes();
            key[0] = 6;
            std::copy_n(bytes.begin(), 8, key.begin() + 1);
        } else {
            const auto bytes =
                a.is_v4() ? a.to_v4().to_bytes() : asio::ip::make_address_v4(asio::ip::v4_mapped, a.to_v6()).to_bytes();
            key[0] = 4;
            std::copy_n(bytes.begin(), 4, key.begin() + 1);
        }
        return key;
    }

    void fill(bucket& b, clock::time_point now) const noexcept {
        const std::chrono::duration<double> passed = now - b.at;
        b.left = std::min(options_.burst, b.left + std::max(passed.count(), 0.0) * options_.rate);
        b.at = now;
    }

    // O(addresses), at most once a second.
    void forget_full_ones(clock::time_point now) {
        if (now < next_look_) return;
        next_look_ = now + std::chrono::seconds(1);
        for (auto i = buckets_.begin(); i != buckets_.end();) {
            fill(i->second, now);
            i = i->second.left >= options_.burst ? buckets_.erase(i) : std::next(i);
        }
    }

    rate_options options_;
    std::map<key_type, bucket> buckets_;
    clock::time_point next_look_{};
};

} // namespace cogwheeld
