// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Callbacks from a queue: who waits, and what counts as an attempt. Over real sockets, on each backend.
#include "support/durable/callback_rig.hpp"
#include "support/durable/durable_rig.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/durable/callback_handler.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// A queue, a worker and a sender.
struct delivery_rig {
    explicit delivery_rig(durable_backend b, callback_options sending = loopback_options(),
                          durable_worker_options working = quick_worker())
        : rig(b, keeps()),
          sender(std::make_shared<callback_sender>(rig.wheel, std::move(sending))),
          worker(*rig.queue, with_events(std::move(working))) {}
    ~delivery_rig() {
        sender->close();
        worker.stop();
        for (int i = 0; i < 1'000 && !ended; ++i) {
            rig.io.restart();
            rig.io.run_one_for(10ms);
        }
    }

    static durable_options keeps() {
        durable_options o;
        o.retention = 1h;
        return o;
    }
    durable_worker_options with_events(durable_worker_options o) {
        o.on_event = [this](const durable_event& e) {
            if (e.what != durable_event::kind::trouble) events.emplace_back(to_string(e.what));
        };
        return o;
    }
    void run() {
        ended = false;
        worker.run(callback_handler(sender), [this](std::error_code) { ended = true; });
    }
    void add(const std::string& id, const std::string& url, std::uint32_t max_attempts = 10) {
        rig.add({.id = id, .body = http_callback{.url = url, .body = "{}"}.encode(), .max_attempts = max_attempts});
        REQUIRE(!rig.error);
    }
    void await(const std::string& id, durable_state state) {
        rig.run_until([&] {
            const auto found = rig.find(id);
            return found && found->state == state;
        });
    }

    durable_rig rig;
    std::shared_ptr<callback_sender> sender;
    std::vector<std::string> events;
    bool ended = true;
    durable_worker worker;
};

callback_options with_circuit(std::chrono::nanoseconds open_for) {
    callback_options o = loopback_options();
    o.use_circuit = true;
    o.circuit.failures_in_a_row = 3;
    o.circuit.open_for = backoff::constant(open_for);
    return o;
}

/// Opens the circuit of a receiver.
void open_circuit(delivery_rig& d, callback_receiver& r) {
    for (int i = 0; i < 3; ++i) d.add("fails" + std::to_string(i), r.url("/500"), 1);
    for (int i = 0; i < 3; ++i) d.await("fails" + std::to_string(i), durable_state::dead);
}

} // namespace

TEST_CASE("callbacks_to_a_slow_host_wait_without_a_slot_or_an_attempt") {
    for (const durable_backend b : durable_backends()) {
        auto working = quick_worker();
        working.max_in_flight = 8;
        delivery_rig d(b, loopback_options(), working);
        callback_receiver slow(d.rig.io), quick(d.rig.io);
        for (int i = 0; i < 60; ++i) d.add("slow" + std::to_string(i), slow.url("/silent"));
        d.run();
        for (int i = 0; i < 20; ++i) {
            d.add("quick" + std::to_string(i), quick.url("/200"));
            d.await("quick" + std::to_string(i), durable_state::done);
        }
        CHECK(slow.log.most_open_requests <= 4);
        for (int i = 60; i < 80; ++i) d.add("slow" + std::to_string(i), slow.url("/silent"));
        d.rig.run_until([&] { return d.worker.stats().put_off >= 20; });
        CHECK(d.worker.stats().waiting <= 8 + 60);
        d.rig.run_until([&] { return d.worker.stats().longest_wait > 0ms; });
        std::size_t waiting = 0;
        for (int i = 0; i < 80; ++i) {
            const auto found = d.rig.find("slow" + std::to_string(i));
            REQUIRE(found);
            if (found->state != durable_state::waiting) continue;
            ++waiting;
            CHECK(found->attempt == 0);
            CHECK(d.rig.cancel(found->id) == durable_cancel_result::cancelled);
        }
        CHECK(waiting == 80 - slow.log.requests.size());
    }
}

TEST_CASE("callback_behind_an_open_circuit_waits_and_uses_no_attempt") {
    for (const durable_backend b : durable_backends()) {
        delivery_rig d(b, with_circuit(300ms));
        callback_receiver receiver(d.rig.io);
        d.run();
        open_circuit(d, receiver);
        d.add("good", receiver.url("/200"), 1);
        CHECK(d.sender->room(receiver.url("/")).places == 0);
        d.await("good", durable_state::done);
        CHECK(d.rig.find("good")->result == "200\nstatus 200");
        CHECK(receiver.log.requests.size() == 4);
        CHECK(d.sender->room(receiver.url("/")).places == 64);
    }
}

TEST_CASE("callback_that_waits_beyond_max_wait_is_dead_and_says_why") {
    for (const durable_backend b : durable_backends()) {
        auto working = quick_worker();
        working.max_wait = 1s;
        delivery_rig d(b, with_circuit(1h), working);
        callback_receiver receiver(d.rig.io);
        d.run();
        open_circuit(d, receiver);
        d.add("good", receiver.url("/200"), 1);
        CHECK(d.rig.find("good")->state == durable_state::waiting);
        d.await("good", durable_state::dead);
        CHECK(d.rig.find("good")->message ==
              "waited for longer than max_wait: there was no place at http://127.0.0.1:" +
                  std::to_string(receiver.port()));
        CHECK(receiver.log.requests.size() == 3);
        CHECK(d.events.back() == "dead");
    }
}

TEST_CASE("callback_that_the_sender_refuses_does_not_count") {
    for (const durable_backend b : durable_backends()) {
        auto sending = loopback_options();
        sending.budget = retry_budget_options{.ratio = 0, .min_per_second = 0, .capacity = 1};
        delivery_rig d(b, sending);
        callback_receiver receiver(d.rig.io);
        int asked = 0;
        receiver.log.answer = [&](const received_callback&) { return http_answer(++asked <= 2 ? 500 : 200); };
        d.run();
        d.add("a", receiver.url("/"), 3);
        d.rig.run_until([&] { return d.worker.stats().given_back == 1; });
        const auto found = d.rig.find("a");
        CHECK(found->state == durable_state::waiting);
        CHECK(found->attempt == 3);
        CHECK(found->max_attempts == 4);
        CHECK(found->message.ends_with("the host's budget for retries is spent"));
        CHECK(found->history.size() == 2); // those that were sent
        CHECK(asked == 2);
    }
}

TEST_CASE("callbacks_that_a_closed_sender_did_not_send_do_not_count") {
    for (const durable_backend b : durable_backends()) {
        auto sending = loopback_options();
        sending.max_in_flight = 1; // the others wait in the sender
        delivery_rig d(b, sending);
        callback_receiver receiver(d.rig.io);
        for (int i = 0; i < 6; ++i) d.add(std::to_string(i), receiver.url("/silent"), 1);
        d.run();
        d.rig.run_until([&] { return receiver.log.requests.size() == 1 && d.sender->stats().waiting == 5; });
        d.worker.drain();
        d.sender->close();
        d.rig.run_until([&] { return d.ended; });
        std::size_t dead = 0, waiting = 0;
        for (int i = 0; i < 6; ++i) {
            const auto found = d.rig.find(std::to_string(i));
            REQUIRE(found);
            (found->state == durable_state::dead ? dead : waiting) += 1;
            if (found->state == durable_state::waiting) CHECK(found->max_attempts == 2);
        }
        CHECK(dead == 1); // the receiver has it
        CHECK(waiting == 5);
    }
}

TEST_CASE("attempt_that_a_handler_gives_back_is_made_again_and_not_counted") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        worker_rig w(rig, quick_worker());
        w.run([&](durable_delivery& d) {
            return d.attempt() < 4 ? durable_outcome::give_back("not yet") : durable_outcome::fail("no");
        });
        auto task = worker_task("x");
        task.max_attempts = 1;
        rig.add(task);
        rig.run_until([&] { return w.worker.stats().dead == 1; });
        CHECK(w.worker.stats().given_back == 3);
        CHECK(w.deliveries.size() == 4);
        const auto found = rig.find("x");
        CHECK(found->max_attempts == 4);
        CHECK(found->message == "no");
        CHECK(found->history.size() == 1);
        for (std::size_t i = 1; i < w.deliveries.size(); ++i) CHECK(w.deliveries[i].token > w.deliveries[i - 1].token);
    }
}

TEST_CASE("attempt_given_back_for_longer_than_max_wait_is_dead") {
    for (const durable_backend b : durable_backends()) {
        durable_rig rig(b);
        auto options = quick_worker();
        options.max_wait = 1s;
        worker_rig w(rig, options);
        w.run([&](durable_delivery&) { return durable_outcome::give_back("not yet"); });
        rig.add(worker_task("x"));
        rig.run_until([&] { return w.worker.stats().dead == 1; });
        CHECK(rig.find("x")->message == "waited for longer than max_wait: not yet");
    }
}

TEST_CASE("outcome_of_what_was_not_sent_is_no_attempt") {
    using kind = durable_outcome::kind;
    const auto of = [](std::error_code ec, bool sent, int status = 0) {
        return outcome_of({.error = ec, .status = status, .retry_after = 7s, .sent = sent, .message = "why"});
    };
    for (const std::error_code ec :
         {std::error_code(errc::circuit_open), std::error_code(callback_errc::budget_spent),
          std::error_code(callback_errc::too_many_waiting), std::make_error_code(std::errc::too_many_files_open),
          std::make_error_code(std::errc::not_enough_memory), std::error_code(asio::error::operation_aborted),
          std::error_code(errc::stopped)}) {
        CHECK_MESSAGE(of(ec, false).what() == kind::back, ec.message());
        CHECK_MESSAGE(of(ec, true).what() == kind::retry, ec.message());
        CHECK(of(ec, false).text() == "why");
        CHECK(of(ec, false).delay() == (ec == callback_errc::budget_spent ? 10s : 7s));
    }
    for (const std::error_code ec :
         {std::error_code(callback_errc::cannot_connect), std::error_code(callback_errc::host_not_found),
          std::error_code(asio::error::timed_out), std::error_code(callback_errc::bad_certificate)})
        CHECK_MESSAGE(of(ec, false).what() == kind::retry, ec.message());
    CHECK(of(callback_errc::refused_by_status, true, 503).delay() == 7s);
    CHECK(outcome_of({.outcome = callback_outcome::succeeded, .status = 202, .body = "b"}).text() == "202\nb");
    CHECK(outcome_of({.outcome = callback_outcome::failed_for_good, .message = "m"}).what() == kind::fail);
}

TEST_CASE("tasks_that_are_late_because_no_worker_ran_are_sent") {
    for (const durable_backend b : durable_backends()) {
        auto working = quick_worker();
        working.max_in_flight = 8;
        working.max_wait = 1s;
        delivery_rig d(b, with_circuit(1h), working);
        callback_receiver receiver(d.rig.io);
        std::vector<std::string> ids;
        for (int i = 0; i < 300; ++i) d.add(ids.emplace_back("late" + std::to_string(i)), receiver.url("/late"), 1);
        const auto begin = std::chrono::steady_clock::now() + 1500ms;
        d.rig.run_until([&] { return std::chrono::steady_clock::now() > begin; });
        d.run();
        for (const std::string& id : ids) d.await(id, durable_state::done);
        CHECK(d.worker.stats().dead == 0);
    }
}
