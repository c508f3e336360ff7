// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "failure/trial.hpp"

#include <algorithm>

namespace failure {

watched::~watched() {
    if (trial_ != nullptr) trial_->ledger_[number_].gone = true;
}

void watched::called() {
    if (trial_ == nullptr) return;
    trial& t = *std::exchange(trial_, nullptr);
    ++t.ledger_[number_].called;
    t.ledger_[number_].gone = true;
}

// True: run() returned. A stuck one is a fault: everything here takes some milliseconds.
bool trial::run_once() {
    if (stuck_) return true;
    const bool returned = attempt([&] {
        if (io.stopped()) io.restart();
        io.run_for(std::chrono::seconds(1));
        stuck_ = !io.stopped();
        if (stuck_) fault("run() does not return");
    });
    run_threw_ = run_threw_ || !returned;
    return returned;
}

void trial::run() {
    // Without memory each run may throw, and nothing may get on: a few times will do.
    for (int i = 0; i < 4 && !run_once(); ++i) {
    }
}

void trial::settle() {
    heap::recover();
    for (int i = 0; i < 100; ++i)
        if (run_once()) return;
    fault("run() throws again and again, though memory is back");
}

std::size_t trial::lost() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(ledger_.begin(), ledger_.end(), [&](const entry& e) { return !accounted(e); }));
}

std::size_t trial::told_by_run() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(ledger_.begin(), ledger_.end(), [&](const entry& e) { return told_by_run(e); }));
}

const char* trial::verdict() const noexcept {
    if (fault_ != nullptr) return fault_;
    for (const entry& e : ledger_) {
        if (accounted(e)) continue;
        if (e.called > 1) return "called twice";
        if (e.called == 1) return "called, though its start threw";
        return e.gone ? "lost: destroyed, never called" : "lost: it never ends";
    }
    return nullptr;
}

} // namespace failure
