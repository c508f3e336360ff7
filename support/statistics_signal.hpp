// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// SIGUSR1: how is it going? The answer goes to standard error, and nothing is interrupted.
#pragma once

#include "support/output.hpp"

#include <asio/signal_set.hpp>

#include <csignal>
#include <functional>
#include <string>

/// For one thread or strand, that of the executor. Lifetime: stopped, and the context has run, before it goes.
class statistics_signal {
public:
    statistics_signal(const asio::any_io_executor& executor, std::function<std::string()> text)
        : signals_{executor, SIGUSR1}, text_{std::move(text)} {
        wait();
    }
    statistics_signal(const statistics_signal&) = delete;
    statistics_signal& operator=(const statistics_signal&) = delete;

    void stop() {
        std::error_code ignored;
        signals_.cancel(ignored);
    }

private:
    void wait() {
        signals_.async_wait([this](std::error_code stopped, int) {
            if (stopped) return;
            output::complain("{}", text_());
            wait();
        });
    }

    asio::signal_set signals_;
    std::function<std::string()> text_;
};
