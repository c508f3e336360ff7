// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An operation of somebody else, as timeout needs one: it waits until any thread completes it, and heeds
// cancellation.
//
// One waits at a time, for use number `serial` of a cell, and completes with that number.
#pragma once

#include "cell.hpp"

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <memory>
#include <mutex>
#include <system_error>

namespace stress {

class exchange {
    using executor = asio::io_context::executor_type;

public:
    /// Completion signature: void(std::error_code, std::uint64_t serial). `at_once`: another thread may complete it
    /// before this returns. The cell is only looked at.
    template <class Token>
    auto async_take(const executor& ex, const cell& of, std::uint64_t serial, bool at_once, Token&& token) {
        return asio::async_initiate<Token, void(std::error_code, std::uint64_t)>(
            initiate{this, &of, serial, at_once, ex}, token);
    }

    /// False if nobody waits.
    bool complete() { return finish(std::error_code(), any); }

    /// Destroys the handler, as a context does that is at its end.
    void drop() { take(any); }

private:
    static constexpr std::uint64_t any = 0;

    struct waiter {
        explicit waiter(std::uint64_t s) : serial(s) {}
        virtual ~waiter() = default;
        virtual void complete(std::error_code ec) = 0;
        std::uint64_t serial;
    };

    template <class Handler>
    struct waiting_handler final : waiter {
        waiting_handler(Handler&& h, std::uint64_t s, const executor& ex)
            : waiter(s), handler(std::move(h)), work(ex) {}

        void complete(std::error_code ec) override {
            const auto to = asio::get_associated_executor(handler, work.get_executor());
            asio::post(to, [h = std::move(handler), ec, s = serial]() mutable { std::move(h)(ec, s); });
        }

        Handler handler;
        asio::executor_work_guard<executor> work;
    };

    struct initiate {
        using executor_type = executor;

        exchange* self;
        const cell* of;
        std::uint64_t serial;
        bool at_once;
        executor ex;

        executor_type get_executor() const noexcept { return ex; }

        template <class Handler>
        void operator()(Handler&& handler) const {
            if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
                slot.assign([s = self, c = of, n = serial](asio::cancellation_type_t type) {
                    if (type != asio::cancellation_type::none) s->cancel(*c, n);
                });
            self->put(
                std::make_unique<waiting_handler<std::decay_t<Handler>>>(std::forward<Handler>(handler), serial, ex));
            if (at_once) self->complete();
        }
    };

    void put(std::unique_ptr<waiter> w) {
        const std::lock_guard lock(mutex_);
        if (waiter_ != nullptr)
            findings::add("use {} of an operation was started beside use {}", w->serial, waiter_->serial);
        waiter_ = std::move(w);
    }
    std::unique_ptr<waiter> take(std::uint64_t serial) {
        const std::lock_guard lock(mutex_);
        if (waiter_ == nullptr || (serial != any && waiter_->serial != serial)) return nullptr;
        return std::move(waiter_);
    }
    bool finish(std::error_code ec, std::uint64_t serial) {
        const auto w = take(serial);
        if (w == nullptr) return false;
        w->complete(ec);
        return true;
    }
    void cancel(const cell& c, std::uint64_t serial) {
        if (!c.runs_as(serial))
            findings::add("limit {} use {} was cancelled after it had completed", c.address(), serial);
        finish(asio::error::operation_aborted, serial);
    }

    std::mutex mutex_;
    std::unique_ptr<waiter> waiter_;
};

} // namespace stress
