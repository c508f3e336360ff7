// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The functions that a timed_operation sends to its executor, and the work that keeps its executors running meanwhile.
// Each function is a pin on the operation. If an executor destroys it without a call, its destructor removes the pin.
#pragma once

#include <cogwheel/asio/detail/executors.hpp>
#include <cogwheel/asio/detail/payload.hpp>
#include <cogwheel/asio/detail/timed_results.hpp>
#include <cogwheel/asio/error.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <optional>
#include <thread>
#include <utility>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

/// Outstanding work for the executors of the wheel, of the operation and of its handler.
template <class Handler, class IoExecutor>
struct timed_work {
    counted_work<asio::any_io_executor> wheel;
    std::optional<counted_work<IoExecutor>> io_executor;
    [[no_unique_address]] foreign_work<Handler> bound;

    timed_work(const asio::any_io_executor& of_wheel, const std::optional<IoExecutor>& of_operation,
               const Handler& handler)
        : wheel(of_wheel), bound(handler, of_wheel) {
        if (of_operation) io_executor.emplace(*of_operation);
    }
};

/// The base of these functions: the operation, its executor and its allocator.
template <class Operation>
class timed_traveller {
public:
    using allocator_type = decltype(std::declval<const Operation&>().get_allocator());
    using executor_type = typename Operation::executor_type;

    explicit timed_traveller(Operation& o) : operation_(&o), executor_(o.executor()) {}
    // Copies the executor: Asio may ask a moved-from function for it.
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

/// Removes the parked pin on the executor, and so delivers the results if they have arrived.
template <class Operation>
struct timed_delivery : timed_traveller<Operation> {
    using timed_traveller<Operation>::timed_traveller;
    timed_delivery(timed_delivery&&) noexcept = default;
    ~timed_delivery() {
        if (this->operation_ != nullptr) this->operation_->unpin_unheard(Operation::parked);
    }
    void operator()() { std::exchange(this->operation_, nullptr)->deliver_here(); }
};

/// Emits the signal on the executor.
template <class Operation>
struct timed_emission : timed_traveller<Operation> {
    using timed_traveller<Operation>::timed_traveller;
    timed_emission(timed_emission&&) noexcept = default;
    ~timed_emission() {
        if (this->operation_ != nullptr) this->operation_->unpin_unheard(Operation::emitting);
    }
    void operator()() { std::exchange(this->operation_, nullptr)->emit_here(); }
};

/// Tells the thread that sends an emission what became of it. The emission may begin or be destroyed before the
/// dispatch returns. Lifetime: on the stack of that thread.
struct timed_sending {
    enum { none, begun, dropped } fate = none;
    std::thread::id thread = std::this_thread::get_id();
};

/// Posts the handler of an operation that does not start, because the wheel takes no timer. The first result is the
/// wheel's error code. Preconditions: the first result is an error_code or an exception_ptr.
template <class Handler, class Results, class IoExecutor, class H>
void post_refusal(const IoExecutor& io_executor, admission how, H&& handler) {
    const error_code ec = error_of(how);
    Results r;
    if constexpr (std::same_as<std::tuple_element_t<0, Results>, error_code>)
        std::get<0>(r) = ec;
    else
        std::get<0>(r) = std::make_exception_ptr(sys::system_error(ec));
    handler_with_results<Handler, Results> bound{std::forward<H>(handler), std::move(r)};
    post_to_its_own(io_executor, std::move(bound));
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
