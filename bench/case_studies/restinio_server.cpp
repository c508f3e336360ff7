// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// restinio_server own|cogwheel PORT IDLE_SECONDS: an HTTP server by RESTinio (Debian: librestinio-dev). Its connections
// are watched by RESTinio's own timer manager, a steady_timer for each, which expires every second; or by one on a
// wheel.
#include <cogwheel/asio/timer_wheel.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <restinio/all.hpp>

namespace {

using namespace std::chrono_literals;

// The whole change: what RESTinio asks of a timer manager, on a wheel.
class wheel_timers : public std::enable_shared_from_this<wheel_timers> {
    using steady = std::chrono::steady_clock;

public:
    wheel_timers(asio::io_context& io, steady::duration period) : wheel_(io), period_(period) {}

    class timer_guard_t {
    public:
        timer_guard_t(cogwheel::local_timer_wheel& wheel, steady::duration period) : wheel_(&wheel), period_(period) {}
        timer_guard_t(timer_guard_t&&) = default;

        void schedule(restinio::tcp_connection_ctx_weak_handle_t connection) {
            connection_ = std::move(connection);
            if (token_.reschedule(period_)) return;
            token_ = wheel_->schedule(period_, [this] {
                if (auto h = connection_.lock()) h->check_timeout(h);
            });
        }
        void cancel() noexcept { token_.cancel(); }
        ~timer_guard_t() { token_.cancel(); }

    private:
        cogwheel::local_timer_wheel* wheel_;
        steady::duration period_;
        restinio::tcp_connection_ctx_weak_handle_t connection_;
        cogwheel::local_timer_token token_;
    };
    timer_guard_t create_timer_guard() { return {wheel_, period_}; }

    void start() const noexcept {}
    void stop() const noexcept {}

    struct factory_t {
        const steady::duration period = 1s;
        auto create(asio::io_context& io) const { return std::make_shared<wheel_timers>(io, period); }
    };

private:
    cogwheel::local_timer_wheel wheel_;
    steady::duration period_;
};

template <class Timers>
int serve(std::uint16_t port, std::chrono::seconds idle) {
    struct traits : restinio::single_thread_traits_t<Timers, restinio::null_logger_t> {};
    auto server = restinio::on_this_thread<traits>();
    server.port(port).address("127.0.0.1").read_next_http_message_timelimit(idle);
    server.concurrent_accepts_count(16).request_handler(
        [](auto request) { return request->create_response().set_body("hello").done(); });
    restinio::run(std::move(server));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: restinio_server own|cogwheel PORT IDLE_SECONDS\n", stderr);
        return 2;
    }
    const auto port = static_cast<std::uint16_t>(std::atoi(argv[2]));
    const std::chrono::seconds idle(std::atoi(argv[3]));
    return std::string_view(argv[1]) == "own" ? serve<restinio::asio_timer_manager_t>(port, idle)
                                              : serve<wheel_timers>(port, idle);
}
