// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of abandon(). The operation, the timer and the handler's slot share one object, which holds the handler. The
// first of the three takes the handler out and calls it; the others then do nothing.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// True if a late result of this type may outlive the caller: it owns its data, and is no count of bytes in a buffer of
/// the caller. Specialise it for your types that only refer to data.
template <class T>
inline constexpr bool owns_its_data = !std::is_pointer_v<T> && !std::is_arithmetic_v<T>;
template <class Char, class Traits>
inline constexpr bool owns_its_data<std::basic_string_view<Char, Traits>> = false;
template <class T, std::size_t Extent>
inline constexpr bool owns_its_data<std::span<T, Extent>> = false;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Results>
inline constexpr bool all_own_their_data = false;
template <class... Results>
inline constexpr bool all_own_their_data<std::tuple<Results...>> = (owns_its_data<Results> && ...);

/// The state that operation, timer and slot share. It outlives the handler, so it does not use the handler's allocator.
template <class Impl, class Handler, class IoExecutor, class Results>
class abandonable : public std::enable_shared_from_this<abandonable<Impl, Handler, IoExecutor, Results>> {
    using engine_type = typename Impl::engine;
    using shared = std::shared_ptr<abandonable>;
    using handler_executor = asio::associated_executor_t<Handler, IoExecutor>;

    /// Completes with an error, on the handler's executor.
    class failure {
    public:
        using executor_type = handler_executor;

        failure(shared self, const error_code& ec) noexcept
            : self_(std::move(self)), ec_(ec), executor_(self_->executor_) {}
        // Copies the executor: Asio may ask a moved-from function for it.
        failure(failure&& other) noexcept
            : self_(std::move(other.self_)),
              ec_(other.ec_),
              executor_(other.executor_) {} // NOLINT(performance-move-constructor-init)
        failure& operator=(failure&&) = delete;

        executor_type get_executor() const noexcept { return executor_; }
        void operator()() {
            if (!self_->claim()) return;
            self_->error_ = ec_;
            // The handler may destroy what the initiating function still uses: see end_initiation().
            if ((self_->initiation_.fetch_or(failed, std::memory_order_acq_rel) & under_way) == 0)
                self_->complete(failed_results<Results>(ec_));
        }

    private:
        shared self_;
        error_code ec_;
        executor_type executor_;
    };

    struct timer {
        using what = Handler;
        using allocator_type = void;
        static constexpr timer_kind kind = timer_kind::timeout;
        static constexpr bool silent = true, listed = false;
        shared self;

        static std::allocator<void> allocator_of(const shared&) noexcept { return {}; }
        std::allocator<void> get_allocator() const noexcept { return {}; }

        template <class Engine>
        void deliver(outcome how, Engine& engine) && {
            if (how == outcome::expired)
                run_associated(failure(std::move(self), asio::error::timed_out), engine.executor());
            else if (how == outcome::aborted)
                run_associated(failure(std::move(self), asio::error::operation_aborted), engine.executor());
        }
    };

    /// The operation's handler, in place of the user's.
    class stand_in {
    public:
        using executor_type = handler_executor;
        using cancellation_slot_type = asio::cancellation_slot;

        explicit stand_in(shared self) noexcept : self_(std::move(self)), executor_(self_->executor_) {}
        // Copies the executor: Asio may ask a moved-from handler for it.
        stand_in(stand_in&& other) noexcept
            : self_(std::move(other.self_)), executor_(other.executor_) {} // NOLINT(performance-move-constructor-init)
        stand_in& operator=(stand_in&&) = delete;
        ~stand_in() { // without a call: the operation did not start, or its context is destroyed
            if (self_ != nullptr && self_->claim()) self_->drop();
        }

        executor_type get_executor() const noexcept { return executor_; }
        cancellation_slot_type get_cancellation_slot() const noexcept { return self_->signal_.slot(); }

        template <class... Args>
        void operator()(Args&&... args) {
            const shared self = std::move(self_);
            if (!self->claim()) return;
            self->complete(Results(std::forward<Args>(args)...));
        }

    private:
        shared self_;
        executor_type executor_;
    };

    /// The function in the handler's slot. It keeps nothing alive: the operation and the timer do.
    struct cancellation {
        std::weak_ptr<abandonable> target;

        void operator()(asio::cancellation_type_t type) const {
            const shared self = target.lock();
            if (self == nullptr || !cancels(type) || self->claimed()) return;
            self->signal_.emit(type);
            if (self->claimed()) return;
            way_to(self->executor_, asio::any_io_executor(self->io_executor_))
                .post(failure(self, asio::error::operation_aborted));
        }
    };

public:
    template <class H>
    abandonable(H&& handler, const IoExecutor& io_executor)
        : io_executor_(io_executor),
          executor_(asio::get_associated_executor(handler, io_executor)),
          handler_(std::forward<H>(handler)) {}

    /// Arms the timer and starts the operation by `initiate(handler)`. Errors: std::bad_alloc; those of `initiate`.
    template <class H, class When, class Initiate>
    static void start(Impl& impl, H&& handler, const IoExecutor& io_executor, When when, Initiate initiate) {
        auto slot = asio::get_associated_cancellation_slot(handler);
        const auto self = std::make_shared<abandonable>(std::forward<H>(handler), io_executor);
        // First, because the timer may fire on another thread before this function returns.
        if (slot.is_connected()) slot.template emplace<cancellation>(self);
        COGWHEEL_TRY {
            if (const admission how = self->arm(impl, self, when); how != admission::accepted) return self->refuse(how);
            initiate(stand_in(self));
        }
        COGWHEEL_CATCH {
            if (self->claim()) self->drop();
            COGWHEEL_RETHROW;
        }
        self->end_initiation();
    }

private:
    template <class When>
    admission arm(Impl& impl, const shared& self, When when) {
        using op = operation<engine_type, timer>;
        auto lock = impl.lock();
        const admission how = impl.admit();
        if (how != admission::accepted) return how;
        timer_node& node = op::create(impl, self);
        COGWHEEL_TRY { impl.template arm<timer_kind::timeout>(node, when); }
        COGWHEEL_CATCH {
            typename engine_type::completion_context c{impl, lock, outcome::destroyed};
            node.complete(&c);
            COGWHEEL_RETHROW;
        }
        token_ = impl.token_of(node);
        return how;
    }

    void refuse(admission how) {
        claimed_ = true;
        clear_slot();
        fail(error_of(how));
    }

    // Delivers a failure that came during the initiation. Errors: std::bad_alloc; the handler is destroyed.
    void end_initiation() {
        if ((initiation_.fetch_and(~under_way, std::memory_order_acq_rel) & failed) == 0) return;
        token_.cancel();
        clear_slot();
        fail(error_);
    }
    void fail(const error_code& ec) {
        handler_with_results<Handler, Results> bound{take(), failed_results<Results>(ec)};
        post_to_its_own(io_executor_, std::move(bound));
    }

    /// Returns true to the first caller.
    bool claim() noexcept { return !claimed_.exchange(true, std::memory_order_acq_rel); }
    bool claimed() const noexcept { return claimed_.load(std::memory_order_acquire); }

    Handler take() {
        Handler handler = std::move(*handler_);
        handler_.reset();
        return handler;
    }
    void complete(Results results) {
        token_.cancel();
        clear_slot();
        detail::call_with(take(), std::move(results));
    }
    void drop() noexcept {
        token_.cancel();
        clear_slot();
        handler_.reset();
    }
    // Called before the handler goes, because it may own the signal.
    void clear_slot() noexcept {
        if (auto slot = asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) slot.clear();
    }

    static constexpr unsigned under_way = 1, failed = 2;

    IoExecutor io_executor_;
    handler_executor executor_;
    std::optional<Handler> handler_;
    asio::cancellation_signal signal_; // cancels the operation
    typename Impl::token_type token_;  // of the timer
    error_code error_;                 // of the timer or the slot
    std::atomic<bool> claimed_{false};
    std::atomic<unsigned> initiation_{under_way};
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
