// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a chaos proxy does to a connection: a script for each direction, made from a seed and the connection's number,
// so that a run that failed can be run again. Knows neither sockets nor clock: a cursor says what comes next.
#pragma once

#include "support/random.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cogwheel_tests {

enum class chaos {
    forward,  ///< `bytes`, untouched
    delay,    ///< `bytes`, each lot that arrives is held back for `time`
    split,    ///< `bytes`, in pieces of `piece`, each after `time`
    stall,    ///< nothing is read for `time`
    swallow,  ///< for ever: what comes is dropped, until the sender gives up
    truncate, ///< closes both ways, by FIN
    reset,    ///< the same by RST: what is under way may be lost
};
constexpr std::size_t chaos_kinds = 7;

inline const char* name_of(chaos kind) {
    constexpr std::array<const char*, chaos_kinds> names{"forward", "delay",    "split", "stall",
                                                         "swallow", "truncate", "reset"};
    return names.at(static_cast<std::size_t>(kind));
}

struct chaos_step {
    chaos kind = chaos::forward;
    std::size_t bytes = 0;
    std::chrono::milliseconds time{0};
    std::size_t piece = 1;
};

/// The steps of one direction; after the last one everything is forwarded.
using chaos_script = std::vector<chaos_step>;

struct chaos_plan {
    chaos_script up;   ///< client to server
    chaos_script down; ///< server to client
};

/// For people: "forward 120, stall 40ms, reset".
inline std::string describe(const chaos_script& script) {
    std::string text;
    for (const chaos_step& s : script) {
        if (!text.empty()) text += ", ";
        text += name_of(s.kind);
        if (s.kind == chaos::forward || s.kind == chaos::delay || s.kind == chaos::split)
            text += ' ' + std::to_string(s.bytes);
        if (s.kind == chaos::split) text += " by " + std::to_string(s.piece);
        if (s.kind == chaos::delay || s.kind == chaos::split || s.kind == chaos::stall)
            text += ' ' + std::to_string(s.time.count()) + "ms";
    }
    return text.empty() ? "forward" : text;
}
inline std::string describe(const chaos_plan& plan) {
    return "up: " + describe(plan.up) + "; down: " + describe(plan.down);
}

/// How often what happens: weights, and the largest sizes and times.
struct chaos_profile {
    std::array<unsigned, chaos_kinds> weights{40, 15, 15, 15, 5, 5, 5}; // in the order of `chaos`
    std::size_t most_steps = 6;
    std::size_t most_bytes = 2000;
    std::size_t largest_piece = 20;
    std::chrono::milliseconds longest{50};

    static chaos_profile of_delays_only() { return {.weights = {40, 20, 20, 20, 0, 0, 0}}; }
};

/// The plan for the connection of that number. The same for the same arguments, always.
inline chaos_plan make_chaos(std::uint64_t seed, std::uint64_t connection, const chaos_profile& profile = {}) {
    random_source random(seed ^ random_source(connection)());
    std::uint64_t sum = 0;
    for (const unsigned w : profile.weights) sum += w;
    const auto make_script = [&] {
        chaos_script script;
        const std::uint64_t steps = sum == 0 ? 0 : random.below(profile.most_steps + 1);
        while (script.size() < steps) {
            std::uint64_t at = random.below(sum);
            std::size_t kind = 0;
            for (; at >= profile.weights[kind]; ++kind) at -= profile.weights[kind];
            chaos_step step;
            step.kind = static_cast<chaos>(kind);
            step.bytes = 1 + random.below(profile.most_bytes);
            step.piece = 1 + random.below(profile.largest_piece);
            step.time =
                std::chrono::milliseconds(1 + random.below(static_cast<std::uint64_t>(profile.longest.count())));
            if (step.kind == chaos::split) { // a dribble of thousands of pauses would be a stall
                step.bytes = std::min(step.bytes, 20 * step.piece);
                step.time = std::max(step.time / 20, std::chrono::milliseconds(1));
            }
            script.push_back(step);
            if (step.kind >= chaos::swallow) break;
        }
        return script;
    };
    chaos_plan plan;
    plan.up = make_script();
    plan.down = make_script();
    return plan;
}

/// One direction's way through its script. The caller obeys next(), says forwarded() after each order to forward, and
/// asks again.
class chaos_cursor {
public:
    enum class what { read, forward, wait, drop, close, reset };
    struct order {
        what todo;
        std::size_t bytes = 0;             // of forward, drop
        std::chrono::milliseconds time{0}; // of wait
        const chaos_step* begun = nullptr; // the step that begins with this order
    };

    explicit chaos_cursor(chaos_script script) : script_(std::move(script)) {}

    /// What to do with `buffered` bytes at hand.
    order next(std::size_t buffered) {
        if (cut_) return buffered == 0 ? order{what::read} : order{what::drop, buffered};
        for (; at_ < script_.size(); step_over()) {
            const chaos_step& step = script_[at_];
            const std::size_t left = step.bytes - done_;
            switch (step.kind) {
            case chaos::forward:
            case chaos::delay:
            case chaos::split:
                if (left == 0) continue;
                if (buffered == 0) return {what::read};
                if (step.kind != chaos::forward && step.time.count() > 0 && !std::exchange(waited_, true))
                    return begin({what::wait, 0, step.time}, step);
                return begin({what::forward, std::min({buffered, left, piece_of(step)})}, step);
            case chaos::stall:
                if (std::exchange(waited_, true)) continue;
                return begin({what::wait, 0, step.time}, step);
            case chaos::swallow:
                return begin(buffered == 0 ? order{what::read} : order{what::drop, buffered}, step);
            case chaos::truncate:
                return begin({what::close}, step);
            case chaos::reset:
                return begin({what::reset}, step);
            }
        }
        if (buffered == 0) return {what::read};
        return {what::forward, buffered};
    }

    void forwarded(std::size_t bytes) {
        if (at_ == script_.size()) return;
        done_ += bytes;
        waited_ = false;
    }

    /// The end of the script, wherever it was: what still comes is dropped.
    void cut() { cut_ = true; }

    /// Is what arrives dropped, because the script says so?
    bool swallows() const { return !cut_ && at_ < script_.size() && script_[at_].kind == chaos::swallow; }

private:
    static std::size_t piece_of(const chaos_step& step) {
        return step.kind == chaos::split ? std::max<std::size_t>(step.piece, 1)
                                         : std::numeric_limits<std::size_t>::max();
    }
    order begin(order o, const chaos_step& step) {
        if (!std::exchange(begun_, true)) o.begun = &step;
        return o;
    }
    void step_over() {
        ++at_;
        done_ = 0;
        waited_ = begun_ = false;
    }

    chaos_script script_;
    std::size_t at_ = 0;
    std::size_t done_ = 0;
    bool waited_ = false;
    bool begun_ = false;
    bool cut_ = false;
};

} // namespace cogwheel_tests
