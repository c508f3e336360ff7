// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A receiver of HTTP callbacks on loopback that behaves as the path of the request says, and a sender that reaches it.
#pragma once

#include <cogwheel/durable/callback_sender.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cogwheel_tests {

/// What a receiver has seen.
struct received_callback {
    std::string head; // with the request line
    std::string body;

    /// The value of a header; "(none)" if there is none.
    std::string header(const std::string& name) const {
        const std::string line = "\r\n" + name + ": ";
        const std::size_t at = head.find(line);
        if (at == head.npos) return head.find("\r\n" + name + ":\r\n") == head.npos ? "(none)" : "";
        return head.substr(at + line.size(), head.find("\r\n", at + 2) - at - line.size());
    }
    std::string path() const {
        const std::size_t begin = head.find(' ') + 1;
        return head.substr(begin, head.find(' ', begin) - begin);
    }
};

struct receiver_log {
    std::vector<received_callback> requests;
    int accepted = 0;
    bool closes = false; // after each answer, without a word of it
    std::size_t open_requests = 0, most_open_requests = 0;
    std::function<std::string(const received_callback&)> answer; // replaces what the path says
};

/// The bytes of an answer.
inline std::string http_answer(int status, const std::string& headers = "", const std::string& body = "") {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// One connection. Stream: a socket, or one with TLS.
template <class Stream>
class receiver_session : public std::enable_shared_from_this<receiver_session<Stream>> {
public:
    receiver_session(Stream stream, std::shared_ptr<receiver_log> log)
        : stream_(std::move(stream)), timer_(stream_.get_executor()), log_(std::move(log)) {}

    Stream& stream() { return stream_; }

    void read() {
        asio::async_read_until(stream_, buffer_, "\r\n\r\n",
                               [self = this->shared_from_this()](std::error_code ec, std::size_t size) {
                                   if (ec) return;
                                   self->request_.head.assign(self->data(), size);
                                   self->buffer_.consume(size);
                                   self->read_body();
                               });
    }

private:
    const char* data() const { return static_cast<const char*>(buffer_.data().data()); }

    void read_body() {
        const std::string length = request_.header("Content-Length");
        const std::size_t size = length == "(none)" ? 0 : std::stoul(length);
        const std::size_t missing = size - std::min(size, buffer_.size());
        asio::async_read(stream_, buffer_, asio::transfer_exactly(missing),
                         [self = this->shared_from_this(), size](std::error_code ec, std::size_t) {
                             if (ec) return;
                             self->request_.body.assign(self->data(), size);
                             self->buffer_.consume(size);
                             self->log_->requests.push_back(self->request_);
                             self->log_->most_open_requests =
                                 std::max(self->log_->most_open_requests, ++self->log_->open_requests);
                             self->respond(self->request_.path());
                         });
    }

    void respond(const std::string& path) {
        if (log_->answer) return send(log_->answer(request_), !log_->closes);
        if (path == "/silent") return wait_for_the_end();
        if (path == "/close") return end();
        if (path == "/truncate") return send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello", false);
        if (path == "/half-head") return send("HTTP/1.1 200 OK\r\nContent-Le", false);
        if (path == "/garbage") return send("220 smtp.example ESMTP\r\n", false);
        if (path == "/bad-chunk") return send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false);
        if (path == "/big") return send(http_answer(200, "", std::string(std::size_t{10} << 20, 'b')), true);
        if (path == "/endless-head")
            return send("HTTP/1.1 200 OK\r\nx: " + std::string(std::size_t{1} << 20, 'h'), true);
        if (path == "/dribble") return dribble("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        if (path == "/late") return later([this] { send(http_answer(200, "", "late"), true); });
        const int status = path.size() > 1 ? std::stoi(path.substr(1)) : 200;
        if (status == 204 || status == 304) return send("HTTP/1.1 " + path.substr(1) + " X\r\n\r\n", true);
        send(http_answer(status,
                         status == 429   ? "Retry-After: 7\r\n"
                         : status == 503 ? "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n"
                         : status < 400  ? "Location: http://127.0.0.1:1/elsewhere\r\n"
                                         : "",
                         "status " + path.substr(1)),
             true);
    }

    void send(std::string bytes, bool keep) {
        auto held = std::make_shared<std::string>(std::move(bytes));
        asio::async_write(stream_, asio::buffer(*held),
                          [self = this->shared_from_this(), held, keep](std::error_code ec, std::size_t) {
                              if (ec || !keep) return self->end();
                              --self->log_->open_requests;
                              self->read();
                          });
    }

    void dribble(std::string bytes) {
        auto held = std::make_shared<std::string>(std::move(bytes));
        asio::async_write(stream_, asio::buffer(*held),
                          [self = this->shared_from_this(), held](std::error_code ec, std::size_t) {
                              if (ec) return self->end();
                              self->later([s = self.get()] { s->dribble("x"); });
                          });
    }

    template <class F>
    void later(F f) {
        timer_.expires_after(std::chrono::milliseconds(20));
        timer_.async_wait([self = this->shared_from_this(), f](std::error_code ec) {
            if (!ec) f();
        });
    }

    void wait_for_the_end() {
        asio::async_read(stream_, buffer_, asio::transfer_at_least(1),
                         [self = this->shared_from_this()](std::error_code, std::size_t) { self->end(); });
    }

    void end() {
        --log_->open_requests;
        std::error_code ignored;
        stream_.lowest_layer().close(ignored);
    }

    Stream stream_;
    asio::steady_timer timer_;
    asio::streambuf buffer_;
    received_callback request_;
    std::shared_ptr<receiver_log> log_; // connections may outlive the receiver
};

/// A receiver on an address of loopback.
class callback_receiver {
public:
    using tcp = asio::ip::tcp;

    explicit callback_receiver(asio::io_context& io, const char* address = "127.0.0.1", bool accepts = true)
        : acceptor_(io, tcp::endpoint(asio::ip::make_address(address), 0)) {
        if (accepts) accept();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::string url(const std::string& path, const std::string& host = "127.0.0.1") const {
        return "http://" + host + ":" + std::to_string(port()) + path;
    }
    void accept() {
        acceptor_.async_accept([this](std::error_code ec, tcp::socket socket) {
            if (ec) return;
            ++log.accepted;
            std::make_shared<receiver_session<tcp::socket>>(std::move(socket), log_)->read();
            accept();
        });
    }
    void close() { acceptor_.close(); }

private:
    std::shared_ptr<receiver_log> log_ = std::make_shared<receiver_log>();

public:
    receiver_log& log = *log_;

private:
    tcp::acceptor acceptor_;
};

/// Options with which a sender reaches loopback, and ends quickly.
inline cogwheel::callback_options loopback_options() {
    cogwheel::callback_options options;
    options.guard.networks = {cogwheel::ip_network::from_text("127.0.0.0/8")};
    options.connect_timeout = std::chrono::seconds(5);
    options.request_timeout = std::chrono::seconds(20);
    options.use_circuit = false;
    options.budget.reset();
    return options;
}

/// A context, a wheel and a sender; sends one callback after another, or many.
class callback_rig {
public:
    explicit callback_rig(cogwheel::callback_options options = loopback_options()) {
        sender.emplace(wheel, std::move(options));
    }

    struct answer {
        bool done = false;
        std::error_code ec;
        cogwheel::callback_result result;
    };
    using answer_ptr = std::shared_ptr<answer>;

    answer_ptr start(cogwheel::http_callback call, cogwheel::callback_delivery delivery = {.id = "task-1"}) {
        auto a = std::make_shared<answer>();
        sender->async_send(std::move(call), std::move(delivery),
                           [a](std::error_code ec, cogwheel::callback_result r) { *a = {true, ec, std::move(r)}; });
        return a;
    }
    answer_ptr start_to(const std::string& url, std::uint32_t attempt = 1) {
        return start({.url = url, .body = "{}"}, {.id = "task-1", .attempt = attempt});
    }
    template <class Condition>
    void run_until(Condition condition) {
        io.restart();
        while (!condition() && io.run_one() != 0) {
        }
    }
    cogwheel::callback_result finish(const answer_ptr& a) {
        run_until([&] { return a->done; });
        return a->result;
    }
    cogwheel::callback_result send_to(const std::string& url, std::uint32_t attempt = 1) {
        return finish(start_to(url, attempt));
    }

    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io, {.tick = std::chrono::milliseconds(1)}};
    std::optional<cogwheel::callback_sender> sender;
};

} // namespace cogwheel_tests
