// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The part of cluster_client that reads the table of slots.
#include "cluster_client.hpp"

#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr auto table_pause = std::chrono::milliseconds(100); // between readings of the table

} // namespace

void cluster_client::want_table() {
    table_wanted_ = true;
    if (shut_ || std::exchange(reading_table_, true)) return;
    asio::co_spawn(strand_, read_tables(shared_from_this()), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e); // no memory to report a failure: run() of the context throws
    });
}

asio::awaitable<void> cluster_client::read_tables(std::shared_ptr<cluster_client> self) {
    while (!self->shut_ && self->table_wanted_) {
        self->table_wanted_ = false;
        bool known = false;
        try {
            known = co_await read_table(self);
        } catch (const std::exception& e) {
            self->dialer_->log_failure(std::string("cluster: cannot read the slots: ") + e.what());
        }
        std::chrono::nanoseconds delay = table_pause;
        if (known) {
            self->pauses_.reset();
        } else {
            self->table_wanted_ = true;
            delay = self->pauses_.next(self->random_);
        }
        co_await self->dialer_->pause(delay);
    }
    self->reading_table_ = false;
}

asio::awaitable<bool> cluster_client::read_table(std::shared_ptr<cluster_client> self) {
    const std::vector<redis_address> some = self->whom_to_ask();
    for (const auto& address : some) {
        if (self->shut_) break;
        dialled d = co_await self->dialer_->dial(address, false);
        if (!d.error) {
            redis_command question("CLUSTER");
            question.add("SLOTS");
            const asked answer = co_await self->dialer_->ask(d, std::move(question));
            d.stream->close();
            d.error = answer.error;
            d.message = answer.message;
            if (!answer.error) {
                const auto& reply = answer.replies.front();
                auto table = read_cluster_slots(reply, address);
                if (table && !self->shut_) {
                    self->install(std::move(*table));
                    co_return true;
                }
                d.error = reply.is_error() ? reply.error() : make_error_code(durable_errc::server_busy);
                d.message = "CLUSTER SLOTS: " + (reply.is_error() ? reply.text() : "no node has slots yet");
            }
        }
        if (self->shut_) break;
        self->dialer_->log_failure(address.text() + ": cannot read the slots of the cluster: " + d.message);
        self->node_changed(false, d.error);
    }
    co_return false;
}

// A node that is cut off tells an old table. So the order changes each time.
std::vector<redis_address> cluster_client::whom_to_ask() {
    std::vector<redis_address> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& address : table_.masters) {
            const auto n = nodes_.find(address.text());
            if (n != nodes_.end() && n->second->connected()) all.push_back(address);
        }
    }
    if (!all.empty())
        std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(next_asked_++ % all.size()), all.end());
    all.insert(all.end(), options_->addresses.begin(), options_->addresses.end());
    return all;
}

void cluster_client::install(slot_table table) {
    std::vector<node> old;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        table_ = std::move(table);
        for (const auto& address : table_.masters) node_at(address);
        // A node that has left the table may still answer commands in flight, or hold a slot that is asked for.
        for (auto it = nodes_.begin(); it != nodes_.end();) {
            const bool listed = std::any_of(table_.masters.begin(), table_.masters.end(),
                                            [&](const auto& address) { return address.text() == it->first; });
            if (listed || it->second->connected() || it->second->failures() == 0) {
                ++it;
            } else {
                old.push_back(std::move(it->second));
                it = nodes_.erase(it);
            }
        }
    }
    for (const auto& n : old) n->close();
    dialer_->forget_failures();
    if (connected()) end_waits({});
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
