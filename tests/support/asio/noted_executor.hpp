// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An executor that notes how many copies of it are left when its last work ends. From then on the context may be
// destroyed, and a copy that goes later may look for what was there, as a strand's does.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/execution.hpp>
#include <asio/io_context.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>

#include <functional>
#include <utility>

namespace cogwheel_tests {

struct executor_note {
    int work = 0;
    int copies = 0;                ///< those that do not count as work
    int left_at_last = -1;         ///< of them, when the last work ended
    std::function<void()> at_last; ///< called then, if there is one
};

template <bool Tracked>
class noted_executor {
    using outstanding_work = asio::execution::outstanding_work_t;

public:
    noted_executor(asio::io_context& io, executor_note& note) : io_(&io), note_(&note) { count(); }
    noted_executor(const noted_executor& o) noexcept : io_(o.io_), note_(o.note_) { count(); }
    noted_executor(noted_executor&& o) noexcept : io_(o.io_), note_(std::exchange(o.note_, nullptr)) {}
    noted_executor& operator=(const noted_executor&) = delete;
    ~noted_executor() {
        if (note_ == nullptr) return;
        if constexpr (Tracked) {
            if (--note_->work != 0) return;
            note_->left_at_last = note_->copies;
            if (note_->at_last) note_->at_last();
        } else {
            --note_->copies;
        }
    }

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *io_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    static constexpr outstanding_work query(outstanding_work) noexcept {
        if constexpr (Tracked)
            return asio::execution::outstanding_work.tracked;
        else
            return asio::execution::outstanding_work.untracked;
    }
    noted_executor<true> require(outstanding_work::tracked_t) const { return {*io_, *note_}; }
    noted_executor<false> require(outstanding_work::untracked_t) const { return {*io_, *note_}; }

    template <class F>
    void execute(F&& f) const {
        asio::any_io_executor(asio::require(io_->get_executor(), asio::execution::blocking.never))
            .execute(std::forward<F>(f));
    }

    friend bool operator==(const noted_executor& a, const noted_executor& b) noexcept { return a.io_ == b.io_; }
    friend bool operator!=(const noted_executor& a, const noted_executor& b) noexcept { return !(a == b); }

private:
    void count() const noexcept { ++(Tracked ? note_->work : note_->copies); }

    asio::io_context* io_;
    executor_note* note_; // nullptr: moved from
};

} // namespace cogwheel_tests
