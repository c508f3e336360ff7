// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A completion handler of any type, for functions whose code is compiled once.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(associated_executor.hpp)
#include COGWHEEL_ASIO_HEADER(async_result.hpp)
#include COGWHEEL_ASIO_HEADER(dispatch.hpp)
#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <atomic>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

COGWHEEL_NEEDS_ASIO_OF(durable);

/// Holds a handler with the signature void(std::error_code, R), or void(std::error_code) if R is void. Move-only.
/// Calling it dispatches the handler to its associated executor, else to that of the operation. Until then it counts as
/// work there. A cancellation through the handler's slot completes it at once with operation_aborted; the result that
/// comes later is dropped.
/// Thread safety: any one thread may call it. A cancellation signal is emitted where the handler's executor lets it be.
template <class R>
class completion {
    struct empty {};
    using result = std::conditional_t<std::is_void_v<R>, empty, R>;

    class holder;

    /// A result on its way to the handler's executor. It does not name the handler's type: executors are compiled once
    /// for all handlers.
    struct arrival {
        std::shared_ptr<holder> self;
        error_code ec;
        result r;

        void operator()() { self->finish(ec, std::move(r)); }
    };
    struct cancellation {
        std::weak_ptr<holder> operation;

        void operator()(asio::cancellation_type) {
            if (const auto alive = operation.lock()) alive->post({alive, asio::error::operation_aborted, result()});
        }
    };

    class holder {
    public:
        virtual ~holder() = default;
        virtual void dispatch(arrival) = 0;
        virtual void post(arrival) = 0;

        void finish(error_code ec, result r) {
            // An executor of several threads may run a cancellation and the result at the same time.
            if (!finished_.test_and_set()) call(ec, std::move(r));
        }
        bool finished() const noexcept { return finished_.test(); }

    private:
        virtual void call(error_code, result) = 0;

        std::atomic_flag finished_;
    };

    template <class Handler, class Executor>
    class holder_of final : public holder {
        using executor =
            std::decay_t<decltype(asio::prefer(std::declval<Executor>(), asio::execution::outstanding_work.tracked))>;

    public:
        holder_of(Handler&& handler, const Executor& e)
            : handler_(std::move(handler)), executor_(asio::prefer(e, asio::execution::outstanding_work.tracked)) {}

        void dispatch(arrival a) override { asio::dispatch(executor_, std::move(a)); }
        void post(arrival a) override { asio::post(executor_, std::move(a)); }

    private:
        void call(error_code ec, result r) override {
            Handler handler = std::move(*handler_);
            handler_.reset();
            asio::get_associated_cancellation_slot(handler).clear();
            if constexpr (std::is_void_v<R>)
                std::move(handler)(ec);
            else
                std::move(handler)(ec, std::move(r));
        }

        std::optional<Handler> handler_;
        executor executor_;
    };

public:
    completion() noexcept = default;

    /// Wraps a handler of an operation whose own executor is `e`. Called in the initiating function.
    /// own_cancellation: the operation itself uses the handler's slot, and has assigned it.
    template <class Handler, class Executor>
    static completion of(Handler handler, const Executor& e, bool own_cancellation = false) {
        const auto associated = asio::get_associated_executor(handler, e);
        auto slot = asio::get_associated_cancellation_slot(handler);
        using type = holder_of<Handler, std::decay_t<decltype(associated)>>;
        auto made = std::make_shared<type>(std::move(handler), associated);
        if (slot.is_connected() && !own_cancellation) slot.assign(cancellation{made});
        completion c;
        c.holder_ = std::move(made);
        return c;
    }

    explicit operator bool() const noexcept { return holder_ != nullptr; }
    /// Returns whether a cancellation has completed the operation: what waits for a result may forget it.
    bool cancelled() const noexcept { return holder_ != nullptr && holder_->finished(); }

    /// Completes the operation. Preconditions: it has a handler, and has not been called.
    template <class... Results>
    void operator()(error_code ec, Results&&... r) {
        // Held until the call returns: another thread may be done with the handler before that.
        const auto held = std::exchange(holder_, nullptr);
        held->dispatch({held, ec, result{std::forward<Results>(r)...}});
    }

private:
    std::shared_ptr<holder> holder_;
};

/// Adds one to those that wait for an event. A caller may cancel and ask again for as long as it does not come, and so
/// those that are cancelled leave before the list grows.
inline void add_waiter(std::vector<completion<void>>& all, completion<void> one) {
    if (all.size() == all.capacity()) std::erase_if(all, [](const auto& w) { return w.cancelled(); });
    all.push_back(std::move(one));
}

/// Starts an operation for any completion token: calls start(completion<R>).
template <class R, class Executor, class Token, class Start>
auto initiate(const Executor& e, Token&& token, Start start) {
    if constexpr (std::is_void_v<R>) {
        return asio::async_initiate<Token, void(error_code)>(
            [e](auto handler, Start s) { s(completion<R>::of(std::move(handler), e)); }, token, std::move(start));
    } else {
        return asio::async_initiate<Token, void(error_code, R)>(
            [e](auto handler, Start s) { s(completion<R>::of(std::move(handler), e)); }, token, std::move(start));
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
