// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task that a worker runs, in the memory of this process; and the address of a server that is not there, which links
// the other backend.
#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/tasks/task_storage.hpp>

#include <asio/io_context.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace std::chrono_literals;

int failures = 0;
void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "failed: %s\n", what);
    ++failures;
}

void in_memory() {
    asio::io_context io;
    cogwheel::timer_wheel wheel(io, {.tick = 1ms});
    cogwheel::memory_storage storage;
    cogwheel::durable_queue queue(wheel, storage);
    cogwheel::durable_worker worker(queue);
    int runs = 0;
    queue.open([&](std::error_code opened) {
        expect(!opened, "open");
        queue.schedule({.id = "one", .when = cogwheel::task_trigger::once(1ms)},
                       [&](std::error_code scheduled, const cogwheel::durable_receipt&) {
                           expect(!scheduled, "schedule");
                           worker.run(
                               [&](cogwheel::durable_delivery& task) {
                                   expect(task.id() == "one", "id");
                                   ++runs;
                                   worker.drain();
                               },
                               [](std::error_code ended) { expect(!ended, "drain"); });
                       });
    });
    io.run();
    expect(runs == 1, "the task ran once");
}

void without_a_server() {
    asio::io_context io;
    cogwheel::timer_wheel wheel(io);
    cogwheel::durable_queue queue(wheel,
                                  {.redis = cogwheel::redis_options::from_url("unix:///nonexistent/redis.socket")});
    bool aborted = false;
    queue.open([&](std::error_code ec) { aborted = ec == asio::error::operation_aborted; });
    wheel.schedule(20ms, [&] { queue.close(); });
    io.run();
    expect(aborted, "open() goes on until close()");
}

} // namespace

int main() {
    in_memory();
    without_a_server();
    return failures == 0 ? 0 : 1;
}
