// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "service_metrics.hpp"

namespace cogwheeld {

namespace {

double seconds(std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); }

void offer_http(cogwheel::metrics& to, const http_server& server, const event_hub& hub) {
    const auto counter = [&](const char* name, const char* help, std::uint64_t http_counts::* member) {
        to.counter(name, help, [&server, member] { return static_cast<double>(server.counts().*member); });
    };
    counter("cogwheeld_http_accepted_total", "Connections accepted.", &http_counts::connections);
    counter("cogwheeld_http_requests_total", "Requests answered.", &http_counts::requests);
    counter("cogwheeld_http_refused_total", "Connections beyond the limit, and what never became a request.",
            &http_counts::refused);
    counter("cogwheeld_http_late_total", "Ended because the client was too slow.", &http_counts::late);
    counter("cogwheeld_http_failed_total", "Requests that failed inside the service.", &http_counts::failed);
    to.gauge("cogwheeld_http_connections", "Connections that are open.",
             [&server] { return static_cast<double>(server.counts().open); });
    to.gauge("cogwheeld_http_body_bytes", "Memory of bodies under way, in bytes.",
             [&server] { return static_cast<double>(server.counts().bodies); });
    to.gauge("cogwheeld_event_viewers", "Clients that read /events.",
             [&hub] { return static_cast<double>(hub.viewers()); });
}

// Of the whole queue: the same in each process that uses it.
void offer_queue(cogwheel::metrics& to, const queue_state& queue) {
    const auto tasks = [&](const char* state, std::uint64_t cogwheel::durable_counts::* member) {
        to.gauge("cogwheeld_queue_tasks", "Tasks in the queue, by state. overdue: of those that wait, due.",
                 [&queue, member] { return static_cast<double>(queue.counts.*member); }, {{"state", state}});
    };
    tasks("waiting", &cogwheel::durable_counts::waiting);
    tasks("claimed", &cogwheel::durable_counts::claimed);
    tasks("overdue", &cogwheel::durable_counts::overdue);
    tasks("done", &cogwheel::durable_counts::done);
    tasks("dead", &cogwheel::durable_counts::dead);
    to.gauge("cogwheeld_queue_oldest_seconds", "How long the first of the overdue tasks has been due.",
             [&queue] { return seconds(queue.counts.oldest); });
    to.gauge("cogwheeld_queue_usable", "1: the queue answers; else the counts of its tasks are old.",
             [&queue] { return queue.known ? 1.0 : 0.0; });
    to.gauge("cogwheeld_queue_damaged",
             "1: the journal was damaged when it was opened: the log and GET /v1/queue say what is lost.",
             [&queue] { return queue.damaged ? 1.0 : 0.0; });
}

void offer_work(cogwheel::metrics& to, const deliveries& work) {
    const auto attempts = [&](const char* outcome, std::uint64_t cogwheel::durable_worker_stats::* member) {
        to.counter("cogwheeld_attempts_total", "Attempts that have ended, by outcome.",
                   [&work, member] { return static_cast<double>(work.stats().*member); }, {{"outcome", outcome}});
    };
    using stats = cogwheel::durable_worker_stats;
    attempts("done", &stats::done);
    attempts("retried", &stats::retried);
    attempts("dead", &stats::dead);
    attempts("stale", &stats::stale);
    attempts("given_back", &stats::given_back);
    to.counter("cogwheeld_attempts_begun_total", "Attempts begun.",
               [&work] { return static_cast<double>(work.stats().begun); });
    to.counter("cogwheeld_troubles_total", "Commands to the queue that failed.",
               [&work] { return static_cast<double>(work.stats().troubles); });
    to.gauge("cogwheeld_attempts_in_flight", "Attempts that run now.",
             [&work] { return static_cast<double>(work.stats().in_flight); });
    to.gauge("cogwheeld_tasks_waiting",
             "Tasks that are due, and wait here for a place at their host or in this process.",
             [&work] { return static_cast<double>(work.stats().waiting); });
    to.gauge("cogwheeld_tasks_waiting_oldest_seconds", "How long the first of the tasks that wait here has been due.",
             [&work] { return seconds(work.stats().longest_wait); });
    to.counter("cogwheeld_tasks_put_off_total",
               "Due tasks put off for a time, because too many wait for the same host.",
               [&work] { return static_cast<double>(work.stats().put_off); });
    to.gauge("cogwheeld_tasks_held", "Tasks claimed, not begun.",
             [&work] { return static_cast<double>(work.stats().held); });
    for (const auto& [q, text] : {std::pair(0.5, "0.5"), std::pair(0.99, "0.99"), std::pair(1.0, "1")})
        to.gauge("cogwheeld_lateness_seconds", "From the due time to the begin, by the server's clock; quantiles.",
                 [&work, quantile = q] { return seconds(work.stats().lateness.quantile(quantile)); },
                 {{"quantile", text}});
    const auto callbacks = [&](const char* outcome, std::uint64_t cogwheel::callback_stats::* member) {
        to.counter("cogwheeld_callbacks_total", "Callbacks, by outcome, since keys and hosts were last read.",
                   [&work, member] { return static_cast<double>(work.callbacks().*member); }, {{"outcome", outcome}});
    };
    using sent = cogwheel::callback_stats;
    callbacks("succeeded", &sent::succeeded);
    callbacks("failed", &sent::failed_for_good);
    callbacks("try_again", &sent::try_again);
    callbacks("aborted", &sent::aborted);
    callbacks("refused", &sent::refused);
    to.counter("cogwheeld_addresses_refused_total", "Callbacks to addresses that are not allowed.",
               [&work] { return static_cast<double>(work.callbacks().addresses_refused); });
}

} // namespace

void offer_metrics(cogwheel::metrics& to, cogwheel::timer_wheel& wheel, const http_server& server, const event_hub& hub,
                   const queue_state& queue, const deliveries* work) {
    to.add("cogwheeld", wheel);
    offer_http(to, server, hub);
    offer_queue(to, queue);
    if (work != nullptr) offer_work(to, *work);
}

} // namespace cogwheeld
