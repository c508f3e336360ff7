// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The end of the execution context: handlers are destroyed uninvoked, in whatever order things fall.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/noted_executor.hpp"
#include "support/asio/virtual_wheel.hpp"

#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>

#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

TEST_CASE("handler_owns_the_wheel_both_are_destroyed") {
    int destroyed = 0;
    {
        asio::io_context io;
        auto wheel = std::make_shared<manual_timer_wheel>(io);
        wheel->async_wait(1h, [wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        wheel->schedule(1h, [wheel, no = must_not_run(&destroyed)] { no(); }, on_cancel([wheel] { FAIL("ran"); }));
    }
    CHECK(destroyed == 2);
}

TEST_CASE("handler_owns_another_wheel_with_waits_all_are_destroyed") {
    int destroyed = 0;
    {
        asio::io_context io;
        auto inner = std::make_unique<manual_timer_wheel>(io);
        auto outer = std::make_shared<manual_timer_wheel>(io);
        inner->async_wait(1h, [outer, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        outer->async_wait(1h,
                          [inner = std::move(inner), no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
    }
    CHECK(destroyed == 2);
}

TEST_CASE("handler_owns_the_wheel_aborts_undelivered_are_destroyed") {
    int destroyed = 0;
    {
        asio::io_context io;
        auto wheel = std::make_shared<manual_timer_wheel>(io);
        wheel->async_wait(1h, [wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        wheel->stop();
        wheel->async_wait(1h, [wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
    }
    CHECK(destroyed == 2);
}

TEST_CASE("destroyed_handler_may_still_call_the_wheel") {
    bool asked = false;
    {
        asio::io_context io;
        auto wheel = std::make_shared<manual_timer_wheel>(io);
        struct probe {
            std::shared_ptr<manual_timer_wheel> wheel;
            manual_timer_wheel::token_type token;
            bool* asked;
            probe(std::shared_ptr<manual_timer_wheel> w, manual_timer_wheel::token_type t, bool& a)
                : wheel(std::move(w)), token(t), asked(&a) {}
            probe(probe&&) = default;
            ~probe() {
                if (wheel == nullptr) return;
                *asked = true;
                CHECK(wheel->pending() == 0);
                CHECK_FALSE(token.cancel());
                CHECK_FALSE(token.pending());
                CHECK_FALSE(static_cast<bool>(wheel->schedule(1s, must_not_run())));
                wheel->async_wait(1s, must_not_run());
                CHECK(wheel->cancel_all() == 0);
                CHECK(wheel->stop() == 0);
            }
            void operator()(std::error_code) const { FAIL("ran"); }
        };
        const auto token = wheel->schedule(1h, must_not_run());
        wheel->async_wait(1h, probe(wheel, token, asked));
        wheel.reset();
    }
    CHECK(asked);
}

namespace {

/// Its destructor makes a wheel, and starts a wait whose handler owns that wheel.
struct late_wheel {
    asio::io_context* io;
    int* destroyed;
    late_wheel(asio::io_context& context, int& n) : io(&context), destroyed(&n) {}
    late_wheel(late_wheel&& other) noexcept : io(std::exchange(other.io, nullptr)), destroyed(other.destroyed) {}
    ~late_wheel() {
        if (io == nullptr) return;
        auto wheel = std::make_shared<manual_timer_wheel>(*io);
        wheel->async_wait(1h, [wheel, no = must_not_run(destroyed)](std::error_code ec) { no(ec); });
        CHECK_FALSE(static_cast<bool>(wheel->schedule(1s, [wheel] { FAIL("ran"); })));
    }
    void operator()() const { FAIL("ran"); }
};

} // namespace

TEST_CASE("destroyed_handler_makes_a_wheel_that_takes_no_timer") {
    int destroyed = 0;
    {
        asio::io_context io;
        manual_timer_wheel wheel(io);
        wheel.schedule(1h, late_wheel(io, destroyed));
        asio::post(io, late_wheel(io, destroyed)); // destroyed after our service shut down
        const manual_timer_wheel other(io);
    }
    CHECK(destroyed == 2);
}

TEST_CASE("posted_function_owns_the_wheel_destroyed_after_our_service_shut_down") {
    int destroyed = 0;
    {
        asio::io_context io;
        auto wheel = std::make_shared<manual_timer_wheel>(io);
        wheel->async_wait(1h, must_not_run(&destroyed));
        asio::post(io, [wheel] {});
    }
    CHECK(destroyed == 1);
}

TEST_CASE("wheel_on_a_strand_younger_than_the_service_context_destroyed") {
    int destroyed = 0;
    {
        asio::io_context io;
        {
            const manual_timer_wheel first(io);
        } // its service is made here, the strand's below
        auto wheel = std::make_shared<manual_timer_wheel>(asio::make_strand(io));
        wheel->async_wait(1h, [wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
    }
    CHECK(destroyed == 1);
}

TEST_CASE("wheel_on_a_thread_pool_destroyed_with_waits_pending") {
    int destroyed = 0;
    {
        asio::thread_pool pool(2);
        auto wheel = std::make_shared<timer_wheel>(pool.get_executor());
        wheel->async_wait(1h, [wheel, no = must_not_run(&destroyed)](std::error_code ec) { no(ec); });
        pool.stop();
        pool.join();
    }
    CHECK(destroyed == 1);
}

namespace {

/// Notes how many copies of the executor there are when it goes: before all services that are older.
struct last_look : asio::execution_context::service {
    using key_type = last_look;
    static inline asio::execution_context::id id;

    executor_note* note = nullptr;
    int* copies = nullptr;

    explicit last_look(asio::execution_context& context) : asio::execution_context::service(context) {}
    ~last_look() override { *copies = note->copies; }

private:
    void shutdown() noexcept override {}
};

} // namespace

// A strand's last copy looks for its service, which may be younger than the wheel's.
TEST_CASE("wheels_executor_is_gone_before_younger_services_are") {
    executor_note note;
    int copies = -1;
    {
        asio::io_context io;
        {
            manual_timer_wheel wheel(asio::any_io_executor(noted_executor<false>(io, note)));
            wheel.async_wait(1h, must_not_run());
        }
        auto& look = asio::use_service<last_look>(io);
        look.note = &note;
        look.copies = &copies;
        CHECK(note.copies > 0);
    }
    CHECK(copies == 0);
}

TEST_CASE("wheels_executor_goes_with_the_wheel") {
    executor_note note;
    asio::io_context io;
    {
        const manual_timer_wheel wheel(asio::any_io_executor(noted_executor<false>(io, note)));
        CHECK(note.copies > 0);
    }
    CHECK(note.copies == 0);
}
