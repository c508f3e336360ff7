// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A request in flight: its key, the timer of its timeout, its handler, and its answer if there is one. They are one
// block of memory, from the wheel's pool or from the handler's associated allocator.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/net/detail/request_table.hpp>
#include <cogwheel/net/request_options.hpp>

#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The part of a request that does not depend on the type of its handler. The impl is a pending_requests_impl.
template <class Impl>
class request : public request_links<request<Impl>, typename Impl::key_type, typename Impl::time_point>,
                public list_links<request<Impl>> {
    using links = request_links<request<Impl>, typename Impl::key_type, typename Impl::time_point>;

public:
    using response_type = typename Impl::response_type;
    using limit_type = typename Impl::limit_type;
    using finish_function = void (*)(request&, bool invoke);

    template <class K>
    request(Impl& c, K&& key, const limit_type& l, typename Impl::time_point started, finish_function f)
        : links(std::forward<K>(key), started), impl(c), limit(l), unwritten(l.is_from_write()), finish(f) {}

    Impl& impl;
    timer_node* node = nullptr; // of the timeout; armed while the timeout runs
    limit_type limit;
    bool unwritten;         // the timeout counts from written(), which was not called yet
    bool expired = false;   // in the impl's list of requests whose timer has ended; under the engine's lock
    bool withdrawn = false; // the wheel dropped the timer
    error_code ec;
    std::optional<response_type> response;

    // Frees the block, then invokes or destroys the handler.
    // Preconditions: retired, in no table or list; the engine's lock is not held; if `invoke`, on the impl's executor.
    finish_function finish;

    // Leads from the handler's cancellation slot to the request. The end of the request makes its id stale.
    back_link<request> slot_link;
};

template <class Impl, class Handler>
class request_operation final : public request<Impl> {
    using base = request<Impl>;
    using block = detail::block<request_operation>;
    using results = std::tuple<error_code, typename Impl::response_type>;

public:
    using allocator_type = typename payload_allocator<Handler>::type;
    auto get_allocator() const noexcept { return asio::get_associated_allocator(handler_); }

    template <class K, class H>
    request_operation(Impl& c, K&& key, H&& handler, const typename Impl::limit_type& l,
                      typename Impl::time_point started)
        : base(c, std::forward<K>(key), l, started, &do_finish),
          work_(handler, c.executor()),
          handler_(std::forward<H>(handler)) {}

    /// Makes a request and its node, which is not armed. Preconditions: the engine's lock is held.
    /// Errors: those of the allocation, the key and the handler; nothing changes then.
    template <class K, class H>
    static base& create(Impl& impl, K&& key, H&& handler, const typename Impl::limit_type& limit,
                        typename Impl::time_point started) {
        timer_node& node = block::create(impl.engine().nodes, asio::get_associated_allocator(handler), impl,
                                         std::forward<K>(key), std::forward<H>(handler), limit, started);
        node.completion(&end);
        request_operation& self = block::payload(node);
        self.node = &node;
        return self;
    }

    /// Posts the handler of a request that is refused.
    template <class H>
    static void refuse(Impl& impl, H&& handler, const error_code& ec) {
        handler_with_results<Handler, results> bound{std::forward<H>(handler),
                                                     results(ec, typename Impl::response_type())};
        post_to_its_own(impl.executor(), std::move(bound));
    }

private:
    static void end(timer_node& node, void* context) {
        request_operation& self = block::payload(node);
        self.impl.timer_ended(self, *static_cast<typename Impl::completion_context*>(context));
    }

    // `work` keeps the context of a foreign executor running until the handler is on its way there.
    struct taken {
        foreign_work<Handler> work;
        handler_with_results<Handler, results> bound;
    };

    static void do_finish(base& b, bool invoke) {
        auto& self = static_cast<request_operation&>(b);
        Impl& impl = self.impl;
        results r(self.ec, self.response ? std::move(*self.response) : typename Impl::response_type());
        auto lock = impl.engine().lock();
        taken t = block::take_out(impl.engine().nodes, lock, *self.node, [&r](request_operation& o) -> taken {
            return {std::move(o.work_), {std::move(o.handler_), std::move(r)}};
        });
        if (lock.owns_lock()) lock.unlock();
        if (!invoke) return;
        if constexpr (has_executor<Handler>)
            run_associated(std::move(t.bound), impl.executor());
        else
            t.bound();
    }

    [[no_unique_address]] foreign_work<Handler> work_; // destroyed after the handler
    Handler handler_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
