// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// callback_cost [CALLBACKS [IN_FLIGHT [BODY_BYTES]]]: the CPU time that a callback takes in the sender's process, over
// connections that stay open. The receiver is another process. Prints a line for each of five rounds.
#include <cogwheel/durable/callback_sender.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using tcp = asio::ip::tcp;

/// Answers 200 to each request whose body has the given size.
class session : public std::enable_shared_from_this<session> {
public:
    session(tcp::socket socket, std::size_t body) : socket_(std::move(socket)), body_(body) {}

    void read() {
        asio::async_read_until(socket_, buffer_, "\r\n\r\n",
                               [self = shared_from_this()](std::error_code ec, std::size_t head) {
                                   if (!ec) self->read_body(head);
                               });
    }

private:
    void read_body(std::size_t head) {
        const std::size_t whole = head + body_;
        asio::async_read(socket_, buffer_, asio::transfer_exactly(whole - std::min(whole, buffer_.size())),
                         [self = shared_from_this(), whole](std::error_code ec, std::size_t) {
                             if (ec) return;
                             self->buffer_.consume(whole);
                             asio::async_write(self->socket_, asio::buffer(answer),
                                               [self](std::error_code failed, std::size_t) {
                                                   if (!failed) self->read();
                                               });
                         });
    }

    static constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    tcp::socket socket_;
    std::size_t body_;
    asio::streambuf buffer_;
};

void accept(tcp::acceptor& acceptor, std::size_t body) {
    acceptor.async_accept([&acceptor, body](std::error_code ec, tcp::socket socket) {
        if (ec) return;
        socket.set_option(tcp::no_delay(true));
        std::make_shared<session>(std::move(socket), body)->read();
        accept(acceptor, body);
    });
}

[[noreturn]] void receive(int port_pipe, std::size_t body) {
    asio::io_context io{1};
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const std::uint16_t port = acceptor.local_endpoint().port();
    if (::write(port_pipe, &port, sizeof port) != sizeof port) std::_Exit(1);
    accept(acceptor, body);
    io.run();
    std::_Exit(0);
}

double cpu_microseconds() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
    };
    return of(use.ru_utime) + of(use.ru_stime);
}

class load {
public:
    load(cogwheel::callback_sender& sender, std::string url, std::size_t body)
        : sender_(sender), url_(std::move(url)), body_(body, 'b') {}

    void start(std::size_t callbacks, std::size_t in_flight) {
        left_ = callbacks;
        for (std::size_t i = 0; i < in_flight; ++i) next();
    }
    std::size_t failed() const { return failed_; }

private:
    void next() {
        if (left_ == 0) return;
        --left_;
        sender_.async_send({.url = url_, .body = body_},
                           {.id = "order-" + std::to_string(left_), .fencing_token = "1:1"},
                           [this](std::error_code, const cogwheel::callback_result& r) {
                               if (r.outcome != cogwheel::callback_outcome::succeeded) ++failed_;
                               next();
                           });
    }

    cogwheel::callback_sender& sender_;
    std::string url_, body_;
    std::size_t left_ = 0, failed_ = 0;
};

std::size_t argument(int argc, char** argv, int which, std::size_t otherwise) {
    return argc > which ? std::strtoul(argv[which], nullptr, 10) : otherwise;
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t callbacks = argument(argc, argv, 1, 20'000), in_flight = argument(argc, argv, 2, 64),
                      body = argument(argc, argv, 3, 200);
    int pipes[2];
    if (::pipe(pipes) != 0) return 1;
    const pid_t receiver = ::fork();
    if (receiver == 0) receive(pipes[1], body);
    std::uint16_t port = 0;
    if (receiver < 0 || ::read(pipes[0], &port, sizeof port) != sizeof port) return 1;

    std::size_t failed = 0;
    {
        asio::io_context io{1};
        cogwheel::timer_wheel wheel{io};
        cogwheel::callback_options options;
        options.guard.allow_private = true;
        options.keys = {cogwheel::webhook_key::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")};
        options.max_in_flight = options.max_per_host = in_flight;
        cogwheel::callback_sender sender(wheel, options);
        load work(sender, "http://127.0.0.1:" + std::to_string(port) + "/hook", body);
        for (int round = 0; round < 5; ++round) {
            const double before = cpu_microseconds();
            const auto began = std::chrono::steady_clock::now();
            work.start(callbacks, in_flight);
            io.restart();
            io.run();
            const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
            std::printf(
                "%zu callbacks, %zu in flight, body %zu bytes: %.1f us of CPU each, %.0f a second, %llu connections\n",
                callbacks, in_flight, body, (cpu_microseconds() - before) / static_cast<double>(callbacks),
                static_cast<double>(callbacks) / wall.count(),
                static_cast<unsigned long long>(sender.stats().connections));
        }
        failed = work.failed();
    }
    ::kill(receiver, SIGTERM);
    ::waitpid(receiver, nullptr, 0);
    if (failed != 0) std::printf("%zu callbacks failed\n", failed);
    return failed == 0 ? 0 : 1;
}
