// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_connection_impl.hpp"

#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/redis_connection.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

redis_connection::redis_connection(const timer_wheel& wheel, redis_options options, redis_address address) {
    options.addresses.assign(1, address);
    options.topology = redis_topology::single;
    options.validate();
    impl_ = std::make_shared<detail::redis_connection_impl>(wheel, asio::make_strand(wheel.get_executor()),
                                                            std::make_shared<const redis_options>(std::move(options)),
                                                            detail::make_fixed_finder(std::move(address)));
    impl_->run();
}

redis_connection::redis_connection(redis_connection&&) noexcept = default;

redis_connection& redis_connection::operator=(redis_connection&& other) noexcept {
    if (this != &other) {
        if (impl_) impl_->close();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

redis_connection::~redis_connection() {
    if (impl_) impl_->close();
}

redis_connection::executor_type redis_connection::get_executor() const noexcept { return impl_->strand(); }

void redis_connection::close() { impl_->close(); }

bool redis_connection::connected() const noexcept { return impl_->connected(); }

redis_role redis_connection::role() const noexcept { return impl_->role(); }

int redis_connection::version() const noexcept { return impl_->version(); }

void redis_connection::on_state(std::function<void(bool, error_code)> hook) { impl_->set_hook(std::move(hook)); }

void redis_connection::start(detail::redis_connection_impl& impl, redis_command command,
                             detail::completion<redis_reply> done) {
    impl.start(std::make_unique<detail::single_request>(std::move(done)), {&command, 1});
}

void redis_connection::start(detail::redis_connection_impl& impl, std::vector<redis_command> commands,
                             detail::completion<std::vector<redis_reply>> done) {
    impl.start(std::make_unique<detail::batch_request>(commands.size(), std::move(done)), commands);
}

void redis_connection::wait(detail::redis_connection_impl& impl, detail::completion<void> done) {
    impl.wait(std::move(done));
}

std::string_view to_string(redis_role role) noexcept {
    return detail::constant_name(role, {"unknown", "master", "replica", "sentinel"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
