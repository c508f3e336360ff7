// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "callback_hosts.hpp"

#include "callback_verdict.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

void circuit_board::note(const std::string& origin, circuit_state s) {
    const std::lock_guard lock(mutex_);
    if (s == circuit_state::closed)
        states_.erase(origin);
    else
        states_.insert_or_assign(origin, entry{s});
}

circuit_state circuit_board::state(const std::string& origin) const {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(origin);
    if (found == states_.end()) return circuit_state::closed;
    // An open one has a timer that makes it half open. If there was no memory for that, the next request has to ask it.
    constexpr std::chrono::minutes longest(10);
    const bool old = std::chrono::steady_clock::now() - found->second.noted > longest;
    return old ? circuit_state::half_open : found->second.state;
}

void callback_host::ended(callback_request& request) {
    if (!request.permit) return;
    switch (verdict_of(request.result)) {
    case peer_verdict::alive:
        request.permit.succeeded();
        break;
    case peer_verdict::failed:
        request.permit.failed();
        break;
    case peer_verdict::unknown:
        request.permit = {};
    }
    const std::uint64_t opened = circuit->stats().opened;
    if (opened != openings) {
        openings = opened;
        ++openings_in_a_row;
        opened_at = std::chrono::steady_clock::now();
    } else if (circuit->state() == circuit_state::closed) {
        openings_in_a_row = 0;
    }
}

std::chrono::seconds callback_host::open_for(const circuit_breaker_options& options) const {
    const auto whole = options.open_for.without_jitter(std::max(openings_in_a_row, 1U));
    const auto past = std::chrono::steady_clock::now() - opened_at;
    return std::max(std::chrono::ceil<std::chrono::seconds>(whole - std::min<std::chrono::nanoseconds>(past, whole)),
                    std::chrono::seconds(1));
}

callback_host& callback_hosts::find(const timer_wheel& wheel, std::string origin) {
    const auto [found, made] = table_.try_emplace(std::move(origin));
    callback_host& host = found->second;
    if (!made) return host;
    try {
        host.origin = found->first;
        if (options_.use_circuit)
            host.circuit.emplace(wheel, options_.circuit,
                                 [board = circuits_, name = host.origin](circuit_state s) { board->note(name, s); });
        if (options_.budget) host.budget.emplace(*options_.budget);
        host.idle_position = idle_.insert(idle_.end(), &host);
        host.idle = true;
    } catch (...) {
        table_.erase(found);
        throw;
    }
    while (table_.size() > options_.max_hosts && idle_.front() != &host) {
        const callback_host* oldest = idle_.front();
        idle_.pop_front();
        const std::string name = oldest->origin;
        table_.erase(table_.find(name));
        circuits_->note(name, circuit_state::closed);
    }
    return host;
}

void callback_hosts::wait(callback_host& host, callback_request::ptr request) {
    callback_request& r = *request;
    r.position = host.waiting.insert(host.waiting.end(), std::move(request));
    r.host = &host;
    ++waiting_;
    settle(host);
}

callback_request::ptr callback_hosts::take(callback_request& request) {
    callback_host& host = *request.host;
    auto taken = *request.position;
    host.waiting.erase(request.position);
    --waiting_;
    settle(host); // the host may have a turn without a request: next() skips it
    return taken;
}

callback_request::ptr callback_hosts::next() {
    while (!turns_.empty()) {
        callback_host& host = *turns_.front();
        turns_.pop_front();
        host.has_turn = false;
        if (!host.waiting.empty() && host.in_flight < options_.max_per_host) {
            auto request = std::move(host.waiting.front());
            host.waiting.pop_front();
            --waiting_;
            return request;
        }
        settle(host);
    }
    return nullptr;
}

void callback_hosts::began(callback_host& host) { ++host.in_flight; }
void callback_hosts::ended(callback_host& host) { --host.in_flight; }

void callback_hosts::note_circuit(const callback_host& host) {
    if (host.circuit) circuits_->note(host.origin, host.circuit->state());
}

void callback_hosts::clear() noexcept {
    turns_.clear();
    idle_.clear();
    table_.clear();
}

void callback_hosts::settle(callback_host& host) {
    if (!host.waiting.empty() && host.in_flight < options_.max_per_host && !host.has_turn) {
        turns_.push_back(&host);
        host.has_turn = true;
    }
    const bool idle = host.waiting.empty() && host.in_flight == 0 && !host.has_turn;
    if (idle == host.idle) return;
    if (idle)
        host.idle_position = idle_.insert(idle_.end(), &host);
    else
        idle_.erase(host.idle_position);
    host.idle = idle;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
