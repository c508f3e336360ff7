// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A reply of a Redis server (RESP2): a value.
#pragma once

#include <cogwheel/durable/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A reply. Its type says which members have a value.
class redis_reply {
public:
    enum class kind : std::uint8_t { nil, integer, string, status, error, array };

    redis_reply() = default;
    static redis_reply integer(std::int64_t value) {
        redis_reply r;
        r.kind_ = kind::integer;
        r.integer_ = value;
        return r;
    }
    /// k: string, status or error.
    static redis_reply text(kind k, std::string bytes) {
        redis_reply r;
        r.kind_ = k;
        r.text_ = std::move(bytes);
        return r;
    }
    static redis_reply array(std::vector<redis_reply> elements) {
        redis_reply r;
        r.kind_ = kind::array;
        r.elements_ = std::move(elements);
        return r;
    }

    kind what() const noexcept { return kind_; }
    bool is_nil() const noexcept { return kind_ == kind::nil; }
    bool is_error() const noexcept { return kind_ == kind::error; }
    bool is_array() const noexcept { return kind_ == kind::array; }
    /// Of an integer; else 0.
    std::int64_t integer() const noexcept { return integer_; }
    /// Of a string, a status or an error, such as "WRONGTYPE Operation against a key ..."; else empty.
    const std::string& text() const noexcept { return text_; }
    std::string& text() noexcept { return text_; }
    /// Of an array; else empty.
    const std::vector<redis_reply>& elements() const noexcept { return elements_; }
    std::vector<redis_reply>& elements() noexcept { return elements_; }

    /// Returns the code of an error reply by its first word (OOM, WRONGTYPE, NOAUTH, LOADING, ...), or success.
    error_code error() const noexcept;

private:
    std::int64_t integer_ = 0;
    std::string text_;
    std::vector<redis_reply> elements_;
    kind kind_ = kind::nil;
};
std::string_view to_string(redis_reply::kind) noexcept; ///< the name of the constant

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
