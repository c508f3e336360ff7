// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A queue without its public face. Its coroutines run on one strand, and each keeps the impl alive.
#pragma once

#include "milliseconds.hpp"
#include "server_clock.hpp"
#include "task_store.hpp"

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/durable/durable_queue.hpp>

#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class durable_queue_impl : public std::enable_shared_from_this<durable_queue_impl> {
public:
    using strand = asio::strand<asio::any_io_executor>;
    using self_ptr = std::shared_ptr<durable_queue_impl>;

    durable_queue_impl(const timer_wheel& wheel, strand on, durable_options options, std::unique_ptr<task_store> store);

    const strand& executor() const noexcept { return strand_; }
    const asio::any_io_executor& wheel_executor() const noexcept { return executor_; }
    impl_type<timer_wheel>& wheel() const noexcept { return *wheel_; }
    const durable_options& options() const noexcept { return options_; }
    task_store& store() noexcept { return *store_; }
    /// Shards of one server share a lane: calls may take tasks of all of them. In a cluster, each shard is one: a call
    /// must keep to one slot.
    std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(clocks_.size()); }
    std::uint32_t lane_of(std::uint32_t shard) const noexcept { return lanes() == 1 ? 0 : shard; }
    server_clock& clock(std::uint32_t shard) noexcept { return clocks_[lane_of(shard)]; }
    retention_limits limits() const noexcept;
    bool closed() const noexcept { return closed_; }
    void close() noexcept; // any thread
    std::string trouble() const;

    /// Adds a receiver of the store's hints, until unlisten(). On the strand, once the queue is open.
    std::uint64_t listen(task_store::hints);
    void unlisten(std::uint64_t listener) noexcept { listeners_.erase(listener); }

    /// Runs a coroutine on the strand, and passes its answer to `done`. Any thread.
    template <class R, class Coroutine>
    void run(completion<R> done, Coroutine make) {
        asio::co_spawn(
            strand_, [self = shared_from_this(), make = std::move(make)]() mutable { return make(self); },
            [done = std::move(done)](const std::exception_ptr& thrown, answer<R> result) mutable {
                if (thrown) result.error = code_of(thrown);
                done(result.error, std::move(result.value));
            });
    }
    template <class Coroutine>
    void run(completion<void> done, Coroutine make) {
        asio::co_spawn(
            strand_, [self = shared_from_this(), make = std::move(make)]() mutable { return make(self); },
            [done = std::move(done)](const std::exception_ptr& thrown, error_code ec) mutable {
                done(thrown ? code_of(thrown) : ec);
            });
    }

    /// Opens the store once: later calls answer at once while it is open.
    static asio::awaitable<error_code> open(self_ptr);
    /// The tasks of all calls in one turn of the strand share a call of the store.
    static awaitable_answer<durable_receipt> schedule(self_ptr, durable_task, on_duplicate);
    static awaitable_answer<std::vector<durable_added>> schedule_all(self_ptr, std::vector<durable_task>, on_duplicate);
    static awaitable_answer<durable_cancel_result> cancel(self_ptr, std::string id);
    static awaitable_answer<durable_receipt> reschedule(self_ptr, std::string id, task_trigger when);
    static asio::awaitable<error_code> hold(self_ptr, std::string id, bool held);
    static awaitable_answer<std::optional<durable_info>> find(self_ptr, std::string id);
    static awaitable_answer<durable_page> list(self_ptr, std::string cursor, std::uint32_t count, bool dead);
    static awaitable_answer<bool> redrive(self_ptr, std::string id);
    static awaitable_answer<bool> purge(self_ptr, std::string id);
    static asio::awaitable<error_code> pause(self_ptr, bool paused);
    static awaitable_answer<durable_counts> counts(self_ptr);
    static awaitable_answer<durable_audit> audit(self_ptr);

    /// Returns the error code of an exception: that of a std::system_error; not_enough_memory for std::bad_alloc.
    static error_code code_of(const std::exception_ptr&) noexcept;

private:
    struct chunk;
    static asio::awaitable<error_code> open_now(self_ptr);
    static asio::awaitable<error_code> know_the_time(self_ptr);
    // durable_queue_adds.cpp
    error_code translate(const durable_task&, new_task&) const;
    static asio::awaitable<void> add(self_ptr, std::shared_ptr<chunk>);
    static void gather(const self_ptr&, new_task&&, on_duplicate, durable_added&, completion<void>);
    static void send(const self_ptr&, const std::shared_ptr<chunk>&);
    /// What is called later comes later.
    static void send_gathered(const self_ptr&);

    static durable_info info_of(stored_task&&);

    wheel_hold<impl_type<timer_wheel>> wheel_;
    asio::any_io_executor executor_;
    strand strand_;
    durable_options options_;
    std::unique_ptr<task_store> store_;
    std::vector<server_clock> clocks_; // of the lanes
    server_clock::steady_point time_asked_{};
    mutable std::mutex trouble_mutex_;
    std::string trouble_;
    std::atomic<bool> closed_{false};
    bool open_ = false, opening_ = false, listening_ = false;
    std::vector<completion<void>> openers_; // wait for the call that opens
    std::map<std::uint64_t, std::shared_ptr<const task_store::hints>> listeners_;
    std::uint64_t last_listener_ = 0;
    // By shard. Whoever sends a chunk owns it: if the context ends first, nobody does.
    std::map<std::uint32_t, std::weak_ptr<chunk>> gathered_;

    template <class Call>
    void tell_listeners(Call);
};

bool repeats(const task_trigger&) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
