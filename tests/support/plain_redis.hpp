// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A blocking connection to the redis-server of a test, by hiredis.
#pragma once

#include "support/pipe_signal_blocked.hpp"

#include <cogwheel/durable/redis_command.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <hiredis/hiredis.h>

namespace cogwheel_tests {

class plain_redis {
public:
    explicit plain_redis(const std::string& socket) : context_(redisConnectUnix(socket.c_str())) {
        if (!context_ || context_->err != 0) throw std::runtime_error("cannot connect to " + socket);
    }

    cogwheel::redis_reply operator()(const cogwheel::redis_command& command) {
        const pipe_signal_blocked quiet;
        append(command);
        return next_reply();
    }
    /// Sends them in one write.
    std::vector<cogwheel::redis_reply> together(const std::vector<cogwheel::redis_command>& commands) {
        const pipe_signal_blocked quiet;
        for (const auto& c : commands) append(c);
        std::vector<cogwheel::redis_reply> replies;
        for (std::size_t i = 0; i < commands.size(); ++i) replies.push_back(next_reply());
        return replies;
    }

private:
    struct free_context {
        void operator()(redisContext* c) const { redisFree(c); }
    };
    struct free_reply {
        void operator()(redisReply* r) const { freeReplyObject(r); }
    };

    void append(const cogwheel::redis_command& command) {
        bytes_.clear();
        command.append_to(bytes_);
        redisAppendFormattedCommand(context_.get(), bytes_.data(), bytes_.size());
    }
    cogwheel::redis_reply next_reply() {
        void* raw = nullptr;
        if (redisGetReply(context_.get(), &raw) != REDIS_OK) throw std::runtime_error(context_->errstr);
        const std::unique_ptr<redisReply, free_reply> reply(static_cast<redisReply*>(raw));
        return converted(*reply);
    }

    static cogwheel::redis_reply converted(const redisReply& r) {
        using reply = cogwheel::redis_reply;
        switch (r.type) {
        case REDIS_REPLY_INTEGER:
            return reply::integer(r.integer);
        case REDIS_REPLY_STRING:
            return reply::text(reply::kind::string, std::string(r.str, r.len));
        case REDIS_REPLY_STATUS:
            return reply::text(reply::kind::status, std::string(r.str, r.len));
        case REDIS_REPLY_ERROR:
            return reply::text(reply::kind::error, std::string(r.str, r.len));
        case REDIS_REPLY_ARRAY: {
            std::vector<reply> elements;
            for (std::size_t i = 0; i < r.elements; ++i) elements.push_back(converted(*r.element[i]));
            return reply::array(std::move(elements));
        }
        default:
            return {};
        }
    }

    std::unique_ptr<redisContext, free_context> context_;
    std::string bytes_;
};

} // namespace cogwheel_tests
