// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How timer_wheel_of() finds the wheel of an execution context.
//
// A service of the context owns the wheel. A look-up of the service takes a mutex and walks a list, so a table of the
// process remembers the wheels of 64 contexts. The context's end clears its entry; no code uses a context later.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The first wheel of a context. With a null context, the entry is free.
struct cached_wheel {
    std::atomic<const void*> context{nullptr};
    std::atomic<void*> wheel{nullptr};
};

/// The entries for wheels of one type. Thread safety: any thread may call the functions.
template <class Wheel>
class wheel_cache {
public:
    /// Returns nullptr if the cache does not know the context. Complexity: O(1); reads at most 4 entries.
    static Wheel* find(const asio::execution_context& context) noexcept {
        const cached_wheel& entry = entries_[place_of(context)];
        if (entry.context.load(std::memory_order_acquire) == &context) [[likely]]
            return static_cast<Wheel*>(entry.wheel.load(std::memory_order_relaxed));
        return find_further(context);
    }

    /// Returns the entry that find() reads from now on, or nullptr if none is free. Preconditions: the cache does not
    /// know the context, and no other thread inserts the same context.
    static cached_wheel* insert(const asio::execution_context& context, Wheel& wheel) noexcept {
        const std::size_t first = place_of(context);
        for (std::size_t i = 0; i < probes; ++i) {
            cached_wheel& entry = entries_[(first + i) % size];
            const void* free = nullptr;
            if (!entry.context.compare_exchange_strong(free, &entry, std::memory_order_acquire)) continue;
            entry.wheel.store(&wheel, std::memory_order_relaxed);
            entry.context.store(&context, std::memory_order_release);
            return &entry;
        }
        return nullptr;
    }

private:
    static constexpr std::size_t size = 64, probes = 4;

    [[gnu::noinline]] static Wheel* find_further(const asio::execution_context& context) noexcept {
        const std::size_t first = place_of(context);
        for (std::size_t i = 1; i < probes; ++i) {
            const cached_wheel& entry = entries_[(first + i) % size];
            if (entry.context.load(std::memory_order_acquire) == &context)
                return static_cast<Wheel*>(entry.wheel.load(std::memory_order_relaxed));
        }
        return nullptr;
    }

    static std::size_t place_of(const asio::execution_context& context) noexcept {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): neighbours get places far apart.
        return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(&context) * 0x9E3779B97F4A7C15u >> 58);
    }

    static inline cached_wheel entries_[size];
};

template <class T>
concept any_executor = asio::is_executor<T>::value || asio::execution::is_executor<T>::value;

/// Returns the executor without tracked work, which would keep run() from returning.
inline asio::any_io_executor untracked(const asio::any_io_executor& executor) {
    return asio::prefer(executor, asio::execution::outstanding_work.untracked);
}

/// Returns the executor for the turns of a context's wheel that `executor` is the first to use: the context's own, if
/// it can be found behind the strand or the properties of `executor`.
template <class Executor>
asio::any_io_executor executor_for_turns(const Executor& executor) {
    if constexpr (requires { context_of(executor).get_executor(); }) {
        return context_of(executor).get_executor();
    } else {
        asio::any_io_executor e = untracked(executor);
        if (asio::io_context* io = loop_of(e)) return io->get_executor();
        return e;
    }
}

/// Owns the wheels of a context that timer_wheel_of() returns: one, or one for each executor if it has no lock.
template <class Wheel>
class context_wheel_service final : public asio::execution_context::service {
    using impl = std::remove_reference_t<decltype(impl_of(std::declval<const Wheel&>()))>;

public:
    // The key is the type, not the address of an id, so that libraries that hide their symbols find the same service.
    using key_type = context_wheel_service;
    static inline asio::execution_context::id id;

    explicit context_wheel_service(asio::execution_context& context) : asio::execution_context::service(context) {
        asio::use_service<wheel_service<impl>>(context); // older than this service, so destroyed after the wheels
    }

    /// No shutdown() is called for a service that is made while its context is destroyed.
    ~context_wheel_service() override { context_wheel_service::shutdown(); }

    /// Returns the wheel for `executor`. Makes it at the first call, from `options` if given.
    /// Errors: std::logic_error if there are options but the wheel exists already; those of the wheel's constructor.
    template <class Executor>
    Wheel& use(const Executor& executor, const wheel_options* options) {
        const std::lock_guard lock(mutex_);
        if (shut_down_ && !wheels_.empty()) return wheels_.front()->wheel; // all are shut down
        cached_.reserve(cached_.size() + 1);                               // so that remember() cannot fail
        const asio::any_io_executor turns = impl::concurrent ? executor_for_turns(executor) : untracked(executor);
        for (const auto& made : wheels_) {
            if (!serves(made->wheel, turns)) continue;
            if (options != nullptr) refuse_options();
            remember();
            return made->wheel;
        }
        wheels_.push_back(std::make_unique<record>(turns, options));
        if (shut_down_) end(*wheels_.back());
        remember();
        return wheels_.back()->wheel;
    }

    /// Returns true if this wheel of the context is the one for that executor.
    template <class Executor>
    static bool serves(const Wheel& wheel, const Executor& executor) noexcept {
        return impl::concurrent || is_executor(wheel.executor_, executor);
    }

private:
    struct record {
        Wheel wheel;

        record(const typename Wheel::executor_type& executor, const wheel_options* options)
            : wheel(executor, options != nullptr ? *options : wheel_options()) {}
    };
    // Several caches may exist, because each library that hides its symbols has its own.
    void remember() noexcept {
        if (shut_down_ || wheel_cache<Wheel>::find(context()) != nullptr) return;
        if (cached_wheel* entry = wheel_cache<Wheel>::insert(context(), wheels_.front()->wheel))
            cached_.push_back(entry);
    }

    void shutdown() noexcept override {
        // Handlers that are destroyed here may call use().
        for (cached_wheel* entry : take_cached()) entry->context.store(nullptr, std::memory_order_release);
        for (std::size_t i = 0; record* made = at(i); ++i) end(*made);
    }
    std::vector<cached_wheel*> take_cached() noexcept {
        const std::lock_guard lock(mutex_);
        shut_down_ = true;
        return std::move(cached_);
    }
    record* at(std::size_t i) noexcept {
        const std::lock_guard lock(mutex_);
        return i < wheels_.size() ? wheels_[i].get() : nullptr;
    }
    // The wheel object stays: a destructor may still use it. Its executor goes: a strand must not outlive its service.
    static void end(record& made) noexcept {
        impl_of(made.wheel).shutdown();
        made.wheel.executor_ = typename Wheel::executor_type();
    }

    static void refuse_options() {
        asio::detail::throw_exception(std::logic_error(
            "this context has its timer wheel already; call make_timer_wheel_of() before the first use of "
            "timer_wheel_of(executor), timeout(when, token) without a wheel, or wheel_timer(executor)"));
    }

    std::mutex mutex_;
    bool shut_down_ = false;
    std::vector<std::unique_ptr<record>> wheels_;
    std::vector<cached_wheel*> cached_;
};

template <class Wheel, class Executor>
[[gnu::noinline]] Wheel& look_up_wheel(asio::execution_context& context, const Executor& executor) {
    return asio::use_service<context_wheel_service<Wheel>>(context).use(executor, nullptr);
}

template <class Wheel, class Executor>
Wheel& find_wheel(const Executor& executor) {
    asio::execution_context& context = context_of(executor);
    Wheel* wheel = wheel_cache<Wheel>::find(context);
    if (wheel != nullptr && context_wheel_service<Wheel>::serves(*wheel, executor)) [[likely]]
        return *wheel;
    return look_up_wheel<Wheel>(context, executor);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
