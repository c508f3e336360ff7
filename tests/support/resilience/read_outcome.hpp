// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads that are made in several attempts: what came of them, handlers that note it, and attempts that misbehave.
#pragma once

#include "support/tracking_allocator.hpp"

#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <system_error>

namespace cogwheel_tests {

/// What the read completed with, and how often. Summary: retry_result, hedge_result.
template <class Summary>
struct read_outcome {
    std::error_code ec;
    Summary result;
    std::size_t bytes = 0;
    int times = 0;

    auto handler() {
        return [this](std::error_code e, const Summary& r, std::size_t n) {
            ec = e;
            result = r;
            bytes = n;
            ++times;
        };
    }
};

/// A handler whose destruction shows in its life.
template <class Summary>
struct noting_handler {
    read_outcome<Summary>* out;
    std::shared_ptr<int> life = std::make_shared<int>();

    void operator()(std::error_code ec, const Summary& result, std::size_t n) { out->handler()(ec, result, n); }
};
template <class Summary>
noting_handler(read_outcome<Summary>*) -> noting_handler<Summary>;
template <class Summary>
noting_handler(read_outcome<Summary>*, std::shared_ptr<int>) -> noting_handler<Summary>;

/// The same with an allocator, all of whose memory has to be back when it is called.
template <class Summary>
struct logging_handler {
    using allocator_type = tracking_allocator<char>;

    read_outcome<Summary>* out;
    allocation_log* log;
    std::shared_ptr<int> life = std::make_shared<int>();

    allocator_type get_allocator() const noexcept { return allocator_type(*log); }
    void operator()(std::error_code ec, const Summary& result, std::size_t n) {
        CHECK(log->live == 0);
        out->handler()(ec, result, n);
    }
};
template <class Summary>
logging_handler(read_outcome<Summary>*, allocation_log*) -> logging_handler<Summary>;

/// A read that is over soon: by a post, or, as no operation should, before its initiating function returns.
enum class ends { posted, inside };
template <class Token>
auto async_quick_read(asio::io_context& io, ends how, std::error_code ec, std::size_t n, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, std::size_t)>(
        [&io, how, ec, n](auto handler) {
            if (how == ends::inside) return std::move(handler)(ec, n);
            const auto at = asio::get_associated_executor(handler, io.get_executor());
            asio::post(at, [h = std::move(handler), ec, n]() mutable { std::move(h)(ec, n); });
        },
        token);
}

/// A read that throws when it has its handler already.
template <class Token>
auto async_throwing_read(Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, std::size_t)>(
        [](auto handler) {
            [[maybe_unused]] const auto taken = std::move(handler);
            throw std::bad_alloc();
        },
        token);
}

} // namespace cogwheel_tests
