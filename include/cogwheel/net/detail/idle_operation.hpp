// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An async_idle under way: the user's handler, and a pointer to the monitor. The monitor's destructor clears it.
//
// An idle_look owns the operation. It is the handler of the present step: a wait of the monitor's timer, or a hop
// through the monitor's executor. The idle_look may outlive the monitor.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/net/idle_timeouts.hpp>

#include COGWHEEL_ASIO_HEADER(associated_allocator.hpp)
#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_type.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Monitor>
class idle_operation {
public:
    using executor_type = typename Monitor::executor_type;

    idle_operation(const idle_operation&) = delete;
    idle_operation& operator=(const idle_operation&) = delete;

    executor_type executor() const noexcept { return executor_.get(); }

    /// Ends the operation: frees its memory and calls the handler, at once if the handler's executor allows that.
    void complete(error_code ec, const idle_event& event) {
        if (monitor != nullptr) monitor->forget(*this);
        do_complete(ec, event);
    }
    /// Ends the operation without a call of the handler.
    void abandon() noexcept {
        if (monitor != nullptr) monitor->forget(*this);
        do_abandon();
    }

    /// Takes the operation out of the handler's slot. Preconditions: the handler exists, and so does the slot's signal.
    void leave_slot() noexcept { do_leave_slot(); }

    Monitor* monitor;      // nullptr: the monitor was destroyed, or has cancelled this operation
    bool out = false;      // the idle_look is under way
    bool starting = false; // the idle_look is being started: if it is destroyed now, the monitor ends the operation
    bool soon = false;     // the idle_look runs in the next turn, whatever changes

protected:
    explicit idle_operation(Monitor& m) : monitor(&m), executor_(m.get_executor()) {}
    ~idle_operation() = default;

    virtual void do_complete(error_code ec, const idle_event& event) = 0;
    virtual void do_leave_slot() noexcept = 0;
    virtual void do_abandon() noexcept = 0;

    working_executor<executor_type> executor_;
};

template <class Monitor, class Handler>
class idle_operation_of final : public idle_operation<Monitor> {
    using base = idle_operation<Monitor>;
    using executor_type = typename base::executor_type;
    using allocator =
        typename std::allocator_traits<asio::associated_allocator_t<Handler>>::template rebind_alloc<idle_operation_of>;
    using memory = std::allocator_traits<allocator>;
    using results = std::tuple<error_code, idle_event>;

public:
    template <class H>
    idle_operation_of(Monitor& m, H&& handler)
        : base(m), handlers_work_(handler, m.get_executor()), handler_(std::forward<H>(handler)) {}

    template <class H>
    static base& create(Monitor& m, H&& handler) {
        allocator a(asio::get_associated_allocator(handler));
        idle_operation_of* op = memory::allocate(a, 1);
        COGWHEEL_TRY { return *::new (static_cast<void*>(op)) idle_operation_of(m, std::forward<H>(handler)); }
        COGWHEEL_CATCH {
            memory::deallocate(a, op, 1);
            COGWHEEL_RETHROW;
        }
    }

    auto slot() const noexcept { return asio::get_associated_cancellation_slot(handler_); }

private:
    void do_complete(error_code ec, const idle_event& event) override {
        do_leave_slot();
        const auto executor = this->executor_; // keeps the context running until the handler is on its way
        [[maybe_unused]] const auto handlers_work = std::move(handlers_work_);
        handler_with_results<Handler, results> bound{take_out(), results(ec, event)};
        if constexpr (!has_executor<Handler>) {
            bound(); // this is the handler's executor
        } else {
            const auto own = asio::get_associated_executor(bound, executor.get());
            if (same_executor(executor.get(), own))
                bound();
            else
                dispatch_on(own, std::move(bound));
        }
    }
    void do_leave_slot() noexcept override {
        if (auto s = slot(); s.is_connected()) s.clear();
    }
    void do_abandon() noexcept override {
        [[maybe_unused]] const auto executor =
            this->executor_; // keeps the context running until the handler is destroyed
        [[maybe_unused]] const auto handlers_work = std::move(handlers_work_);
        take_out();
    }

    // Returns the handler, and frees everything else.
    Handler take_out() {
        struct freeing {
            idle_operation_of* op;
            allocator a; // taken before the handler moves
            ~freeing() {
                allocator owned(a);
                op->~idle_operation_of();
                memory::deallocate(owned, op, 1);
            }
        } const freed{this, allocator(asio::get_associated_allocator(handler_))};
        return std::move(handler_);
    }

    [[no_unique_address]] foreign_work<Handler> handlers_work_; // destroyed after the handler
    Handler handler_;
};

/// Runs on the monitor's executor and lets the monitor look again.
template <class Monitor>
class idle_look {
public:
    using executor_type = typename Monitor::executor_type;

    explicit idle_look(idle_operation<Monitor>& op, bool hop = false) noexcept : op_(&op), hop_(hop) { op.out = true; }
    idle_look(idle_look&& other) noexcept : op_(std::exchange(other.op_, nullptr)), hop_(other.hop_) {}
    idle_look& operator=(idle_look&&) = delete;
    ~idle_look() {
        if (op_ == nullptr) return;
        op_->out = false;
        if (!op_->starting) op_->abandon(); // the execution context is being shut down
    }

    executor_type get_executor() const noexcept { return op_->executor(); }

    /// Takes the timer of this look out of the wheel.
    void withdraw() const noexcept {
        if (op_->monitor != nullptr) op_->monitor->withdraw();
    }

    /// Preconditions: the execution context is not being shut down.
    void leave_slot() const noexcept { op_->leave_slot(); }

    void operator()(error_code ec = {}) {
        idle_operation<Monitor>& op = *std::exchange(op_, nullptr);
        op.out = op.soon = false;
        if (op.monitor == nullptr)
            op.complete(asio::error::operation_aborted, {});
        else if (ec)
            op.complete(ec, {});
        else
            op.monitor->look(hop_);
    }

private:
    idle_operation<Monitor>* op_;
    bool hop_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
