// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "cluster_client.hpp"

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>
#include <numeric>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr auto retry_pause = std::chrono::milliseconds(25);
constexpr unsigned max_redirections = 5;

/// The commands of a call, on the connection of a node. It does not own the client: the client owns the connection.
class node_request final : public redis_request {
public:
    node_request(std::size_t n, std::weak_ptr<cluster_client> client, cluster_call_ptr call, bool asking,
                 redis_address address)
        : redis_request(n),
          client_(std::move(client)),
          call_(std::move(call)),
          address_(std::move(address)),
          asking_(asking) {}

    void complete(error_code ec) override {
        if (const auto client = client_.lock())
            client->answered(std::move(call_), ec, std::move(replies), asking_, address_);
        else
            call_->caller->complete(asio::error::operation_aborted);
    }

private:
    std::weak_ptr<cluster_client> client_;
    cluster_call_ptr call_;
    redis_address address_;
    bool asking_;
};

/// Collects the replies of all nodes.
struct gathering {
    std::mutex mutex;
    completion<std::vector<redis_reply>> done;
    std::size_t open = 0;
    error_code error{};
    bool partly_done = false;
    std::vector<redis_reply> replies{};
};

class gathered_request final : public redis_request {
public:
    explicit gathered_request(std::shared_ptr<gathering> all) : redis_request(1), all_(std::move(all)) {}

    void complete(error_code ec) override {
        {
            const std::lock_guard lock(all_->mutex);
            const bool refused = ec == durable_errc::not_connected || ec == durable_errc::server_busy;
            if (!refused) all_->partly_done = true;
            if (ec)
                all_->error = ec;
            else
                all_->replies.push_back(std::move(replies.front()));
            if (--all_->open != 0) return;
        }
        if (all_->error && all_->partly_done && all_->error != asio::error::operation_aborted)
            all_->error = durable_errc::disconnected;
        all_->done(all_->error, std::move(all_->replies));
    }

private:
    std::shared_ptr<gathering> all_;
};

} // namespace

std::shared_ptr<redis_client_impl> make_cluster_client(const timer_wheel& wheel,
                                                       std::shared_ptr<const redis_options> options) {
    auto made = std::make_shared<cluster_client>(wheel, std::move(options));
    made->run();
    return made;
}

cluster_client::cluster_client(const timer_wheel& wheel, std::shared_ptr<const redis_options> options)
    : wheel_(&wheel),
      strand_(asio::make_strand(wheel.get_executor())),
      options_(std::move(options)),
      dialer_(std::make_shared<redis_dialer>(wheel, strand_, options_)),
      retry_(wheel, strand_),
      pauses_(options_->reconnect),
      random_(fresh_seed(this, std::chrono::steady_clock::now().time_since_epoch())) {}

void cluster_client::run() {
    asio::post(strand_, [self = shared_from_this()] { self->want_table(); });
}

void cluster_client::start(redis_request_ptr request, std::vector<redis_command> commands) {
    auto call = std::make_unique<cluster_call>();
    call->todo.resize(commands.size());
    std::iota(call->todo.begin(), call->todo.end(), std::size_t{0});
    request->replies.resize(commands.size());
    call->caller = std::move(request);
    call->commands = std::move(commands);
    call->deadline = std::chrono::steady_clock::now() + options_->command_timeout;
    if (call->commands.empty()) return finish(std::move(call), {});
    const target to = find(*call);
    send(std::move(call), to, false);
}

cluster_client::target cluster_client::find(const cluster_call& call) {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    const auto& first = call.commands[call.todo.front()];
    if (first.has_routing_key()) {
        const auto* const address = table_.find(slot_of(first.routing_key()));
        return address != nullptr ? target{node_at(*address), *address} : target{};
    }
    for (std::size_t i = 0; i < table_.masters.size(); ++i) {
        const auto& address = table_.masters[next_any_++ % table_.masters.size()];
        auto& n = node_at(address);
        if (n->connected()) return {n, address};
    }
    return {};
}

cluster_client::node& cluster_client::node_at(const redis_address& address) {
    const std::string name = address.text();
    if (const auto known = nodes_.find(name); known != nodes_.end()) return known->second;
    // Nothing is in the map until all is made that may throw.
    auto n = std::make_shared<redis_connection_impl>(*wheel_, asio::make_strand(strand_.get_inner_executor()), options_,
                                                     make_fixed_finder(address), dialer_->tls());
    n->set_hook([weak = weak_from_this(), raw = n.get()](bool connected, error_code ec) {
        const auto self = weak.lock();
        if (!self) return;
        if (connected && raw->version() != 0) self->version_.store(raw->version(), std::memory_order_relaxed);
        asio::post(self->strand_, [self, connected, ec] { self->node_changed(connected, ec); });
    });
    n->run();
    return nodes_.emplace(name, std::move(n)).first->second;
}

void cluster_client::send(cluster_call_ptr call, const target& to, bool asking) {
    if (!to.to || !to.to->connected()) return later(std::move(call), durable_errc::not_connected);
    auto& c = *call;
    const bool whole = !asking && c.todo.size() == c.commands.size();
    std::vector<redis_command> some;
    if (!whole) {
        for (const std::size_t i : c.todo) {
            if (asking) some.emplace_back("ASKING"); // holds for one command
            some.push_back(c.commands[i]);
        }
    }
    // The call, which the request owns, keeps its commands in place while start() copies their bytes.
    const std::span<const redis_command> commands = whole ? c.commands : some;
    auto request =
        std::make_unique<node_request>(commands.size(), weak_from_this(), std::move(call), asking, to.address);
    // All legs have one deadline. A last leg gets a part of its own: else it would break the connection of others.
    const auto shortest = std::chrono::steady_clock::now() + options_->command_timeout / 4;
    request->deadline = std::max(c.deadline, shortest);
    to.to->start(std::move(request), commands);
}

void cluster_client::answered(cluster_call_ptr call, error_code ec, std::vector<redis_reply> replies, bool asking,
                              const redis_address& from) {
    if (ec == durable_errc::not_connected) return later(std::move(call), durable_errc::not_connected);
    if (ec) return call->fail(ec);
    std::vector<std::size_t> refused;
    redirection first;
    bool done = false;
    for (std::size_t k = 0; k < call->todo.size(); ++k) {
        auto& reply = replies[asking ? 2 * k + 1 : k];
        auto r = read_redirection(reply, from);
        if (r.what != redirection::kind::none) {
            if (refused.empty()) first = std::move(r);
            refused.push_back(call->todo[k]);
        } else {
            done |= call->commands[call->todo[k]].has_key();
            call->caller->replies[call->todo[k]] = std::move(reply);
        }
    }
    if (refused.empty()) return call->caller->complete({});
    // The node has done WAIT or SCRIPT LOAD, which have no key, for commands that it has refused.
    std::erase_if(call->todo, [&](std::size_t i) {
        const auto& c = call->commands[i];
        const bool follows = c.has_routing_key() && !c.has_key();
        return !follows && std::find(refused.begin(), refused.end(), i) == refused.end();
    });
    call->partly_done |= done;
    if (first.what == redirection::kind::later || ++call->redirections > max_redirections)
        return later(std::move(call), durable_errc::server_busy);
    target to;
    {
        const std::lock_guard lock(mutex_);
        if (!closed_) {
            to = {node_at(first.to), first.to};
            const auto& key = call->commands[call->todo.front()];
            if (first.what == redirection::kind::moved && key.has_routing_key() && !table_.owner.empty()) {
                // Until the whole table is read again.
                auto& masters = table_.masters;
                auto at = std::find(masters.begin(), masters.end(), first.to);
                if (at == masters.end()) at = masters.insert(at, first.to);
                table_.owner[slot_of(key.routing_key())] = static_cast<std::uint16_t>(at - masters.begin());
            }
        }
    }
    if (first.what == redirection::kind::moved)
        asio::post(strand_, [self = shared_from_this()] { self->want_table(); });
    send(std::move(call), to, first.what == redirection::kind::ask);
}

void cluster_client::later(cluster_call_ptr call, durable_errc why) {
    asio::post(strand_, [self = shared_from_this(), call = std::move(call), why]() mutable {
        call->redirections = 0;
        const bool over = std::chrono::steady_clock::now() + retry_pause >= call->deadline;
        if (self->shut_) return call->caller->complete(asio::error::operation_aborted);
        if (over) return call->fail(why);
        if (self->waiting_.size() >= self->options_->max_in_flight) return call->fail(durable_errc::server_busy);
        self->waiting_.emplace_back(std::move(call), why);
        self->want_table();
        if (std::exchange(self->retry_armed_, true)) return;
        self->retry_.wait_until(std::chrono::steady_clock::now() + retry_pause, self, [self](bool) {
            self->retry_armed_ = false;
            self->send_waiting();
        });
    });
}

void cluster_client::send_waiting() {
    for (auto& [call, why] : std::exchange(waiting_, {})) {
        if (shut_) {
            finish(std::move(call), asio::error::operation_aborted);
            continue;
        }
        const target to = find(*call);
        send(std::move(call), to, false);
    }
}

void cluster_client::finish(cluster_call_ptr call, error_code ec) {
    asio::post(strand_, [call = std::move(call), ec] { call->caller->complete(ec); });
}

void cluster_client::start_on_all(redis_command command, completion<std::vector<redis_reply>> done) {
    std::vector<node> all;
    bool closed = false;
    {
        const std::lock_guard lock(mutex_);
        closed = closed_;
        if (!closed)
            for (const auto& address : table_.masters) all.push_back(node_at(address));
    }
    if (all.empty()) {
        const error_code ec =
            closed ? error_code(asio::error::operation_aborted) : make_error_code(durable_errc::not_connected);
        asio::post(strand_, [done = std::move(done), ec]() mutable { done(ec); });
        return;
    }
    const auto gathered = std::make_shared<gathering>();
    gathered->done = std::move(done);
    gathered->open = all.size();
    for (const auto& n : all) n->start(std::make_unique<gathered_request>(gathered), {&command, 1});
}

bool cluster_client::connected() const noexcept {
    const std::lock_guard lock(mutex_);
    if (closed_ || table_.owner.empty()) return false;
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.second->connected(); });
}

std::string cluster_client::node_of(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    const auto* const address = table_.find(slot_of(key));
    return address != nullptr ? address->text() : std::string();
}

void cluster_client::wait(completion<void> done) {
    asio::post(strand_, [self = shared_from_this(), done = std::move(done)]() mutable {
        if (self->shut_)
            done(asio::error::operation_aborted);
        else if (self->connected())
            done(error_code());
        else
            add_waiter(self->waits_, std::move(done));
    });
}

void cluster_client::end_waits(error_code ec) {
    for (auto& w : waits_) asio::post(strand_, [w = std::move(w), ec]() mutable { w(ec); });
    waits_.clear();
}

void cluster_client::set_hook(std::function<void(bool, error_code)> hook) {
    asio::post(strand_, [self = shared_from_this(), hook = std::move(hook)]() mutable {
        self->hook_ = std::move(hook);
        if (self->connected()) self->node_changed(true, {});
    });
}

void cluster_client::node_changed(bool now_connected, error_code ec) {
    if (shut_) return;
    if (now_connected && connected()) end_waits({});
    if (!now_connected) {
        if (ec == durable_errc::access_denied) end_waits(ec);
        want_table();
    }
    if (const auto hook = hook_) hook(now_connected, ec);
}

void cluster_client::close() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return;
    }
    asio::post(strand_, [self = shared_from_this()] { self->shut_down(); });
}

void cluster_client::shut_down() {
    shut_ = true;
    dialer_->stop();
    retry_.cancel();
    std::map<std::string, node, std::less<>> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(nodes_);
    }
    for (auto& [name, n] : all) n->close();
    hook_ = nullptr;
    end_waits(asio::error::operation_aborted);
    send_waiting();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
