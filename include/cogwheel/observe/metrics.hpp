// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Renders the counts of wheels, tasks, breakers and retries as text for Prometheus, as OpenMetrics, or as JSON, into a
// string. The server that sends it is yours. Target cogwheel::observe.
//
//     cogwheel::metrics metrics;
//     metrics.add("server", wheel);
//     metrics.counter("echo_kicks_total", "Connections closed because they were idle.", [&] { return kicks; });
//
//     std::string body; // the answer to GET /metrics
//     auto text = metrics.render(cogwheel::metrics_format::prometheus);
//     while (text.next(body)) co_await asio::post(asio::use_awaitable); // other handlers run between two slices
//
// - A slice takes about 0.1 ms at most, for any number of timers, slots and wheels. Exception: a task_scheduler is
//   sampled in one slice, which takes O(tasks).
// - The counts of one wheel are read together; its slots, idle monitors and requests, and other sources follow.
// - The metrics of a family stand together, as the formats require. docs/observe.md lists all metrics.
// Formats: Prometheus text exposition format 0.0.4; OpenMetrics 1.0.0; JSON (RFC 8259).
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/counts/stats_board.hpp>
#include <cogwheel/net/wheel_counts.hpp>
#include <cogwheel/observe/detail/metric_samples.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>

#include <concepts>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class metrics_format : std::uint8_t { prometheus, openmetrics, json };
std::string_view to_string(metrics_format) noexcept; ///< the name of the constant

/// Returns the value of the HTTP header Content-Type.
std::string_view content_type(metrics_format) noexcept;

/// Returns the format for an HTTP header Accept: openmetrics if it names that, json if it names application/json and no
/// text, else prometheus.
metrics_format format_for(std::string_view accept) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class metrics_rendering;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Renders a text, slice by slice. Move-only. Thread safety: one thread at a time.
class metrics_text {
public:
    metrics_text(metrics_text&&) noexcept;
    metrics_text& operator=(metrics_text&&) noexcept;
    ~metrics_text();

    /// Appends the next slice to `out`. Returns false if the text is complete: do not call it again then.
    /// Complexity: at most one step of one source, or about 200 lines.
    /// Errors: std::bad_alloc, and those of the user's functions. The text is then incomplete: drop it.
    bool next(std::string& out);

private:
    friend class metrics;
    explicit metrics_text(std::unique_ptr<detail::metrics_rendering> rendering) noexcept;

    std::unique_ptr<detail::metrics_rendering> rendering_;
};

/// The sources of metrics, each with a name. The name becomes a label: wheel="server".
/// Thread safety: any thread, also during a rendering. A rendering calls the functions of the sources on its own
///   thread; they must not render. So render a local_timer_wheel on its own thread, or add its stats_board.
class metrics {
public:
    using labels = std::vector<std::pair<std::string, std::string>>;

    metrics() = default;
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;
    /// Removes all sources, as remove() does: no rendering calls them any more.
    ~metrics();

    /// Adds a wheel, with the idle monitors and requests on it.
    /// Errors: std::invalid_argument (a wheel of this name has been added), std::bad_alloc.
    /// Lifetime: call remove() before the wheel is moved or destroyed.
    template <any_timer_wheel Wheel>
    void add(std::string name, const Wheel& wheel) {
        add_source<detail::wheel_sample>(std::move(name), [&wheel](wheel_cursor& cursor, detail::wheel_sample& s) {
            if (wheel.snapshot(cursor, s.wheel)) return true;
            s.idle = idle_stats_of(wheel);
            s.requests = request_stats_of(wheel);
            return false;
        });
    }

    /// Adds a wheel by its board, without its idle monitors and requests.
    void add(std::string name, const std::shared_ptr<stats_board>& board) {
        add_source<detail::wheel_sample>(std::move(name), [board](wheel_cursor&, detail::wheel_sample& s) {
            s.wheel = board->latest();
            return false;
        });
    }

    /// Adds a circuit_breaker. Errors and lifetime: as for a wheel.
    template <any_timer_wheel Wheel>
    void add(std::string name, const circuit_breaker<Wheel>& breaker) {
        add_source<detail::circuit_sample>(std::move(name), [&breaker](wheel_cursor&, detail::circuit_sample& s) {
            s = {breaker.stats(), breaker.state()};
            return false;
        });
    }

    /// Adds an object with a function stats() that any thread may call: retry_counts, retry_budget, task_scheduler.
    /// Errors and lifetime: as for a wheel.
    template <class Source>
        requires detail::is_summable<decltype(std::declval<const Source&>().stats())>
    void add(std::string name, const Source& source) {
        add(std::move(name), [&source] { return source.stats(); });
    }

    /// Adds a function that returns request_stats, retry_stats, retry_budget_stats or task_stats, for instance sums.
    /// Errors: as for a wheel.
    template <std::invocable F>
        requires detail::is_summable<std::invoke_result_t<F&>>
    void add(std::string name, F f) {
        using sample = std::invoke_result_t<F&>;
        add_source<sample>(std::move(name), [f = std::move(f)](wheel_cursor&, sample& s) mutable {
            s = f();
            return false;
        });
    }

    /// Adds a counter or a gauge of your own. Values with the same name form one family: their labels have the same
    /// names and different values. The `help` of the first one counts.
    /// Parameters: `name`: [a-zA-Z_:][a-zA-Z0-9_:]*, without the prefix cogwheel_; that of a counter ends in _total.
    ///   Names of labels: the same without colons. Bytes that are not UTF-8 become U+FFFD. `f`: returns the value.
    /// Errors: std::invalid_argument, which names the value and the rule; std::bad_alloc.
    void counter(std::string name, std::string help, std::function<double()> f, labels with = {}) {
        add_value({std::move(help), true, std::move(with)}, std::move(name), std::move(f));
    }
    void gauge(std::string name, std::string help, std::function<double()> f, labels with = {}) {
        add_value({std::move(help), false, std::move(with)}, std::move(name), std::move(f));
    }

    /// Removes all sources, counters and gauges of this name; returns their number. Waits while another thread is in a
    /// step of one of them. After that, no rendering calls them. Preconditions: no function of a source calls this.
    std::size_t remove(std::string_view name);

    metrics_text render(metrics_format format = metrics_format::prometheus) const;

private:
    template <class Sample>
    void add_source(std::string&& name, std::function<bool(wheel_cursor&, Sample&)>&& step) {
        auto source = std::make_shared<detail::metric_source<Sample>>();
        source->name = std::move(name);
        source->step = std::move(step);
        const std::lock_guard lock(mutex_);
        auto& list = std::get<detail::metric_source_list<Sample>>(sources_);
        for (const auto& other : list)
            if (other->name == source->name) refuse_duplicate(source->name);
        list.push_back(std::move(source));
    }
    [[noreturn]] static void refuse_duplicate(const std::string& name);
    void add_value(detail::user_metric what, std::string name, std::function<double()> f);
    template <class List, class Matches>
    std::size_t remove_from(List& list, Matches matches);

    mutable std::mutex mutex_;
    detail::metric_sources sources_;
    std::vector<std::shared_ptr<detail::user_source>> values_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
