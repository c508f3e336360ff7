// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Keeps an idle_look of a monitor while a wheel of another execution context runs the timer.
//
// The wheel holds a node of this object, and nothing of the monitor's context, which may be destroyed first. The look
// stays here until a function posted to that context takes it, or the context's shutdown destroys it. So the wheel's
// thread never touches the operation. If there is no memory for the post, the node waits for the wheel's next turn.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/post_flag.hpp>
#include <cogwheel/net/detail/busy_flag.hpp>
#include <cogwheel/net/detail/shutdown_list.hpp>

#include COGWHEEL_ASIO_HEADER(execution/context.hpp)
#include COGWHEEL_ASIO_HEADER(execution/context_as.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(query.hpp)

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Belongs to the monitor's context; only the node belongs to the wheel. Holds one look at a time.
template <class Look, class Engine>
class remote_idle_check final : public shutdown_list::member,
                                public std::enable_shared_from_this<remote_idle_check<Look, Engine>> {
    using executor_type = typename Look::executor_type;
    using completion_context = typename Engine::completion_context;

public:
    explicit remote_idle_check(shutdown_list& list) : list_(&list) { list.join(*this); }
    ~remote_idle_check() {
        if (list_ != nullptr) list_->leave(*this);
    }

    /// Returns nullptr if `executor` is of the wheel's context. Errors: std::bad_alloc.
    static std::shared_ptr<remote_idle_check> between(const executor_type& executor, Engine& engine) {
        asio::execution_context& context = context_of(executor);
        if (&context == &context_of(engine.executor())) return nullptr;
        return std::make_shared<remote_idle_check>(asio::use_service<shutdown_list>(context));
    }
    /// Makes another check for the same context. Preconditions: this one is not shut down.
    std::shared_ptr<remote_idle_check> another() const { return std::make_shared<remote_idle_check>(*list_); }

    /// Returns true if the node is in the wheel or on its way back.
    bool is_away() const noexcept { return away_; }
    bool is_shut_down() const noexcept { return list_ == nullptr; }

    /// Keeps the look and calls start(node), which passes the node to the wheel. If start() returns false or throws,
    /// the look is destroyed. Preconditions: neither away nor shut down.
    template <class F>
    void depart(Look&& look, F start) {
        struct undo {
            remote_idle_check& self;
            bool away = false;
            ~undo() {
                if (away) return;
                self.node_.self.reset(); // not the last reference: the monitor has one
                self.away_ = false;
                self.take();
            }
        } unless_started{*this};
        {
            const std::lock_guard lock(mutex_);
            look_.emplace(std::move(look));
        }
        node_.self = this->shared_from_this();
        away_ = true;
        unless_started.away = start(static_cast<timer_node&>(node_));
    }

    std::shared_ptr<void> hold() noexcept override { return this->weak_from_this().lock(); }
    void shut_down() noexcept override {
        const std::optional<Look> last = take();
        calling_.wait(); // the wheel's thread is about to post
        list_ = nullptr;
        if (last) last->withdraw();
    }

private:
    struct travelling final : timer_node {
        std::shared_ptr<remote_idle_check> self; // set while the wheel has the node; from the start on under its lock

        travelling() noexcept : timer_node(&arrive) {}
    };

    static void arrive(timer_node& node, void* context) {
        auto& c = *static_cast<completion_context*>(context);
        const relock_on_exit relock(c.lock);
        const auto self = std::move(static_cast<travelling&>(node).self);
        c.lock.unlock();
        if (c.how == outcome::destroyed) return void(self->take());
        COGWHEEL_TRY { self->post_to_monitor(wait_error(c.how)); }
        COGWHEEL_CATCH {
            c.lock.lock();
            self->node_.self = self;
            c.engine.defer(c.how, node);
            COGWHEEL_RETHROW;
        }
    }

    // Posts, never dispatches: no handler may run here while the context's shutdown may wait for this function.
    void post_to_monitor(error_code ec) {
        struct calling {
            remote_idle_check& self;
            std::optional<executor_type> executor;
            ~calling() {
                executor.reset(); // a strand must be destroyed before its context
                self.calling_.clear();
            }
        } until_handed_over{*this, {}};
        {
            const std::lock_guard lock(mutex_);
            if (!look_) return; // the context is shut down
            until_handed_over.executor.emplace(look_->get_executor());
            calling_.set();
        }
        ec_ = ec;
        coming_.begin();
        COGWHEEL_TRY {
            asio::post(*until_handed_over.executor,
                       posted_call<&remote_idle_check::come, &remote_idle_check::get_lost, remote_idle_check>(
                           this->shared_from_this()));
        }
        COGWHEEL_CATCH {
            coming_.fail();
            COGWHEEL_RETHROW;
        }
        if (!coming_.succeed()) drop();
    }

    void come() {
        coming_.clear();
        std::optional<Look> look = end_away();
        if (look) std::move (*look)(ec_);
    }
    // Handles a function that the executor has destroyed: destroys the handler too, as Asio does with its operations.
    void get_lost() noexcept {
        if (!coming_.lose()) return;
        coming_.clear();
        drop();
    }
    void drop() noexcept {
        if (const std::optional<Look> last = end_away()) last->leave_slot();
    }

    std::optional<Look> end_away() noexcept {
        std::optional<Look> look = take();
        away_ = false;
        return look;
    }

    std::optional<Look> take() noexcept {
        const std::lock_guard lock(mutex_);
        std::optional<Look> look = std::move(look_);
        look_.reset();
        return look;
    }

    // Used on the monitor's executor only.
    shutdown_list* list_; // nullptr: it has called shut_down()

    // Used by both sides.
    std::atomic<bool> away_ = false;
    post_flag coming_;
    std::mutex mutex_;
    std::optional<Look> look_; // guarded by the mutex
    busy_flag calling_;
    error_code ec_; // written before the post, read by the function that is posted

    travelling node_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
