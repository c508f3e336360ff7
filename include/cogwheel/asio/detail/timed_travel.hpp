// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What holds on to a timed_operation: what it sends to its executor, which is a pin on it and lets go when it is destroyed without a
// call, and the right to complete it. And the work that keeps its executors running meanwhile.
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>
#include <cogwheel/asio/detail/counted_work.hpp>
#include <cogwheel/asio/detail/payload.hpp>

#include <asio/any_io_executor.hpp>

#include <optional>
#include <thread>
#include <utility>

namespace cogwheel::detail {

/// The right to complete the operation, or, if destroyed, to abandon it.
template <class Operation>
class timed_pointer {
public:
    explicit timed_pointer(Operation& o) noexcept : operation_(&o) {}
    timed_pointer(timed_pointer&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    timed_pointer& operator=(timed_pointer&&) = delete;
    ~timed_pointer() {
        if (operation_ != nullptr) operation_->abandon();
    }
    Operation& operator*() const noexcept { return *operation_; }
    Operation& release() noexcept { return *std::exchange(operation_, nullptr); }

private:
    Operation* operation_;
};

template <class Handler, class Home>
struct timed_work {
    counted_work<asio::any_io_executor> wheel;
    std::optional<counted_work<Home>> home;
    [[no_unique_address]] foreign_work<Handler> bound;

    timed_work(const asio::any_io_executor& of_wheel, const std::optional<Home>& of_operation, const Handler& handler)
        : wheel(of_wheel), bound(handler, of_wheel) {
        if (of_operation) home.emplace(*of_operation);
    }
};

template <class Operation>
class timed_traveller {
public:
    using allocator_type = decltype(std::declval<const Operation&>().get_allocator());
    using executor_type = typename Operation::executor_type;

    explicit timed_traveller(Operation& o) : operation_(&o), executor_(o.home()) {}
    // The executor is copied: Asio may ask one that was moved from.
    timed_traveller(timed_traveller&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)),
          executor_(other.executor_) {} // NOLINT(performance-move-constructor-init)
    timed_traveller& operator=(timed_traveller&&) = delete;

    allocator_type get_allocator() const noexcept { return operation_->get_allocator(); }
    executor_type get_executor() const noexcept { return executor_; }

protected:
    ~timed_traveller() = default;
    Operation* operation_;

private:
    executor_type executor_;
};

/// Delivers the results there, if there are any by then.
template <class Operation>
struct timed_delivery : timed_traveller<Operation> {
    using timed_traveller<Operation>::timed_traveller;
    timed_delivery(timed_delivery&&) noexcept = default;
    ~timed_delivery() {
        if (this->operation_ != nullptr) this->operation_->unpin_unheard(Operation::parked);
    }
    void operator()() { std::exchange(this->operation_, nullptr)->deliver_here(); }
};

/// Emits the signal there.
template <class Operation>
struct timed_emission : timed_traveller<Operation> {
    using timed_traveller<Operation>::timed_traveller;
    timed_emission(timed_emission&&) noexcept = default;
    ~timed_emission() {
        if (this->operation_ != nullptr) this->operation_->unpin_unheard(Operation::emitting);
    }
    void operator()() { std::exchange(this->operation_, nullptr)->emit_here(); }
};

/// On the stack of the thread that hands an emission over, which may run, or be destroyed, before the call returns.
struct timed_sending {
    enum { none, begun, dropped } fate = none;
    std::thread::id thread = std::this_thread::get_id();
};

} // namespace cogwheel::detail
