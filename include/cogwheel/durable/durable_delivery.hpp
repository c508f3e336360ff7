// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One attempt of a durable task, as the handler of a worker sees it, and what the handler answers.
//
//     [&](cogwheel::durable_delivery& task) -> asio::awaitable<cogwheel::durable_outcome> {
//         if (!co_await mail(task.body())) co_return cogwheel::durable_outcome::retry("mail server is away");
//         co_return cogwheel::durable_outcome::done();
//     }
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/durable_task.hpp>

#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What a handler answers for one attempt.
class durable_outcome {
public:
    enum class kind : std::uint8_t { done, retry, fail, back };

    /// The task is done. `result`: a text to keep for durable_options::retention; of a longer one, the first max_result
    /// bytes.
    static durable_outcome done(std::string result = {}) { return {kind::done, std::move(result), {}}; }
    /// The attempt failed. The next one comes after durable_worker_options::backoff. If it was the last, the task dies.
    static durable_outcome retry(std::string message = {}) { return {kind::retry, std::move(message), {}}; }
    /// The same, and the delay is added to the backoff: for a peer that says when it will be ready (HTTP's
    /// Retry-After). Otherwise all tasks that received the same answer would come back together. Less than zero counts
    /// as zero.
    static durable_outcome retry_after(std::chrono::milliseconds delay, std::string message = {}) {
        return {kind::retry, std::move(message), delay};
    }
    /// The task is dead: further attempts would not help.
    static durable_outcome fail(std::string message = {}) { return {kind::fail, std::move(message), {}}; }

    /// The attempt did not happen, because something else than the task is in its way. It does not count: max_attempts
    /// grows by one. The next one comes after the backoff and this delay. A task that is given back for longer than
    /// durable_worker_options::max_wait after its due time is dead.
    static durable_outcome give_back(std::string message, std::chrono::milliseconds delay = {}) {
        return {kind::back, std::move(message), delay};
    }

    static constexpr std::size_t max_result = std::size_t{64} << 10; ///< bytes

    kind what() const noexcept { return kind_; }
    const std::string& text() const noexcept { return text_; }
    std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }

private:
    durable_outcome(kind k, std::string text, std::optional<std::chrono::milliseconds> delay)
        : kind_(k), text_(std::move(text)), delay_(delay) {}

    kind kind_;
    std::string text_;
    std::optional<std::chrono::milliseconds> delay_;
};
std::string_view to_string(durable_outcome::kind) noexcept; ///< the name of the constant

/// Names one attempt, for a resource that refuses what comes too late: it keeps the largest token it has seen, and
/// refuses smaller ones. A later attempt of the same task has a larger token.
struct fencing_token {
    std::uint64_t generation = 0;
    std::uint32_t attempt = 0;

    /// Returns "<generation>.<attempt>".
    std::string text() const { return std::to_string(generation) + '.' + std::to_string(attempt); }
    friend auto operator<=>(const fencing_token&, const fencing_token&) = default;
};

/// One attempt of a task.
/// Thread safety: any thread may read it. Lifetime: until the handler has ended.
class durable_delivery {
public:
    durable_delivery(const durable_delivery&) = delete;
    durable_delivery& operator=(const durable_delivery&) = delete;

    /// Returns the id. All attempts of a run have the same one: a receiver that remembers ids can drop repetitions.
    const std::string& id() const noexcept { return id_; }
    const std::string& body() const noexcept { return body_; }
    const std::string& traceparent() const noexcept { return traceparent_; }
    /// Returns the number of the attempt: 1, 2 ...
    std::uint32_t attempt() const noexcept { return token_.attempt; }
    std::uint32_t max_attempts() const noexcept { return max_attempts_; }
    fencing_token token() const noexcept { return token_; }
    /// Returns when this attempt was due, and how much later it began, by the server's clock.
    task_trigger::wall_point due() const noexcept { return due_; }
    std::chrono::microseconds lateness() const noexcept { return lateness_; }

    /// Returns true if the result does not count any more (the lease ran out, or the task was replaced), if the task
    /// was cancelled, or if the worker was stopped. The operation for which the handler waits is cancelled, too.
    bool stop_requested() const noexcept { return stop_.load(std::memory_order_acquire); }

protected:
    durable_delivery() = default;
    ~durable_delivery() = default;

    std::string id_, body_, traceparent_;
    fencing_token token_{};
    std::uint32_t max_attempts_ = 0;
    task_trigger::wall_point due_{};
    std::chrono::microseconds lateness_{};
    std::atomic<bool> stop_{false};
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
