// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "resp_reader.hpp"

#include <algorithm>
#include <charconv>
#include <new>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr std::size_t most_open = 8; // arrays
constexpr std::size_t kept_room = 64 * 1024;

std::optional<std::int64_t> number(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

std::string too_long(std::size_t limit) { return "the reply has more than " + std::to_string(limit) + " bytes"; }

} // namespace

void resp_reader::feed(std::string_view bytes) noexcept {
    if (bad_) return;
    try {
        if (at_ == bytes_.size() && bytes_.capacity() > kept_room) bytes_ = std::string(); // {} would keep its memory
        bytes_.erase(0, at_);
        at_ = 0;
        bytes_ += bytes;
    } catch (const std::bad_alloc&) {
        fail("no memory");
    }
}

resp_reader::outcome resp_reader::next(redis_reply& out) noexcept {
    try {
        while (!bad_) {
            auto read = read_element();
            if (length_ + (read ? 0 : bytes_.size() - at_) > max_reply_) fail(too_long(max_reply_));
            if (bad_) break;
            if (!read) return outcome::more;
            if (!completes(*read)) continue;
            out = std::move(read->value);
            length_ = 0;
            return outcome::reply;
        }
    } catch (const std::bad_alloc&) {
        fail("no memory");
    }
    return outcome::bad;
}

// Returns nothing if the element is incomplete or bad.
std::optional<resp_reader::element> resp_reader::read_element() {
    if (at_ < bytes_.size() && std::string_view("+-:$*").find(bytes_[at_]) == std::string_view::npos) {
        fail("a reply begins with byte " + std::to_string(static_cast<unsigned char>(bytes_[at_])) +
             ", which is not RESP2");
        return std::nullopt;
    }
    const std::size_t end = bytes_.find("\r\n", at_ + searched_);
    if (std::min(end, bytes_.size()) - at_ > longest_line) {
        fail("a line has more than " + std::to_string(longest_line) + " bytes");
        return std::nullopt;
    }
    if (end == bytes_.npos) {
        searched_ = std::max(bytes_.size() - at_, std::size_t{1}) - 1; // the last byte may be the first of an end
        return std::nullopt;
    }
    const std::string_view line = std::string_view(bytes_).substr(at_, end - at_);
    const char type = line.front();
    const std::string_view rest = line.substr(1);
    const auto n = number(rest);
    const bool sized = type == '$' || type == '*';
    std::size_t after = end + 2;
    element read{};
    if (type == '+' || type == '-') {
        using kind = redis_reply::kind;
        read.value = redis_reply::text(type == '+' ? kind::status : kind::error, std::string(rest));
    } else if (type == ':' && n) {
        read.value = redis_reply::integer(*n);
    } else if (sized && n && *n >= 0) {
        const auto size = static_cast<std::size_t>(*n);
        if (static_cast<std::uint64_t>(*n) > max_reply_) { // an element of an array has some bytes, too
            fail(too_long(max_reply_));
            return std::nullopt;
        }
        if (type == '$') {
            const std::string_view text = std::string_view(bytes_).substr(after);
            if (text.size() < size || text.size() - size < 2) return std::nullopt;
            if (text.substr(size, 2) != "\r\n") fail("a string is longer than " + std::to_string(size) + " bytes");
            read.value = redis_reply::text(redis_reply::kind::string, std::string(text.substr(0, size)));
            after += size + 2;
        } else {
            if (open_.size() == most_open) fail("arrays are nested more than 7 deep");
            std::vector<redis_reply> elements;
            elements.reserve(std::min<std::size_t>(size, 64)); // the peer may promise more than it sends
            read = {redis_reply::array(std::move(elements)), size};
        }
    } else if (!sized || n != -1) { // -1: nil
        fail("a reply begins with \"" + std::string(line.substr(0, 40)) + "\", which is not RESP2");
    }
    length_ += after - at_;
    at_ = after;
    searched_ = 0;
    return read;
}

// Gives the element to the array that waits for it. Returns whether a reply is complete: then `read` has become it.
bool resp_reader::completes(element& read) {
    if (read.children > 0) {
        open_.push_back(std::move(read));
        return false;
    }
    while (!open_.empty()) {
        element& parent = open_.back();
        parent.value.elements().push_back(std::move(read.value));
        if (--parent.children > 0) return false;
        read = std::move(parent);
        open_.pop_back();
    }
    return true;
}

void resp_reader::fail(std::string why) noexcept {
    bad_ = true;
    message_ = std::move(why);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
