// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A client that adds and cancels what the harness tells it. An answer on stdout is what the harness holds the queue to.
#include "durable_node.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read_until.hpp>

namespace durable_node {
namespace {

using namespace std::chrono_literals;
using cogwheel::durable_errc;
using cogwheel::task_trigger;

// What a caller may repeat: nothing was changed, or a repetition changes nothing.
bool transient(std::error_code ec) {
    return ec == durable_errc::disconnected || ec == durable_errc::not_connected || ec == durable_errc::server_busy ||
           ec == durable_errc::durability_unknown;
}

std::int64_t ms_of(task_trigger::wall_point p) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(p.time_since_epoch()).count();
}

class client {
public:
    client(asio::io_context& io, const options& o)
        : io_(io),
          wheel_(io, {.tick = 1ms}),
          queue_(wheel_, {.redis = cogwheel::redis_options::from_url(o.url),
                          .name = o.name,
                          .shards = o.shards,
                          .durability = o.durability,
                          .replica_timeout = o.replica_timeout}),
          input_(io, ::dup(STDIN_FILENO)) {}

    asio::awaitable<void> run() {
        const auto [ec] = co_await queue_.open(token);
        if (ec) {
            print("refused " + ec.message() + ": " + queue_.trouble());
            co_return;
        }
        print("ready");
        std::string buffer;
        for (;;) {
            const auto [error, n] = co_await asio::async_read_until(input_, asio::dynamic_buffer(buffer), '\n', token);
            if (error) break;
            std::string line = buffer.substr(0, n - 1);
            buffer.erase(0, n);
            if (line == "quit") break;
            asio::co_spawn(io_, obey(std::move(line)), [](const std::exception_ptr& thrown) {
                if (thrown) std::rethrow_exception(thrown);
            });
        }
        queue_.close();
    }

private:
    asio::awaitable<void> obey(std::string line) {
        std::string_view rest = line;
        const std::string_view command = next_word(rest);
        std::string id(next_word(rest));
        if (command == "add" || command == "once" || command == "every") {
            cogwheel::durable_task task;
            task.id = std::move(id);
            task.max_attempts = 1'000;
            const std::chrono::milliseconds time(to_number(next_word(rest)));
            const std::int64_t number = to_number(next_word(rest));
            const std::string work(next_word(rest));
            if (command == "every") {
                // All runs up to a date happen, however late. times() would count those that happen, and so a late
                // worker would move the last one.
                const auto until = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) +
                                   std::chrono::milliseconds(number);
                task.when = task_trigger::every(time).until(until);
                task.misfire = cogwheel::task_misfire::catch_up(1'000);
                task.body = "0 " + work;
                print("until " + task.id + ' ' + std::to_string(until.time_since_epoch().count()));
            } else {
                task.when = task_trigger::once(time);
                task.body = std::to_string(number) + ' ' + work;
            }
            co_await add(std::move(task), command != "once");
        } else if (command == "cancel") {
            co_await cancel(std::move(id));
        } else if (command == "counts") {
            const auto [ec, c] = co_await queue_.counts(token);
            print(ec ? "counts failed " + ec.message()
                     : "counts " + std::to_string(c.waiting) + ' ' + std::to_string(c.claimed) + ' ' +
                           std::to_string(c.overdue) + ' ' + std::to_string(c.done) + ' ' + std::to_string(c.dead));
        } else if (command == "audit") {
            const auto [ec, a] = co_await queue_.audit(token);
            print(ec ? "audit failed " + ec.message()
                     : "audit " + std::to_string(a.tasks) + ' ' + std::to_string(a.repaired));
        } else {
            throw std::invalid_argument("unknown command: " + line);
        }
    }

    asio::awaitable<void> add(cogwheel::durable_task task, bool repeat) {
        for (int tries = 1;; ++tries) {
            const auto [ec, r] = co_await queue_.schedule(task, cogwheel::on_duplicate::keep, token);
            const std::string stored = std::to_string(ms_of(r.due)) + ' ' + std::to_string(r.generation) + ' ';
            if (!ec) {
                print("added " + task.id + ' ' + stored + std::to_string(tries) + (r.existed ? " 1" : " 0"));
                co_return;
            }
            if (!repeat || !transient(ec)) {
                print("failed " + task.id + ' ' + std::to_string(tries) + ' ' + stored + ec.message());
                co_return;
            }
            co_await pause();
        }
    }

    asio::awaitable<void> cancel(std::string id) {
        for (int tries = 1;; ++tries) {
            const auto [ec, result] = co_await queue_.cancel(id, token);
            // If the replicas have not confirmed it, the answer is known all the same.
            const bool known = !ec || ec == durable_errc::durability_unknown;
            if (known) {
                print("cancelled " + id + ' ' + std::string(to_string(result)) + ' ' + std::to_string(tries) + ' ' +
                      std::to_string(wall_ns()) + (ec ? " unknown" : ""));
                co_return;
            }
            if (!transient(ec)) {
                print("cancel_failed " + id + ' ' + ec.message());
                co_return;
            }
            co_await pause();
        }
    }

    asio::awaitable<void> pause() {
        cogwheel::wheel_timer timer(wheel_);
        timer.expires_after(20ms);
        const auto waited = co_await timer.async_wait(token);
        (void)waited;
    }

    asio::io_context& io_;
    cogwheel::timer_wheel wheel_;
    cogwheel::durable_queue queue_;
    asio::posix::stream_descriptor input_;
};

} // namespace

int run_client(const options& o) {
    asio::io_context io(1);
    client c(io, o);
    std::exception_ptr failure;
    asio::co_spawn(io, c.run(), [&](const std::exception_ptr& thrown) {
        failure = thrown;
        io.stop(); // commands under way do not count any more
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
    return 0;
}

} // namespace durable_node
