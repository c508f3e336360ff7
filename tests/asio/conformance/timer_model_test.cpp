// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timer objects against the obvious model, a list of waits for each: random steps, every result and every completion
// compared.
#include "support/asio/every_wait.hpp"
#include "support/asio/handler_archetypes.hpp"
#include "support/random.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <deque>
#include <map>
#include <memory>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

constexpr auto tick_length = 1ms;

struct model_wait {
    int number;
    std::unique_ptr<asio::cancellation_signal> signal;
};
struct model_timer {
    manual_clock::time_point expiry{};
    std::deque<model_wait> waits;
};

template <class T>
class timer_rig {
public:
    explicit timer_rig(std::uint64_t seed) : random_(seed), w_({.tick = tick_length, .slots = 8, .work_per_turn = 5}) {
        for (int i = 0; i < 4; ++i) add();
    }

    void step() {
        const std::size_t i = random_.below(timers_.size());
        auto& timer = *timers_[i];
        model_timer& m = models_[i];
        switch (random_.below(12)) {
        case 0:
        case 1:
        case 2: {
            auto signal = std::make_unique<asio::cancellation_signal>();
            const int number = next_++;
            timer.async_wait(asio::bind_cancellation_slot(signal->slot(), [this, number](std::error_code ec) {
                CHECK_MESSAGE(outcomes_.emplace(number, ec).second, "wait ", number, " completed twice");
            }));
            m.waits.push_back({number, std::move(signal)});
            break;
        }
        case 3: {
            const auto at = some_point();
            CHECK(timer.expires_at(at) == abort_all(m));
            m.expiry = at;
            break;
        }
        case 4:
            CHECK(timer.cancel() == abort_all(m));
            break;
        case 5:
            CHECK(timer.cancel_one() == (m.waits.empty() ? 0U : 1U));
            if (!m.waits.empty()) abort(m, 0);
            break;
        case 6: {
            const auto at = some_point();
            CHECK(timer.reschedule(at) == !m.waits.empty());
            m.expiry = at;
            break;
        }
        case 7:
            if (!m.waits.empty()) {
                const std::size_t k = random_.below(m.waits.size());
                m.waits[k].signal->emit(asio::cancellation_type::total);
                abort(m, k);
            }
            break;
        case 8: { // by construction, and back by assignment
            auto moved = std::make_unique<typename T::timer_type>(std::move(timer));
            if (random_.below(2) == 0)
                timer = std::move(*moved);
            else
                timers_[i] = std::move(moved);
            break;
        }
        case 9:
            abort_all(m);
            m.expiry = {};
            timers_[i] = std::make_unique<typename T::timer_type>(w_.wheel);
            break;
        default:
            w_.run(); // aborts are delivered before time passes
            compare();
            w_.pass(std::chrono::microseconds(random_.below(3000)));
            expire();
            compare();
        }
        std::size_t pending = 0;
        for (std::size_t k = 0; k < timers_.size(); ++k) {
            CHECK(timers_[k]->expiry() == models_[k].expiry);
            pending += !models_[k].waits.empty();
        }
        CHECK(w_.wheel.pending() == pending);
        CHECK(counts_agree(w_.wheel.stats()));
    }

    ~timer_rig() {
        timers_.clear();
        for (auto& m : models_) abort_all(m);
        w_.run();
        compare();
        CHECK(outcomes_.size() == static_cast<std::size_t>(next_));
    }

private:
    void add() {
        timers_.push_back(std::make_unique<typename T::timer_type>(w_.wheel));
        models_.emplace_back();
    }
    manual_clock::time_point some_point() {
        return manual_clock::now() + std::chrono::microseconds(random_.below(20'000)) - 2ms;
    }
    void abort(model_timer& m, std::size_t k) {
        expected_.emplace(m.waits[k].number, asio::error::operation_aborted);
        kept_.push_back(std::move(m.waits[k].signal)); // a slot must outlive its wait's completion
        m.waits.erase(m.waits.begin() + static_cast<std::ptrdiff_t>(k));
    }
    std::size_t abort_all(model_timer& m) {
        const std::size_t n = m.waits.size();
        while (!m.waits.empty()) abort(m, 0);
        return n;
    }
    // By the promise: at the first tick that is not before the expiry. The wheel's origin is a whole number of ticks
    // away.
    void expire() {
        const auto reached = start_ + (manual_clock::now() - start_) / tick_length * tick_length;
        for (auto& m : models_) {
            if (m.expiry > reached) continue;
            for (auto& wait : m.waits) {
                expected_.emplace(wait.number, std::error_code());
                kept_.push_back(std::move(wait.signal));
            }
            m.waits.clear();
        }
    }
    void compare() {
        expire(); // what was overdue when it was armed
        CHECK((outcomes_ == expected_));
        kept_.clear();
    }

    random_source random_;
    manual_clock::time_point start_ = manual_clock::now();
    T w_;
    std::vector<std::unique_ptr<typename T::timer_type>> timers_;
    std::deque<model_timer> models_; // which never moves them: they cannot be copied
    std::map<int, std::error_code> expected_, outcomes_;
    std::vector<std::unique_ptr<asio::cancellation_signal>> kept_;
    int next_ = 0;
};

} // namespace

TEST_CASE_TEMPLATE("random_steps_every_result_and_completion_as_the_model_says", T, EVERY_TIMER) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        timer_rig<T> rig(seed);
        for (int i = 0; i < 300; ++i) rig.step();
    }
}
