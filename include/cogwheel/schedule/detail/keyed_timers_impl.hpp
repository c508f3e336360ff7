// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table behind keyed_timers. The table and the timer's callable share a record. If the key is removed or the table
// destroyed, a callable on its way reads that in the record.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/schedule/on_duplicate.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The executor of a table whose jobs do not run in the wheel's turn. After cancel_all() or stop(), a node of the wheel
/// may outlive the table and the executor's context. So only this object has the executor; the table closes it.
class keyed_executor {
public:
    explicit keyed_executor(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    keyed_executor(const keyed_executor&) = delete;
    keyed_executor& operator=(const keyed_executor&) = delete;

    /// Counts an armed timer. While any timer is armed, run() of the executor's context does not return.
    class armed {
    public:
        explicit armed(std::shared_ptr<keyed_executor> owner) : owner_(std::move(owner)) {
            const std::lock_guard lock(owner_->mutex_);
            if (owner_->armed_ == 0)
                owner_->work_ = asio::prefer(owner_->executor_, asio::execution::outstanding_work.tracked);
            ++owner_->armed_;
        }
        armed(armed&& other) noexcept = default;
        armed& operator=(armed&&) = delete;
        ~armed() {
            if (owner_ == nullptr) return;
            const std::lock_guard lock(owner_->mutex_);
            if (--owner_->armed_ == 0) owner_->work_ = {};
        }
        keyed_executor& owner() const noexcept { return *owner_; }

    private:
        std::shared_ptr<keyed_executor> owner_;
    };

    /// Posts f to the executor. Does nothing after close().
    template <class F>
    void post(F f) {
        const std::lock_guard lock(mutex_);
        if (executor_) asio::post(executor_, std::move(f));
    }
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        executor_ = {};
        work_ = {};
    }

private:
    std::mutex mutex_;
    asio::any_io_executor executor_, work_;
    std::size_t armed_ = 0;
};

/// The default hash: std::hash. For std::string it also takes a string_view.
template <class Key>
struct keyed_hash : std::hash<Key> {};
template <>
struct keyed_hash<std::string> {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

/// A callable for add(). It must have no executor: there, the table could not stop the job of a removed key.
template <class F, class Key>
concept keyed_job = (std::invocable<F&, const Key&> || std::invocable<F&>) && !has_executor<F>;

template <class Key, class Job, class Wheel, class Hash, class Equal>
class keyed_timers_impl {
public:
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    struct record {
        record(keyed_timers_impl& c, Key&& k, Job&& j, nanoseconds p)
            : impl(&c), key(std::move(k)), job(std::move(j)), pause(p) {}

        keyed_timers_impl* impl;
        Key key;
        Job job;
        nanoseconds pause; // the delay that touch() starts anew
        typename Wheel::token_type token{};
        nanoseconds due{}; // since the clock's epoch
        bool removed = false;
    };
    using record_ptr = std::shared_ptr<record>;

    struct by_key {
        using is_transparent = void;
        [[no_unique_address]] Hash hash;
        [[no_unique_address]] Equal equal;

        std::size_t operator()(const record_ptr& r) const { return hash(r->key); }
        template <class K>
        std::size_t operator()(const K& key) const {
            return hash(key);
        }
        bool operator()(const record_ptr& a, const record_ptr& b) const { return equal(a->key, b->key); }
        template <class K>
        bool operator()(const record_ptr& r, const K& key) const {
            return equal(r->key, key);
        }
        template <class K>
        bool operator()(const K& key, const record_ptr& r) const {
            return equal(r->key, key);
        }
    };
    using table = std::unordered_set<record_ptr, by_key, by_key>;

    /// Parameters: with an empty `executor`, or the wheel's own, jobs run in the wheel's turn.
    keyed_timers_impl(const Wheel& wheel, asio::any_io_executor executor, const Hash& hash, const Equal& equal)
        : wheel_(impl_of(wheel)), table_(0, by_key{hash, equal}, by_key{hash, equal}) {
        if (executor && executor != asio::any_io_executor(wheel.get_executor()))
            executor_ = std::make_shared<keyed_executor>(std::move(executor));
    }
    ~keyed_timers_impl() {
        clear();
        if (executor_ != nullptr) executor_->close();
    }
    keyed_timers_impl(const keyed_timers_impl&) = delete;
    keyed_timers_impl& operator=(const keyed_timers_impl&) = delete;

    table& all() noexcept { return table_; }

    /// Adds a key. touch() without a time starts `pause` anew. On an error or exception, the table is unchanged.
    error_code add(Key&& key, nanoseconds due, nanoseconds pause, Job&& job, on_duplicate policy) {
        const auto old = table_.find(key);
        if (old != table_.end() && policy == on_duplicate::reject) return errc::duplicate_key;
        if (old != table_.end() && policy == on_duplicate::keep) return {};
        const record_ptr replaced = old != table_.end() ? *old : nullptr; // destroyed last: it may use the table
        const auto r = std::make_shared<record>(*this, std::move(key), std::move(job), pause);
        if (old != table_.end()) {
            if (const error_code refused = arm(r, due)) return refused;
            end(**old);
            // The keys are equal, so the new record takes the old one's place: an insertion could throw.
            const_cast<record_ptr&>(*old) = r;
            return {};
        }
        const auto place = table_.insert(r).first;
        error_code refused;
        COGWHEEL_TRY { refused = arm(r, due); }
        COGWHEEL_CATCH {
            table_.erase(place);
            COGWHEEL_RETHROW;
        }
        if (refused) table_.erase(place);
        return refused;
    }

    // Keeps the record until the change is complete: the job's destructor may use the table.
    void remove(typename table::iterator at) noexcept {
        const record_ptr last = *at;
        end(*last);
        table_.erase(at);
    }

    void clear() noexcept {
        table all(0, table_.hash_function(), table_.key_eq());
        all.swap(table_);
        for (const record_ptr& r : all) end(*r);
    }

    bool touch(record& r, nanoseconds due) {
        if (!r.token.reschedule(point_at<time_point>(due))) return false;
        r.due = due;
        return true;
    }

private:
    static void end(record& r) noexcept {
        r.removed = true;
        r.token.cancel();
    }

    error_code arm(const record_ptr& r, nanoseconds due) {
        error_code refused;
        const auto at = point_at<time_point>(due);
        auto expire = [r] {
            if (!r->removed) expired(r);
        };
        if (executor_ == nullptr) {
            r->token = wheel_->schedule(at, std::move(expire), no_callable(), &refused);
        } else {
            auto post_there = [timer = keyed_executor::armed(executor_), expire] { timer.owner().post(expire); };
            r->token = wheel_->schedule(at, std::move(post_there), no_callable(), &refused);
        }
        if (!refused) r->due = due;
        return refused;
    }

    // Removes the key first, because the job may add it again, or destroy the table.
    static void expired(const record_ptr& r) {
        table& all = r->impl->table_;
        all.erase(all.find(r));
        r->removed = true;
        r->job(r->key);
    }

    wheel_hold<impl_type<Wheel>> wheel_;
    std::shared_ptr<keyed_executor> executor_; // nullptr: jobs run in the wheel's turn
    table table_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
