// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A worker. For each attempt it sends one datagram to the harness, and only then works. Handlers have threads of their
// own, because the datagram waits if the harness is slow.
#include "durable_node.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/thread_pool.hpp>

#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

namespace durable_node {
namespace {

using namespace std::chrono_literals;

class datagrams {
public:
    explicit datagrams(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path) throw std::invalid_argument("the path of the socket is too long");
        std::memcpy(address.sun_path, path.data(), path.size());
        if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::system_error(errno, std::generic_category(), path);
    }
    datagrams(const datagrams&) = delete;
    datagrams& operator=(const datagrams&) = delete;
    ~datagrams() { ::close(descriptor_); }

    void send(const std::string& text) const {
        if (::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
            throw std::system_error(errno, std::generic_category(), "send");
    }

private:
    int descriptor_;
};

struct sending_handler {
    const cogwheel::timer_wheel* wheel;
    const datagrams* out;
    std::string id; // of the worker

    asio::awaitable<cogwheel::durable_outcome> operator()(cogwheel::durable_delivery& task) const {
        out->send(task.id() + ' ' + text_of(task.token()) + ' ' + id + ' ' + std::to_string(task.lateness().count()));
        return work(*wheel, task);
    }
};

} // namespace

int run_worker(const options& o) {
    const datagrams out(o.socket);
    asio::io_context io(1);
    asio::thread_pool pool(2);
    cogwheel::timer_wheel wheel(io, {.tick = 100us, .slots = 16'384});
    auto redis = cogwheel::redis_options::from_url(o.url);
    redis.log = [](std::string_view line) { print("log " + std::string(line)); };
    cogwheel::durable_queue queue(wheel, {.redis = std::move(redis),
                                          .name = o.name,
                                          .shards = o.shards,
                                          .durability = o.durability,
                                          .replica_timeout = o.replica_timeout});
    cogwheel::durable_worker worker(queue, {.name = o.id,
                                            .max_in_flight = o.in_flight,
                                            .lease = o.lease,
                                            .backoff = cogwheel::backoff::constant(20ms),
                                            .misfire_grace = 1min,
                                            .executor = pool.get_executor(),
                                            .on_event = [](const cogwheel::durable_event& e) { print(text_of(e)); }});
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](std::error_code ec, int) {
        if (ec) return;
        print("draining");
        worker.drain();
    });
    std::error_code ended;
    const auto end = [&](std::error_code ec) {
        ended = ec;
        if (ec) print("ended " + ec.message() + ": " + queue.trouble());
        signals.cancel();
        queue.close();
    };
    queue.open([&](std::error_code ec) {
        if (ec) return end(ec);
        print("ready " + worker.id());
        worker.run(sending_handler{&wheel, &out, o.id}, end);
    });
    io.run();
    pool.join();
    print("end");
    return ended ? 1 : 0;
}

} // namespace durable_node
