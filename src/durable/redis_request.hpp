// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Commands that were sent together, and what their caller waits for.
#pragma once

#include <cogwheel/durable/detail/completion.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class redis_request {
public:
    explicit redis_request(std::size_t n) : expected(n) {}
    virtual ~redis_request() = default;

    /// Called once. With success, `replies` is complete. It may run the caller's handler, which may throw.
    virtual void complete(error_code ec) = 0;

    const std::size_t expected; // replies
    std::vector<redis_reply> replies{};
    std::chrono::steady_clock::time_point deadline{}; // the connection sets it, unless it is set
};

using redis_request_ptr = std::unique_ptr<redis_request>;

class single_request final : public redis_request {
public:
    explicit single_request(completion<redis_reply> done) : redis_request(1), done_(std::move(done)) {}
    void complete(error_code ec) override {
        if (ec)
            done_(ec);
        else
            done_(ec, std::move(replies.front()));
    }

private:
    completion<redis_reply> done_;
};

class batch_request final : public redis_request {
public:
    batch_request(std::size_t n, completion<std::vector<redis_reply>> done)
        : redis_request(n), done_(std::move(done)) {}
    void complete(error_code ec) override {
        if (ec) replies.clear();
        done_(ec, std::move(replies));
    }

private:
    completion<std::vector<redis_reply>> done_;
};

/// Completes requests in order, on a strand. If a handler throws, the others follow in a later turn of the strand.
template <class Strand>
class completed_requests : public std::enable_shared_from_this<completed_requests<Strand>> {
public:
    explicit completed_requests(const Strand& s) : strand_(s) {}

    void add(redis_request_ptr request, error_code ec) { waiting_.push_back({std::move(request), ec}); }
    void deliver() {
        if (delivering_) return; // a handler ran into this strand again
        struct leave {
            completed_requests& self;
            ~leave() {
                self.delivering_ = false;
                if (!self.waiting_.empty())
                    asio::post(self.strand_, [again = self.shared_from_this()] { again->deliver(); });
            }
        };
        const leave at_end{*this};
        delivering_ = true;
        while (!waiting_.empty()) {
            const auto first = std::move(waiting_.front());
            waiting_.pop_front();
            first.request->complete(first.error);
        }
    }

private:
    struct one {
        redis_request_ptr request;
        error_code error;
    };

    Strand strand_;
    std::deque<one> waiting_;
    bool delivering_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
