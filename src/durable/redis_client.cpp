// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_client_impl.hpp"
#include "serial_log.hpp"

#include <cogwheel/durable/redis_client.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

/// A single server, or the master of a group with sentinels.
class direct_client final : public detail::redis_client_impl {
public:
    direct_client(const timer_wheel& wheel, std::shared_ptr<const redis_options> options) {
        auto finder = detail::make_finder(*options);
        connection_ = std::make_shared<detail::redis_connection_impl>(wheel, asio::make_strand(wheel.get_executor()),
                                                                      std::move(options), std::move(finder));
        connection_->run();
    }

    const detail::redis_strand& strand() const noexcept override { return connection_->strand(); }
    void start(detail::redis_request_ptr request, std::vector<redis_command> commands) override {
        connection_->start(std::move(request), commands);
    }
    void start_on_all(redis_command command, detail::completion<std::vector<redis_reply>> done) override {
        connection_->start(std::make_unique<detail::batch_request>(1, std::move(done)), {&command, 1});
    }
    void wait(detail::completion<void> done) override { connection_->wait(std::move(done)); }
    void close() override { connection_->close(); }
    void set_hook(std::function<void(bool, error_code)> hook) override { connection_->set_hook(std::move(hook)); }
    bool connected() const noexcept override { return connection_->connected(); }
    int version() const noexcept override { return connection_->version(); }
    std::string node_of(std::string_view) const override { return {}; }

private:
    std::shared_ptr<detail::redis_connection_impl> connection_;
};

} // namespace

redis_client::redis_client(const timer_wheel& wheel, redis_options options) {
    options.validate();
    auto shared = std::make_shared<const redis_options>(detail::with_serial_log(std::move(options)));
    if (shared->topology == redis_topology::cluster)
        impl_ = detail::make_cluster_client(wheel, std::move(shared));
    else
        impl_ = std::make_shared<direct_client>(wheel, std::move(shared));
}

redis_client::redis_client(redis_client&&) noexcept = default;

redis_client& redis_client::operator=(redis_client&& other) noexcept {
    if (this != &other) {
        if (impl_) impl_->close();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

redis_client::~redis_client() {
    if (impl_) impl_->close();
}

redis_client::executor_type redis_client::get_executor() const noexcept { return impl_->strand(); }

void redis_client::close() { impl_->close(); }

std::string redis_client::node_of(std::string_view key) const { return impl_->node_of(key); }

bool redis_client::connected() const noexcept { return impl_->connected(); }

int redis_client::version() const noexcept { return impl_->version(); }

void redis_client::on_state(std::function<void(bool, error_code)> hook) { impl_->set_hook(std::move(hook)); }

void redis_client::start(detail::redis_client_impl& impl, redis_command command, detail::completion<redis_reply> done) {
    std::vector<redis_command> one;
    one.push_back(std::move(command));
    impl.start(std::make_unique<detail::single_request>(std::move(done)), std::move(one));
}

void redis_client::start(detail::redis_client_impl& impl, std::vector<redis_command> commands,
                         detail::completion<std::vector<redis_reply>> done) {
    // A statement of its own: arguments are evaluated in any order, and the move would leave no size.
    auto request = std::make_unique<detail::batch_request>(commands.size(), std::move(done));
    impl.start(std::move(request), std::move(commands));
}

void redis_client::start_on_all(detail::redis_client_impl& impl, redis_command command,
                                detail::completion<std::vector<redis_reply>> done) {
    impl.start_on_all(std::move(command), std::move(done));
}

void redis_client::wait(detail::redis_client_impl& impl, detail::completion<void> done) { impl.wait(std::move(done)); }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
