// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The HTTP interface: who may ask, and which function answers. openapi.json describes it.
#pragma once

#include "api/event_hub.hpp"
#include "api/target.hpp"
#include "api/task_reader.hpp"
#include "http/server.hpp"
#include "settings.hpp"
#include "work/deliveries.hpp"

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <functional>
#include <string>

namespace cogwheeld {

/// What metrics() asks the queue for.
struct queue_state {
    bool known = false; // and now
    bool damaged = false;
    cogwheel::durable_counts counts{};
};

/// For one thread. Lifetime: all arguments outlive it.
class service_api final : public http_application {
public:
    service_api(cogwheel::durable_queue& queue, const settings& wanted, event_hub& hub,
                const cogwheel::metrics& metrics);

    std::optional<http_response> admit(const http_request&) override;
    asio::awaitable<http_response> answer(http_request&) override;
    http_response refuse(int status) override;
    void failed(std::string_view what) noexcept override;

    /// The queue is open: requests for it are answered. Before, they get 503.
    void open() noexcept { open_ = true; }
    /// /readyz answers 503, so that a balancer sends no more.
    void close() noexcept { closing_ = true; }
    /// Lets answers say for what a due task waits. Lifetime: outlives this.
    void explain_by(const deliveries& work) noexcept { work_ = &work; }
    /// For metrics.
    const queue_state& state() const noexcept { return state_; }
    /// Takes tokens and rate from here.
    void change(const settings& wanted);

private:
    using response = asio::awaitable<http_response>;
    struct route;
    static const route* find(const http_request&, target&);
    static std::span<const route> routes() noexcept;

    void need_open() const;
    response add(http_request&, const target&);
    response add_all(http_request&, const target&);
    response show(http_request&, const target&);
    response change_due(http_request&, const target&);
    response cancel(http_request&, const target&);
    response run_now(http_request&, const target&);
    response pause(http_request&, const target&);
    response resume(http_request&, const target&);
    response hold(const target&, bool paused);
    response cancel_all(http_request&, const target&);
    response redrive_all(http_request&, const target&);
    response purge_all(http_request&, const target&);
    template <class Wanted, class Do>
    response each(selection, bool among_dead, std::string_view result, Wanted, Do);
    response list(http_request&, const target&);
    response dead(http_request&, const target&);
    response redrive(http_request&, const target&);
    response purge(http_request&, const target&);
    response counts(http_request&, const target&);
    response pause_queue(http_request&, const target&);
    response resume_queue(http_request&, const target&);
    response health(http_request&, const target&);
    response readiness(http_request&, const target&);
    response metrics(http_request&, const target&);
    response events(http_request&, const target&);
    response page(http_request&, const target&);
    response description(http_request&, const target&);

    std::string_view waits_for(const cogwheel::durable_info&) const;

    cogwheel::durable_queue& queue_;
    const deliveries* work_ = nullptr;
    queue_state state_{};
    event_hub& hub_;
    const cogwheel::metrics& metrics_;
    const bool serves_api_;
    credentials tokens_;
    rate_limit rate_;
    rate_limit probe_rate_; // of health and metrics: they are asked when clients ask too much
    bool open_ = false, closing_ = false;
};

} // namespace cogwheeld
