// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a sender knows of each host: its circuit, its budget, its requests. And in which order the hosts have their
// turns.
#pragma once

#include "callback_request.hpp"

#include <cogwheel/durable/callback_options.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The circuits that are not closed, by origin. Thread safety: any thread.
class circuit_board {
public:
    void note(const std::string& origin, circuit_state);
    circuit_state state(const std::string& origin) const;

private:
    mutable std::mutex mutex_;
    struct entry {
        circuit_state state;
        std::chrono::steady_clock::time_point noted = std::chrono::steady_clock::now();
    };
    std::unordered_map<std::string, entry> states_;
};

struct callback_host {
    std::string origin;
    std::optional<circuit_breaker<>> circuit{};
    std::optional<retry_budget> budget{};
    std::list<callback_request::ptr> waiting{};
    std::size_t in_flight = 0;
    bool has_turn = false; // it is in the list of turns
    bool idle = false;     // it is in the list of idle hosts, at idle_position
    std::list<callback_host*>::iterator idle_position{};
    std::uint64_t openings = 0;          // of the circuit, seen so far
    std::uint32_t openings_in_a_row = 0; // since it was last closed
    std::chrono::steady_clock::time_point opened_at{};

    /// Ends the permit of a request, and notes what the circuit made of it.
    void ended(callback_request& request);

    /// Returns how long the circuit stays open, if it is open: an estimate, because of the jitter. At least one second.
    std::chrono::seconds open_for(const circuit_breaker_options& options) const;
};

/// On the strand. Complexity: O(1) for each function.
class callback_hosts {
public:
    explicit callback_hosts(const callback_options& options) : options_(options) {}

    /// Returns the host, and makes it if it is new. Forgets the host that was idle for the longest time, if there are
    /// too many. Errors: std::bad_alloc; then nothing changes.
    callback_host& find(const timer_wheel& wheel, std::string origin);

    /// Appends a request to those that wait. Errors: std::bad_alloc.
    void wait(callback_host& host, callback_request::ptr request);

    /// Takes a request that waits out, because it was cancelled.
    callback_request::ptr take(callback_request& request);

    /// Returns the next request whose host has a place, or nullptr.
    callback_request::ptr next();

    /// Counts a request that begins or ends at its host.
    void began(callback_host& host);
    void ended(callback_host& host);

    /// Call it after a request has left the host in any way.
    void settle(callback_host& host);

    /// Forgets all. Preconditions: no request waits or is in flight.
    void clear() noexcept;

    /// Two changes of a circuit may have been noted in the wrong order: this corrects it.
    void note_circuit(const callback_host& host);

    /// Any thread.
    const circuit_board& circuits() const noexcept { return *circuits_; }

    std::size_t waiting() const noexcept { return waiting_; }
    std::size_t size() const noexcept { return table_.size(); }

private:
    const callback_options& options_;
    std::shared_ptr<circuit_board> circuits_ =
        std::make_shared<circuit_board>();                 // the wheel's thread notes changes, too
    std::unordered_map<std::string, callback_host> table_; // its elements stay in place
    std::list<callback_host*> turns_;                      // hosts with requests that wait, and with a place
    std::list<callback_host*> idle_;                       // the longest first
    std::size_t waiting_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
