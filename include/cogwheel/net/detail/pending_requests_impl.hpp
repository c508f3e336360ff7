// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of pending_requests: a request_table, and the ends of its requests.
//
// Everything belongs to the strand, except for the list of expired requests. The wheel's turn may run on any thread: it
// appends the request to that list and dispatches to the strand. The strand takes the request from the list, unless an
// answer arrives first. If the wheel's turns run on the strand, the turn decides at once. So only the strand decides
// how a request ends, and the request's memory can be freed then.
//
// A decided request waits in a queue for a drain: one posted function calls all handlers. The drain is posted before
// the decision, so a lack of memory loses no request.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/post_flag.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/net/detail/busy_flag.hpp>
#include <cogwheel/net/detail/request_limit.hpp>
#include <cogwheel/net/detail/request_operation.hpp>
#include <cogwheel/net/detail/request_totals.hpp>
#include <cogwheel/net/detail/shutdown_list.hpp>

#include COGWHEEL_ASIO_HEADER(dispatch.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Key, class Response, class Engine, class Hash, class Equal>
class pending_requests_impl final
    : public shutdown_list::member,
      public std::enable_shared_from_this<pending_requests_impl<Key, Response, Engine, Hash, Equal>> {
public:
    using key_type = Key;
    using response_type = Response;
    using clock_type = typename Engine::clock_type;
    using time_point = typename Engine::time_point;
    using limit_type = request_limit<clock_type>;
    using completion_context = typename Engine::completion_context;
    using request = detail::request<pending_requests_impl>;

private:
    using lock_type = typename Engine::lock_type;
    using from_now = typename Engine::from_now;

public:
    pending_requests_impl(Engine& engine, const asio::any_io_executor& executor, std::size_t max_in_flight,
                          std::size_t reserve, const Hash& hash, const Equal& equal)
        : engine_(engine),
          executor_(executor),
          on_wheel_executor_(executor == engine.executor()),
          table_(max_in_flight, reserve, hash, equal),
          list_(&asio::use_service<shutdown_list>(
              asio::query(executor, asio::execution::context_as<asio::execution_context&>))) {
        const lock_type lock = engine_.lock();
        totals_ = &engine_.template extension<request_totals>();
        engine_.join();
        list_->join(*this);
    }
    ~pending_requests_impl() {
        work_.reset();
        executor_.reset();
        if (list_ != nullptr) list_->leave(*this); // after this line the strand's context may be destroyed
        destroy_all();                             // the requests of a drain that was destroyed with the strand
        lock_type lock = engine_.lock();
        rare_.add(*totals_, table_.stats());
        engine_.leave(lock);
    }

    Engine& engine() noexcept { return engine_; }
    const asio::any_io_executor& executor() const noexcept { return *executor_; }
    auto& table() noexcept { return table_; }
    const auto& table() const noexcept { return table_; }

    template <class Handler, class K>
    void start(Handler&& handler, K&& key, const limit_type& limit) {
        using operation = request_operation<pending_requests_impl, std::decay_t<Handler>>;
        if (shut_down_) return; // the context's shutdown destroys all handlers
        const auto verdict = table_.admit(key);
        if (verdict.what != request_admission::accepted)
            return operation::refuse(*this, std::forward<Handler>(handler), error_of(verdict.what));
        const time_point now = clock_type::now();
        const auto until = limit.at_start(now);
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (!work_) work_.emplace(*executor_);
        const struct undo_work {
            pending_requests_impl& self;
            ~undo_work() { self.release_work(); }
        } unless_started{*this};
        lock_type lock = engine_.lock();
        if (until) {
            if (const admission how = engine_.admit(); how != admission::accepted) {
                lock.unlock();
                table_.count_refused();
                return operation::refuse(*this, std::forward<Handler>(handler), detail::error_of(how));
            }
        }
        request& r = operation::create(*this, std::forward<K>(key), std::forward<Handler>(handler), limit, now);
        COGWHEEL_TRY {
            if (until) engine_.template arm<timer_kind::request>(*r.node, from_now{until.remaining(now), now});
            if (slot.is_connected()) {
                const timer_id id = r.slot_link.make(engine_, r);
                lock.unlock(); // emplace() may call the user's code
                slot.template emplace<slot_handler<Engine, pending_requests_impl>>(engine_, id);
                lock.lock();
            }
        }
        COGWHEEL_CATCH {
            if (!lock.owns_lock()) lock.lock();
            retire(r);
            lock.unlock();
            r.finish(r, false);
            COGWHEEL_RETHROW;
        }
        table_.insert(r, verdict.hash);
        totals_->started();
    }

    static void cancel_by_slot(Engine& engine, lock_type& lock, timer_id id, asio::cancellation_type_t) {
        request* r = back_link<request>::follow(engine, id);
        if (r == nullptr) return;
        lock.unlock();
        r->impl.end(*r, ending::cancelled, asio::error::operation_aborted);
    }

    /// Starts the timeout of a request that counts from its writing. Returns false if there is no such request.
    bool start_limit(const Key& key) {
        request* r = table_.find(key);
        if (r == nullptr || !r->unwritten) return false;
        const time_point now = clock_type::now();
        const auto until = r->limit.at_write(now);
        if (until != r->limit.at_start(now)) {
            lock_type lock = engine_.lock();
            const from_now when{until.remaining(now), now};
            if (r->node->armed()) {
                engine_.rearm(*r->node, when);
            } else if (!r->expired) {
                if (const admission how = engine_.admit(); how == admission::accepted) {
                    engine_.template arm<timer_kind::request>(*r->node, when);
                } else {
                    lock.unlock();
                    end(*r, ending::failed, detail::error_of(how));
                    return true;
                }
            }
        }
        r->unwritten = false;
        return true;
    }

    // ---- the end, decided on the strand ----

    /// Preconditions: `r` is in the table. Errors: those of a post, and of moving the response; nothing changes then.
    void answer(request& r, Response&& response) {
        request_drain();
        r.response.emplace(std::move(response));
        decide(r, ending::answered, {});
    }
    void end(request& r, ending how, const error_code& ec) {
        request_drain();
        decide(r, how, ec);
    }
    std::size_t end_all(ending how, const error_code& ec) {
        if (table_.empty()) return 0;
        request_drain();
        return decide_all(how, ec);
    }

    /// Ends all requests in flight, because the pending_requests is destroyed.
    void close() noexcept {
        if (table_.empty() && over_.empty()) return;
        COGWHEEL_TRY {
            request_drain();
            decide_all(ending::cancelled, asio::error::operation_aborted);
        }
        COGWHEEL_CATCH {
            // No memory for a post.
            decide_all(ending::cancelled, asio::error::operation_aborted);
            drain_after_a_turn();
        }
    }

    // Handles the end of the strand's context. A node of this object may still be in the wheel, but finds no requests.
    std::shared_ptr<void> hold() noexcept override { return this->weak_from_this().lock(); }
    void shut_down() noexcept override {
        {
            const lock_type lock = engine_.lock();
            shut_down_ = true;
        }
        calling_.wait(); // until the wheel's thread has dispatched to the strand
        list_ = nullptr;
        destroy_all();
        executor_.reset(); // before the strand's service, which this object may outlive
    }

    /// Handles the end of a timer: expired (the lock is held, also on return or exception), or dropped by the wheel.
    void timer_ended(request& r, completion_context& c) {
        if (c.how == outcome::expired) {
            if (engine_.is_first_of_tick(*r.node)) return engine_.begin_tick(*r.node, &c);
            const relock_on_exit relock(c.lock);
            engine_.template note_expiry<timer_kind::request, pending_requests_impl>(*r.node);
            if (on_wheel_executor_) {
                c.lock.unlock();
                take(r, ending::timed_out);
                r.ec = asio::error::timed_out;
                release_work();
                if (over_.empty())
                    r.finish(r, true);
                else
                    over_.push_back(r); // after the requests that were decided earlier
                c.lock.lock();
                c.engine.check_loop_stopped(); // not engine_: this may be destroyed
            } else {
                list_expired(r);
                if (!call_posted_.is_set()) call(c.lock, this->shared_from_this());
            }
        } else { // the wheel drops its timers: nothing may be posted here
            engine_.template end_early<timer_kind::request>(c.how, *r.node);
            r.withdrawn = true;
            list_expired(r);
            defer_notification();
        }
    }

private:
    static error_code error_of(request_admission what) noexcept {
        return what == request_admission::duplicate_key ? errc::duplicate_key : errc::too_many_requests;
    }
    // Takes the request out of the wheel. Preconditions: the lock is held.
    void retire(request& r) noexcept {
        if (r.node->armed()) engine_.template disarm<timer_kind::request>(*r.node);
        if (r.expired) expired_.erase(r);
        r.expired = false;
        r.slot_link.cut(engine_);
    }

    // Takes the request out of the table and the wheel.
    void take(request& r, ending how) noexcept {
        table_.remove(r, how);
        const lock_type lock = engine_.lock();
        totals_->ended(how);
        retire(r);
    }

    // Ends the request; a drain delivers it. Preconditions: a drain is on its way.
    void decide(request& r, ending how, const error_code& ec) noexcept {
        take(r, how);
        r.ec = ec;
        over_.push_back(r);
        release_work();
    }
    std::size_t decide_all(ending how, const error_code& ec) noexcept {
        std::size_t n = 0;
        for (; request* r = table_.oldest(); ++n) decide(*r, how, ec);
        return n;
    }

    void destroy_all() noexcept {
        work_.reset();
        for (;;) { // the destructor of a handler may end other requests
            request* r = table_.oldest();
            if (r != nullptr)
                take(*r, ending::cancelled);
            else if ((r = over_.pop_front()) == nullptr)
                return;
            r->finish(*r, false);
        }
    }

    // Lets run() return if no request is in flight.
    void release_work() noexcept {
        if (table_.empty()) work_.reset();
    }

    static constexpr int batch = 256; // handlers of one drain; then other functions of the strand may run

    void request_drain() {
        using posted_drain =
            posted_call<&pending_requests_impl::run_drain, &pending_requests_impl::drain_lost, pending_requests_impl>;
        if (drain_posted_.is_set() || shut_down_) return;
        drain_posted_.begin();
        COGWHEEL_TRY { asio::post(*executor_, posted_drain(this->shared_from_this())); }
        COGWHEEL_CATCH {
            drain_posted_.fail();
            COGWHEEL_RETHROW;
        }
        if (!drain_posted_.succeed()) drain_after_a_turn();
    }
    void run_drain() {
        drain_posted_.clear();
        drain();
    }
    void drain_lost() noexcept {
        if (!drain_posted_.lose()) return;
        drain_posted_.clear();
        drain_after_a_turn();
    }
    // Makes the wheel's next turn call the strand instead of a post. If that is lost too, the next drain delivers.
    void drain_after_a_turn() noexcept {
        const lock_type lock = engine_.lock();
        if (shut_down_) return;
        COGWHEEL_TRY { engine_.request_turn(); }
        COGWHEEL_CATCH {
            // No memory for a turn: a later turn calls the strand.
        }
        defer_notification();
    }

    void drain() {
        struct going_on { // also when a handler throws: the next drain delivers the rest
            pending_requests_impl& self;
            int exceptions = std::uncaught_exceptions();
            ~going_on() noexcept(false) {
                COGWHEEL_TRY {
                    if (self.has_over()) self.request_drain();
                }
                COGWHEEL_CATCH {
                    if (std::uncaught_exceptions() == exceptions) COGWHEEL_RETHROW;
                }
            }
        } rest{*this};
        for (int i = 0; i < batch; ++i) {
            request* r = over_.pop_front();
            if (r == nullptr && (r = next_expired()) == nullptr) return;
            r->finish(*r, true);
        }
    }

    bool has_over() {
        if (!over_.empty()) return true;
        const lock_type lock = engine_.lock();
        return !expired_.empty();
    }

    request* next_expired() noexcept {
        lock_type lock = engine_.lock();
        rare_.add(*totals_, table_.stats());
        request* r = expired_.pop_front();
        if (r == nullptr) return nullptr;
        const ending how = r->withdrawn ? ending::cancelled : ending::timed_out;
        totals_->ended(how);
        r->expired = false;
        retire(*r);
        lock.unlock();
        table_.remove(*r, how);
        r->ec = r->withdrawn ? asio::error::operation_aborted : asio::error::timed_out;
        release_work();
        return r;
    }

    // ---- from the wheel's turn to the strand; the lock is held ----

    void list_expired(request& r) noexcept {
        r.expired = true;
        expired_.push_back(r);
    }

    // Calls the strand without the lock. The lock is held again when this returns, but not when it throws.
    void call(lock_type& lock, std::shared_ptr<pending_requests_impl> self) {
        using posted_call_of_strand =
            posted_call<&pending_requests_impl::run_call, &pending_requests_impl::call_lost, pending_requests_impl>;
        if (call_posted_.is_set() || shut_down_) return;
        call_posted_.begin();
        calling_.set();
        struct calling {
            pending_requests_impl& impl;
            ~calling() { impl.calling_.clear(); }
        };
        COGWHEEL_TRY {
            const calling until_handed_over{*this};
            const asio::any_io_executor executor = *executor_;
            lock.unlock();
            asio::dispatch(executor, posted_call_of_strand(self));
            call_posted_.succeed(); // if the call is lost, the next request that expires calls again
        }
        COGWHEEL_CATCH {
            if (!lock.owns_lock()) lock.lock();
            if (call_posted_.fail() && !shut_down_)
                defer_notification(); // the function never ran: the next turn tries again
            lock.unlock();
            COGWHEEL_RETHROW;
        }
        self.reset(); // perhaps the last reference: the destructor takes the lock
        lock.lock();
    }

    void run_call() {
        call_posted_.clear();
        drain();
    }
    void call_lost() noexcept {
        if (call_posted_.lose()) call_posted_.clear();
    }

    // A node to defer where nothing may fail. A request's node does not serve: the request may be freed at any moment.
    struct deferred_notification final : timer_node {
        std::shared_ptr<pending_requests_impl> self; // set while the node waits for a turn

        explicit deferred_notification() noexcept : timer_node(&arrive) {}

        static void arrive(timer_node& node, void* context) {
            auto& c = *static_cast<completion_context*>(context);
            const relock_on_exit relock(c.lock);
            auto self = std::move(static_cast<deferred_notification&>(node).self);
            if (c.how == outcome::aborted) self->call(c.lock, self);
            c.lock.unlock(); // `self` may be the last reference: it must be destroyed without the lock
        }
    };

    void defer_notification() {
        if (notification_.self != nullptr) return;
        notification_.self = this->shared_from_this();
        engine_.defer(outcome::aborted, notification_);
    }

    Engine& engine_;
    request_totals* totals_ = nullptr; // of the wheel
    rare_counts rare_;
    std::optional<asio::any_io_executor> executor_;
    bool on_wheel_executor_; // the turns of the wheel run on the strand
    bool shut_down_ = false;
    post_flag drain_posted_;
    request_table<request, Hash, Equal> table_;
    linked_list<request> over_; // their end is decided; their handlers wait for a drain
    std::optional<counted_work<asio::any_io_executor>> work_;
    shutdown_list* list_; // nullptr: it has called shut_down()
    busy_flag calling_;

    // Under the engine's lock.
    linked_list<request> expired_;
    post_flag call_posted_;
    deferred_notification notification_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
