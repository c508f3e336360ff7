// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of a wheel: the functions that a timer_wheel and its tokens call, on top of the engine. It belongs to a
// service of the execution context, so tokens and cancellation slots may outlive their timer_wheel (docs/adr/0002).
#pragma once

#include <cogwheel/asio/cursor.hpp>
#include <cogwheel/asio/detail/engine/payload.hpp>
#include <cogwheel/asio/detail/engine/turn_hooks.hpp>
#include <cogwheel/asio/detail/engine/wheel_engine.hpp>
#include <cogwheel/asio/detail/executor/cancellation.hpp>
#include <cogwheel/asio/timer_token.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/platform.hpp>

#include COGWHEEL_ASIO_HEADER(associated_cancellation_slot.hpp)

#include <iterator>
#include <thread>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Impl>
class wheel_service;

template <class Clock, class Locking, timing_wheel Core>
class wheel_impl final : public wheel_engine<Clock, Locking, Core> {
public:
    using engine = wheel_engine<Clock, Locking, Core>;
    using typename engine::from_now;
    using typename engine::lock_type;
    using typename engine::nanoseconds;
    using typename engine::time_point;
    using token_type = basic_timer_token<Clock, Locking, Core>;

    /// The owner gets the impl back once it is closed, has delivered everything, and has no user left.
    using owner = wheel_service<wheel_impl>;

    explicit wheel_impl(owner& o) : owner_(o) {}

    // ---- life ----

    /// Opens the wheel. Errors: those of start(); the owner has the impl back then.
    void open(const asio::any_io_executor& executor, const wheel_options& options) {
        COGWHEEL_TRY {
            if constexpr (!engine::concurrent) first_executor_ = executor;
            engine::start(executor, options);
        }
        COGWHEEL_CATCH {
            recycle();
            COGWHEEL_RETHROW;
        }
    }

    /// Returns true if this impl may be opened on `executor`. Without a lock, it stays with its first executor, which
    /// may still use its stale tokens.
    bool was_at(const asio::any_io_executor& executor) const noexcept {
        return !first_executor_ || first_executor_ == executor;
    }

    /// Aborts all pending timers, when the timer_wheel is destroyed. The owner gets the impl back after their delivery.
    [[gnu::cold]] void close() noexcept {
        lock_type lock = engine::lock();
        engine::close(lock);
    }

    /// Destroys all handlers without a call, when the execution context shuts down. May be called twice.
    [[gnu::cold]] void shutdown() {
        lock_type lock = engine::lock();
        engine::shutdown(lock);
        first_executor_ = nullptr;
    }

    // ---- timers ----

    /// Starts a wait, which completes in any case. If the wheel refuses it, the next turn completes it with the error.
    /// When: a delay, a point, or a callable that takes the wait's id, and returns them; it is called under the lock.
    /// Errors: std::bad_alloc; the handler is destroyed.
    template <class Handler, class When>
    void start_wait(Handler&& handler, When when) {
        start_waiting<waiting_handler<std::decay_t<Handler>>, wheel_impl>(
            static_cast<engine&>(*this), this, asio::get_associated_cancellation_slot(handler),
            std::forward<Handler>(handler), begin_wait<When>{*this, when});
    }

    /// Schedules a callable. Returns an empty token if the wheel refuses it. `ec`: or nullptr. `replaces`: see admit().
    // always_inline: with a million timers, each instruction costs almost a nanosecond (docs/adr/0014).
    template <class When, class F, class OnCancel>
    COGWHEEL_ALWAYS_INLINE token_type schedule(When when, F&& f, OnCancel&& on_cancel, error_code* ec,
                                               bool replaces = false) {
        using payload = scheduled_callable<std::decay_t<F>, std::decay_t<OnCancel>>;
        using op = operation<engine, payload>;
        if constexpr (callable<F> && op::template is_pooled_noexcept<F, OnCancel, const asio::any_io_executor&>) {
            const auto slowly = [&](bool locked) {
                return schedule_slowly<by_value<F>, by_value<OnCancel>>(
                    locked, when, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ec, replaces);
            };
            // One branch for each, because g++ would join their conditions.
            due_tick a{};
            if (!engine::is_usual(when)) [[unlikely]]
                return slowly(false);
            if (!this->try_lock()) [[unlikely]]
                return slowly(false);
            if (!this->try_due_at(when, a)) [[unlikely]]
                return slowly(true);
            if (this->has_room()) [[likely]] {
                const timer_node* node = op::create_armed(
                    *this, [&](timer_node& n) { return this->template try_arm<payload::kind>(n, a); },
                    std::forward<F>(f), std::forward<OnCancel>(on_cancel), this->executor());
                if (node != nullptr) [[likely]] {
                    if (ec != nullptr) ec->clear();
                    return this->unlock_with(token_type(*this, node->id()));
                }
            }
            // Without a node, create_armed() has taken neither f nor on_cancel.
            return schedule_and_unlock<by_value<F>, by_value<OnCancel>>(
                // NOLINTNEXTLINE(bugprone-use-after-move)
                a, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ec, replaces);
        } else {
            return schedule_wrapped(when, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ec, replaces);
        }
    }
    /// Does the same under the lock. Releases it meanwhile if arming the timer throws.
    template <class When, class F, class OnCancel>
    token_type schedule_locked(When when, F&& f, OnCancel&& on_cancel, error_code* ec, bool replaces = false) {
        using payload = scheduled_callable<std::decay_t<F>, std::decay_t<OnCancel>>;
        using op = operation<engine, payload>;
        if (ec != nullptr) [[unlikely]]
            ec->clear();
        if (const auto how = this->admit(replaces); how != admission::accepted) [[unlikely]]
            return refused(how, ec);
        timer_node& node = op::create(*this, std::forward<F>(f), std::forward<OnCancel>(on_cancel), this->executor());
        if constexpr (requires { op::payload(node).callable().own_token; })
            op::payload(node).callable().own_token = {*this, node.next_id()};
        COGWHEEL_TRY { this->template arm<payload::kind>(node, when); }
        COGWHEEL_CATCH {
            drop(node);
            COGWHEEL_RETHROW;
        }
        return {*this, node.id()};
    }

    /// Preconditions: the node is armed.
    token_type token_of(const timer_node& node) noexcept { return {*this, node.id()}; }

    // True if the iteration only reads memory. Other ranges may use the wheel, so they are iterated without its lock.
    template <class Range>
    static constexpr bool is_in_memory =
        requires(Range& r) { requires std::contiguous_iterator<decltype(std::begin(r))>; };

    /// Schedules all callables of a range of pairs (delay, callable), until the wheel refuses one.
    template <class Range>
    std::vector<token_type> schedule_all(Range& range, error_code& ec) {
        std::vector<token_type> tokens;
        if constexpr (requires { range.size(); }) tokens.reserve(range.size());
        ec.clear();
        const time_point now = Clock::now();
        lock_type lock = engine::lock();
        constexpr bool lazy = !is_in_memory<Range>;
        if constexpr (lazy) lock.unlock();
        for (auto&& [delay, f] : range) {
            tokens.emplace_back(); // before the timer exists, because it may fail
            decltype(auto) callable = wrapped(std::move(f));
            if constexpr (lazy) lock.lock();
            COGWHEEL_TRY {
                tokens.back() = schedule_locked(from_now{saturate_to_ns(delay), now},
                                                std::forward<decltype(callable)>(callable), no_callable(), &ec);
            }
            COGWHEEL_CATCH {
                if (lock.owns_lock()) lock.unlock(); // the callable is destroyed next
                COGWHEEL_RETHROW;
            }
            if constexpr (lazy) lock.unlock();
            if (!ec) continue;
            tokens.pop_back();
            break;
        }
        return tokens;
    }

    COGWHEEL_ALWAYS_INLINE bool cancel(timer_id id) {
        if (!this->try_lock()) [[unlikely]]
            return cancel_slowly(false, id);
        timer_node* node = nodes.find_block(id);
        if (node == nullptr || !nodes.is_marked(id.index)) [[unlikely]]
            return cancel_slowly(true, id);
        // The callable needs no destructor: there is nothing to deliver or to destroy.
        this->template remove<timer_kind::callable>(*node);
        nodes.release_block(*node, id.index);
        return this->unlock_after_cancel();
    }
    /// Does the same under the lock. Releases the lock meanwhile if the callable has a destructor.
    bool cancel(lock_type& lock, timer_id id) {
        timer_node* node = nodes.find(id);
        if (node == nullptr) return false;
        typename engine::completion_context c{*this, lock, outcome::discarded};
        node->complete(&c);
        return true;
    }

    /// Aborts an async_wait, for its cancellation slot. Complexity: O(1).
    static void cancel_by_slot(engine& e, lock_type&, timer_id id, asio::cancellation_type_t) {
        if (timer_node* node = e.nodes.find(id)) e.template abort<timer_kind::wait>(*node);
    }

    /// Moves a pending timer. Returns false if the id is stale. Errors: those of rearm().
    template <class When>
    COGWHEEL_ALWAYS_INLINE bool reschedule(timer_id id, When when) {
        if (!engine::is_usual(when)) [[unlikely]]
            return reschedule_slowly(false, id, when);
        if (!this->try_lock()) [[unlikely]]
            return reschedule_slowly(false, id, when);
        timer_node* node = nodes.block_at(id.index);
        if (node == nullptr) [[unlikely]]
            return reschedule_slowly(true, id, when);
        // Some processors read their counter only after all earlier branches are decided. So no branch depends on the
        // node before that, and the node arrives meanwhile.
        COGWHEEL_PREFETCH(node, 1);
        due_tick a{};
        if (!this->try_due_at(when, a)) [[unlikely]]
            return reschedule_slowly(true, id, when);
        if (!nodes.has_name(*node, id)) [[unlikely]]
            return reschedule_slowly(true, id, when);
        if (!this->try_rearm(*node, a)) [[unlikely]]
            return reschedule_and_unlock(node, a);
        return this->unlock_with(true);
    }

    bool pending(timer_id id) {
        const guard lock(mutex_);
        return nodes.find(id) != nullptr;
    }

    timer_state state(timer_id id) {
        const guard lock(mutex_);
        if (nodes.find(id) != nullptr) return timer_state::pending;
        const timer_node* node = nodes.find_ended(id);
        if (node == nullptr || !nodes.is_block(id.index)) return timer_state::stale; // of an object: it has no mark
        return has_fired(*node) ? timer_state::fired : timer_state::cancelled;
    }

    time_point expiry(timer_id id) {
        const guard lock(mutex_);
        const timer_node* node = nodes.find(id);
        return node != nullptr ? this->start_of(node->deadline()) : time_point::min();
    }

    // ---- all timers ----

    std::size_t pending() {
        const guard lock(mutex_);
        return wheel_->size();
    }

    std::size_t cancel_all() {
        const guard lock(mutex_);
        return engine::abort_all([](timer_node&) {});
    }

    /// Takes one slice of a trim. Returns false after the last one, or if the first one did nothing.
    bool trim(wheel_cursor& cursor);
    bool trim() {
        wheel_cursor cursor;
        while (trim(cursor)) {
            if constexpr (engine::concurrent) std::this_thread::yield(); // to a thread that waits for the lock
        }
        return cursor.done();
    }

    template <class Visitor>
    std::size_t stop(Visitor visit) {
        struct dropped_timer {
            time_point expiry;
            timer_id id;
        };
        std::vector<dropped_timer> dropped;
        std::size_t n = 0;
        {
            lock_type lock = engine::lock();
            dropped.reserve(wheel_->size()); // so that nothing fails half-way
            n = engine::stop(
                [&](timer_node& node) { dropped.push_back({this->start_of(node.deadline()), node.last_id()}); });
        }
        for (const dropped_timer& d : dropped) { // without the lock: it is the user's code
            if constexpr (std::invocable<Visitor&, time_point, token_type>)
                visit(d.expiry, token_type(*this, d.id));
            else
                visit(d.expiry);
        }
        return n;
    }
    std::size_t stop() {
        const guard lock(mutex_);
        return engine::stop([](timer_node&) {});
    }

    wheel_stats stats() {
        wheel_stats s;
        read(s);
        return s;
    }
    /// Takes one step of a snapshot: the counts, or some slots of a level. Returns false after the last step.
    bool snapshot(wheel_cursor& cursor, wheel_snapshot& s);
    void prepare_groups(wheel_cursor& cursor);
    wheel_snapshot snapshot() {
        wheel_snapshot s;
        for (wheel_cursor cursor; snapshot(cursor, s);) {
        }
        return s;
    }

    /// Returns how far ahead each level reaches, the finest one first.
    std::vector<nanoseconds> reaches() {
        const guard lock(mutex_);
        std::vector<nanoseconds> all(engine::levels());
        for (std::size_t level = 0; level < all.size(); ++level) all[level] = engine::reach_of(level);
        return all;
    }

    std::shared_ptr<stats_board> publish() {
        auto board = std::make_shared<stats_board>(snapshot());
        const guard lock(mutex_);
        hooks& told = told_of_turns();
        if (told.board == nullptr) told.board = std::move(board);
        return told.board;
    }

    void on_slow_turn(const slow_turn_options& options, std::shared_ptr<slow_turn_receiver> to) {
        const guard lock(mutex_);
        to = told_of_turns().receive(options, std::move(to)); // the former one is destroyed after the lock is released
    }

    /// Visits the pending timers of one slice of the table. Returns false after the last slice.
    template <class Visitor>
    bool for_each_pending(wheel_cursor& cursor, Visitor& visit);

    template <class F>
    decltype(auto) with_observer(F f) {
        const guard lock(mutex_);
        return f(wheel_->observer());
    }

private:
    using engine::mutex_;
    using engine::nodes;
    using engine::wheel_;
    using typename engine::guard;

    /// Returns f, or a callable that passes it the token of its timer.
    template <class F>
    static decltype(auto) wrapped(F&& f) {
        if constexpr (callable<F>)
            return std::forward<F>(f);
        else
            return self_calling<std::decay_t<F>, token_type>{std::forward<F>(f)};
    }

    // Names no handler type, so that all handlers share it: see start_waiting().
    template <class When>
    struct begin_wait {
        wheel_impl& self;
        When when;
        void operator()(timer_node& node, bool) {
            const admission how = self.admit();
            if (how == admission::accepted) {
                if constexpr (std::invocable<When&, timer_id>)
                    self.template arm<timer_kind::wait>(node, when(node.next_id()));
                else
                    self.template arm<timer_kind::wait>(node, when);
            } else {
                self.request_turn();
                self.defer(outcome_of(how), node);
            }
        }
    };

    static constexpr std::int64_t trim_at_a_time = 16'384; // units of work: about 0.1 ms
    // This number of slots takes about 20 us if they are not in the cache, this number of nodes about 50 us.
    static constexpr std::size_t slots_at_a_time = 4096, nodes_at_a_time = 512;

    using hooks = turn_hooks<engine>;
    hooks& told_of_turns() {
        hooks& told = engine::template extension<hooks>();
        told.attach(*this);
        engine::watch_turns(told);
        return told;
    }

    void read(wheel_stats& s) {
        lock_type lock = engine::lock();
        const lateness_histogram lateness = engine::stats(s);
        lock.unlock();
        engine::finish(s, lateness);
    }

    [[gnu::noinline]] void drop(timer_node& node) {
        lock_type lock(mutex_, std::adopt_lock);
        typename engine::completion_context c{*this, lock, outcome::destroyed};
        node.complete(&c);
        lock.release(); // the caller's
    }

    // Not inlined: g++ 12.2 -O1 could then lose the old value of the variable that is assigned to, if this throws.
    template <class When, class F, class OnCancel>
    [[gnu::noinline]] token_type schedule_wrapped(When when, F&& f, OnCancel&& on_cancel, error_code* ec,
                                                  bool replaces) {
        decltype(auto) callable = wrapped(std::forward<F>(f)); // outside the lock: it may be destroyed here
        const guard lock(mutex_);
        return schedule_locked(when, std::forward<decltype(callable)>(callable), std::forward<OnCancel>(on_cancel), ec,
                               replaces);
    }

    // A callable that can stay in registers should not be written to the stack for a rare call. If it were read back in
    // other pieces than it was written, the processor would wait until all earlier stores are in the cache.
    template <class F, class Value = std::decay_t<F>>
    using by_value =
        std::conditional_t<std::is_trivially_copyable_v<Value> && sizeof(Value) <= 64 && requires(Value&& v) {
            Value(std::move(v));
        }, Value, F&&>;

    // The rare cases. They take the lock, unless `locked`. Not inlined, so that the usual case saves no registers.
    template <class F, class OnCancel>
    [[gnu::noinline]] token_type schedule_and_unlock(due_tick a, F f, OnCancel on_cancel, error_code* ec,
                                                     bool replaces) {
        const guard lock(mutex_, std::adopt_lock);
        return schedule_locked(a, std::forward<F>(f), std::forward<OnCancel>(on_cancel), ec, replaces);
    }
    template <class F, class OnCancel, class When>
    [[gnu::noinline]] token_type schedule_slowly(bool locked, When when, F f, OnCancel on_cancel, error_code* ec,
                                                 bool replaces) {
        if (!locked) mutex_.lock();
        return schedule_and_unlock<F, OnCancel>(this->due_at(when), std::forward<F>(f),
                                                std::forward<OnCancel>(on_cancel), ec, replaces);
    }
    template <class When>
    [[gnu::cold, gnu::noinline]] bool reschedule_slowly(bool locked, timer_id id, When when) {
        if (!locked) mutex_.lock();
        return reschedule_and_unlock(nodes.find(id), when);
    }
    template <class When>
    [[gnu::noinline]] bool reschedule_and_unlock(timer_node* node, When when) {
        const guard lock(mutex_, std::adopt_lock);
        if (node == nullptr) return false;
        this->rearm(*node, when);
        return true;
    }
    [[gnu::cold, gnu::noinline]] bool cancel_slowly(bool locked, timer_id id) {
        if (!locked) mutex_.lock();
        lock_type lock(mutex_, std::adopt_lock);
        return cancel(lock, id);
    }
    [[gnu::noinline]] token_type refused(admission how, error_code* ec) noexcept {
        if (ec != nullptr) *ec = error_of(how);
        return {};
    }

    void recycle() noexcept { owner_.recycle(*this); }

    friend engine;
    friend owner;
    owner& owner_;
    wheel_impl* next_ = nullptr;           // in the list of all impls of the owner
    wheel_impl* next_idle_ = nullptr;      // in the list of those that no wheel uses
    asio::any_io_executor first_executor_; // only without a lock: see was_at()
};

// ---- in slices, so that no caller holds the lock for long: trim, census, the list of all timers ----

template <class Clock, class Locking, timing_wheel Core>
bool wheel_impl<Clock, Locking, Core>::trim(wheel_cursor& cursor) {
    const guard lock(mutex_);
    if (cursor_access::done(cursor)) return false;
    if (!std::exchange(cursor_access::begun(cursor), true) && this->is_behind()) {
        cursor_access::position(cursor).next = trim_position::phase::refused;
        return false;
    }
    work_budget budget = trim_at_a_time;
    if (!cursor_access::waits(cursor)) {
        if constexpr (requires(Core& w, trim_position& at) { w.trim(at, budget); }) {
            trim_position& at = cursor_access::position(cursor);
            if (wheel_->trim(at, budget)) return true;
            if (!at.done()) return false;
        } else if (!wheel_->trim()) {
            return false;
        }
        this->waits.begin_trim();
        cursor_access::waits(cursor) = true;
    }
    cursor_access::done(cursor) = !this->waits.trim(budget);
    return !cursor_access::done(cursor);
}

template <class Clock, class Locking, timing_wheel Core>
void wheel_impl<Clock, Locking, Core>::prepare_groups(wheel_cursor& cursor) {
    const std::size_t most = cursor_access::most_groups(cursor);
    level_census& census = cursor_access::census(cursor);
    auto& groups = cursor_access::groups(cursor);
    if (most == 0) return;
    if (cursor_access::slot(cursor) == 0) {
        engine::count_slots(cursor_access::level(cursor), 0, 0, census);
        const auto needed = [&] {
            return (census.slots + (std::uint64_t{1} << census.group_bits) - 1) >> census.group_bits;
        };
        while (needed() > most) ++census.group_bits;
        groups.assign(static_cast<std::size_t>(needed()), 0);
    }
    census.groups = groups.data(); // the cursor may have been moved
}

template <class Clock, class Locking, timing_wheel Core>
bool wheel_impl<Clock, Locking, Core>::snapshot(wheel_cursor& cursor, wheel_snapshot& s) {
    if (!cursor_access::counted(cursor)) {
        read(s);
        cursor_access::counted(cursor) = true;
    }
    const guard lock(mutex_);
    s.levels.reserve(engine::levels()); // so that nothing fails half-way through a level
    std::size_t& level = cursor_access::level(cursor);
    std::size_t& slot = cursor_access::slot(cursor);
    for (std::size_t room = slots_at_a_time; level < engine::levels(); ++level, slot = 0) {
        level_census& census = cursor_access::census(cursor);
        prepare_groups(cursor);
        if (room == 0 || engine::count_slots(level, slot, room, census)) {
            slot += room;
            return true;
        }
        const std::size_t counted = static_cast<std::size_t>(census.slots) - slot;
        room -= counted < room ? counted : room;
        s.levels.push_back(engine::level_of(census));
        s.levels.back().groups = std::exchange(cursor_access::groups(cursor), {});
        census = {};
    }
    cursor_access::done(cursor) = true;
    return false;
}

template <class Clock, class Locking, timing_wheel Core>
template <class Visitor>
bool wheel_impl<Clock, Locking, Core>::for_each_pending(wheel_cursor& cursor, Visitor& visit) {
    struct found_timer {
        time_point expiry;
        timer_id id;
    };
    std::array<found_timer, nodes_at_a_time> found;
    std::size_t n = 0;
    bool more = false;
    {
        const guard lock(mutex_);
        more = nodes.for_each_from(cursor_access::next(cursor), nodes_at_a_time, [&](const timer_node& node) {
            if (node.armed()) found[n++] = {this->start_of(node.deadline()), node.id()};
        });
    }
    for (std::size_t i = 0; i < n; ++i) { // without the lock: it is the user's code
        if constexpr (std::invocable<Visitor&, time_point, token_type>)
            visit(found[i].expiry, token_type(*this, found[i].id));
        else
            visit(found[i].expiry);
    }
    cursor_access::done(cursor) = !more;
    return more;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
