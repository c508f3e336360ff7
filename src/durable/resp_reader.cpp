// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "resp_reader.hpp"

#include <algorithm>
#include <new>

#include <hiredis/read.h>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

namespace {

constexpr std::size_t longest_line = 64 * 1024;

// An element lies in its parent's vector. The parser fills one element after the other, depth first, so a vector that
// grows moves only finished elements.
void* place(const redisReadTask* task, redis_reply (*make)(const redisReadTask*, char*, std::size_t), char* text,
            std::size_t length) noexcept {
    try { // the caller is C code
        if (task->parent == nullptr) return std::make_unique<redis_reply>(make(task, text, length)).release();
        auto& siblings = static_cast<redis_reply*>(task->parent->obj)->elements();
        siblings.push_back(make(task, text, length));
        return &siblings.back();
    } catch (const std::bad_alloc&) {
        return nullptr; // the parser's word for "out of memory"
    }
}

void* create_string(const redisReadTask* task, char* text, std::size_t length) {
    return place(
        task,
        [](const redisReadTask* t, char* bytes, std::size_t n) {
            const auto kind = t->type == REDIS_REPLY_ERROR    ? redis_reply::kind::error
                              : t->type == REDIS_REPLY_STATUS ? redis_reply::kind::status
                                                              : redis_reply::kind::string;
            return redis_reply::text(kind, std::string(bytes, n));
        },
        text, length);
}

void* create_array(const redisReadTask* task, int elements) {
    return place(
        task,
        [](const redisReadTask*, char*, std::size_t n) {
            std::vector<redis_reply> values;
            values.reserve(std::min(n, std::size_t{64})); // the peer may promise more than it sends
            return redis_reply::array(std::move(values));
        },
        nullptr, static_cast<std::size_t>(std::max(elements, 0)));
}

void* create_integer(const redisReadTask* task, long long value) {
    void* const made =
        place(task, [](const redisReadTask*, char*, std::size_t) { return redis_reply::integer(0); }, nullptr, 0);
    if (made != nullptr) *static_cast<redis_reply*>(made) = redis_reply::integer(value);
    return made;
}

void* create_nil(const redisReadTask* task) {
    return place(task, [](const redisReadTask*, char*, std::size_t) { return redis_reply(); }, nullptr, 0);
}

void free_object(void* root) { delete static_cast<redis_reply*>(root); }

redisReplyObjectFunctions* functions() noexcept {
    static redisReplyObjectFunctions table{create_string, create_array, create_integer, create_nil, free_object};
    return &table;
}

} // namespace

void resp_reader::deleter::operator()(redisReader* r) const noexcept { redisReaderFree(r); }

resp_reader::resp_reader(std::size_t max_reply)
    : reader_(redisReaderCreateWithFunctions(functions())), max_reply_(max_reply) {
    if (reader_ == nullptr) throw std::bad_alloc();
}

void resp_reader::feed(std::string_view bytes) {
    if (bytes.empty() || bad_) return;
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
        bad_ = true;
        message_ = redisReaderGetError(reader_.get());
    }
    fed_ += bytes.size();
}

resp_reader::outcome resp_reader::next(redis_reply& out) {
    if (bad_) return outcome::bad;
    void* made = nullptr;
    if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) {
        bad_ = true;
        message_ = redisReaderGetError(reader_.get());
        return outcome::bad;
    }
    const std::size_t rest = made != nullptr ? reader_->len - reader_->pos : 0;
    if (fed_ - rest > max_reply_) {
        free_object(made);
        bad_ = true;
        message_ = "the reply has more than " + std::to_string(max_reply_) + " bytes";
        return outcome::bad;
    }
    if (made == nullptr) {
        // The parser looks for the end of a line from its start each time.
        const std::string_view line(reader_->buf + reader_->pos, reader_->len - reader_->pos);
        if (line.size() <= longest_line || line.substr(0, longest_line).find("\r\n") != line.npos) return outcome::more;
        bad_ = true;
        message_ = "a line has more than " + std::to_string(longest_line) + " bytes";
        return outcome::bad;
    }
    fed_ = rest;
    const std::unique_ptr<redis_reply> reply(static_cast<redis_reply*>(made));
    out = std::move(*reply);
    return outcome::reply;
}

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
