// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What holds on to a wheel's state beside its timer_wheel, which may go first: a state in use is not handed out again.
#pragma once

namespace cogwheel::detail {

/// Complexity: the engine's lock, twice. Lifetime: the execution context outlives it.
template <class Engine>
class engine_user {
public:
    explicit engine_user(Engine& engine) noexcept : engine_(&engine) {
        const auto lock = engine.lock();
        engine.join();
    }
    ~engine_user() {
        auto lock = engine_->lock();
        engine_->leave(lock);
    }
    engine_user(const engine_user&) = delete;
    engine_user& operator=(const engine_user&) = delete;
    Engine& operator*() const noexcept { return *engine_; }
    Engine* operator->() const noexcept { return engine_; }

private:
    Engine* engine_;
};

} // namespace cogwheel::detail
