// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tells objects that hold handlers when their execution context shuts down. Each object then destroys its handlers,
// which may own the object.
#pragma once

#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(execution_context.hpp)

#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class shutdown_list final : public asio::execution_context::service {
public:
    using key_type = shutdown_list;
    static inline asio::execution_context::id id;

    /// Lifetime: leaves the list before it is destroyed, unless shut_down() was called.
    class member : public list_links<member> {
    public:
        member() = default;
        member(const member&) = delete;
        member& operator=(const member&) = delete;

        /// Returns a pointer that keeps the member alive during shut_down(); nullptr if the member is being destroyed.
        virtual std::shared_ptr<void> hold() noexcept = 0;
        /// Destroys the handlers. Called once at most. The member must not use the list after that.
        virtual void shut_down() noexcept = 0;

    protected:
        ~member() = default;
    };

    explicit shutdown_list(asio::execution_context& context) : asio::execution_context::service(context) {}

    void join(member& m) noexcept {
        const std::lock_guard lock(mutex_);
        members_.push_front(m);
    }

    /// Removes a member. Preconditions: its shut_down() was not called.
    void leave(member& m) noexcept {
        const std::lock_guard lock(mutex_);
        members_.erase(m);
    }

private:
    void shutdown() noexcept override {
        for (;;) {
            member* m = nullptr;
            std::shared_ptr<void> held;
            {
                const std::lock_guard lock(mutex_);
                if (members_.empty()) return;
                held = members_.front()->hold();
                if (held != nullptr) m = members_.pop_front();
            }
            if (m != nullptr)
                m->shut_down(); // without the lock: the end of a handler may destroy other members
            else
                std::this_thread::yield(); // another thread destroys the member, which leaves soon
        }
    }

    std::mutex mutex_;
    linked_list<member> members_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
