// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_finder.hpp"

#include "url_parts.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

/// Dials its addresses in turn, and begins with the one that worked last.
class any_finder final : public redis_finder {
public:
    explicit any_finder(std::vector<redis_address> addresses) : addresses_(std::move(addresses)) {}

    asio::awaitable<dialled> find(redis_dialer& dialer) override {
        dialled d;
        for (std::size_t i = 0; i < addresses_.size() && !dialer.stopped(); ++i) {
            d = co_await dialer.dial(addresses_[at_], false);
            if (!d.error) break;
            at_ = (at_ + 1) % addresses_.size();
        }
        co_return d;
    }

private:
    std::vector<redis_address> addresses_;
    std::size_t at_ = 0;
};

class sentinel_finder final : public redis_finder {
public:
    sentinel_finder(std::vector<redis_address> sentinels, std::string master_name)
        : sentinels_(std::move(sentinels)), master_name_(std::move(master_name)) {}

    bool wants_master() const noexcept override { return true; }

    // A sentinel may name the old master for a while after a failover. Another one may know better.
    asio::awaitable<dialled> find(redis_dialer& dialer) override {
        dialled d;
        for (std::size_t i = 0; i < sentinels_.size() && !dialer.stopped(); ++i) {
            d = co_await ask_one(dialer, sentinels_[at_]);
            if (!d.error) break;
            at_ = (at_ + 1) % sentinels_.size();
        }
        co_return d;
    }

private:
    asio::awaitable<dialled> ask_one(redis_dialer& dialer, redis_address sentinel) {
        dialled d = co_await dialer.dial(sentinel, true);
        if (d.error) co_return d;
        redis_command question("SENTINEL");
        question.add("get-master-addr-by-name").add(master_name_);
        const asked answer = co_await dialer.ask(d, std::move(question));
        d.stream->close();
        if (answer.error) {
            d.error = answer.error;
            d.message = answer.message;
            co_return d;
        }
        const auto& parts = answer.replies[0].elements();
        const auto port = parts.size() == 2 ? decimal(parts[1].text(), 65'535) : std::nullopt;
        if (!port || *port == 0) {
            d.error = durable_errc::wrong_server;
            d.message = "the sentinel knows no master \"" + master_name_ + "\" " + answer.replies[0].text();
            co_return d;
        }
        redis_address master;
        master.host = parts[0].text();
        master.port = static_cast<std::uint16_t>(*port);
        d = co_await dialer.dial(std::move(master), false);
        if (!d.error && d.role != redis_role::master && d.role != redis_role::unknown) {
            d.stream->close();
            d.error = durable_errc::server_busy;
            d.message = "the sentinel " + sentinel.text() + " names it as master, but it is none";
        }
        co_return d;
    }

    std::vector<redis_address> sentinels_;
    std::string master_name_;
    std::size_t at_ = 0;
};

} // namespace

std::unique_ptr<redis_finder> make_fixed_finder(redis_address address) {
    std::vector<redis_address> one;
    one.push_back(std::move(address));
    return std::make_unique<any_finder>(std::move(one));
}

std::unique_ptr<redis_finder> make_any_finder(std::vector<redis_address> addresses) {
    return std::make_unique<any_finder>(std::move(addresses));
}

std::unique_ptr<redis_finder> make_sentinel_finder(std::vector<redis_address> sentinels, std::string master_name) {
    return std::make_unique<sentinel_finder>(std::move(sentinels), std::move(master_name));
}

std::unique_ptr<redis_finder> make_finder(const redis_options& o) {
    if (o.topology == redis_topology::sentinel) return make_sentinel_finder(o.addresses, o.master_name);
    if (o.topology == redis_topology::cluster) return make_any_finder(o.addresses);
    return make_fixed_finder(o.addresses.front());
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
