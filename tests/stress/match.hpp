// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One round after another, on a context that lasts for some of them; after each, everything has to be accounted for.
#pragma once

#include "options.hpp"
#include "player.hpp"

#include <algorithm>

namespace stress {

class match {
public:
    explicit match(const options& o);

    /// Errors: none; see findings.
    void play();

    const ledger& total() const noexcept { return total_; }
    std::string summary() const;
    /// Takes no lock. Any thread.
    std::string state();

    unsigned runners() const noexcept { return std::max(1u, options_.threads * 3 / 8); }
    unsigned players() const noexcept { return options_.threads - runners(); }

private:
    plan draw(std::uint64_t index, std::uint64_t operations, bool last);
    void play(const plan& p);
    void end_quietly(round& r);
    void drop(round& r);
    void check(round& r, const ledger& l);

    options options_;
    cogwheel_tests::random_source random_;
    std::optional<steady::time_point> until_;
    arena cells_;
    std::unique_ptr<asio::io_context> io_;
    ledger total_;
    std::uint64_t turns_ = 0, handlers_ = 0;
    std::array<std::uint64_t, 5> endings_{};
    std::atomic<std::uint64_t> rounds_{0};
    bool cut_short_ = false;
    std::chrono::duration<double> elapsed_{};
};

} // namespace stress
