// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The handler of a worker whose tasks are HTTP callbacks:
//
//     auto sender = std::make_shared<cogwheel::callback_sender>(wheel, options);
//     co_await worker.run(cogwheel::callback_handler(sender), asio::use_awaitable);
//
// - The body of a task is http_callback::encode(). Another one makes it dead.
// - Tasks wait for their host before they begin: those of a slow host, or of one whose circuit is open, hold no slot,
//   use no attempt, can be cancelled, and hinder no other host.
// - What was not sent does not count as an attempt: an open circuit, a spent budget, no descriptor, the end of the
//   sender.
#pragma once

#include <cogwheel/durable/callback_sender.hpp>
#include <cogwheel/durable/detail/task_gate.hpp>
#include <cogwheel/durable/durable_delivery.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Returns what a handler answers to its worker after a callback. The result of a success is the status, a line feed,
/// and the body of the answer.
durable_outcome outcome_of(callback_result);

/// Sends the callbacks of tasks. Copies share their sender. Thread safety: any thread.
class callback_handler {
public:
    /// Errors: std::bad_alloc. Preconditions: the sender is not nullptr.
    explicit callback_handler(std::shared_ptr<callback_sender> sender);

    asio::awaitable<durable_outcome> operator()(durable_delivery& task) const;

    /// Sends later callbacks with another sender, of other keys for example. Those under way keep theirs.
    void change(std::shared_ptr<callback_sender> sender);
    std::shared_ptr<callback_sender> sender() const;

    /// Of the worker: which tasks must wait.
    std::shared_ptr<const detail::task_gate> gate() const;

private:
    class state;
    std::shared_ptr<state> state_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
