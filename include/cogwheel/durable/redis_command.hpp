// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A command for a Redis server, as the bytes of its arguments (RESP):
//
//     cogwheel::redis_command("SET").key("greeting").add("hello").add("EX").add(60)
//     cogwheel::redis_command{"CONFIG", "GET", "maxmemory-policy"}
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Builds one command. Arguments may hold any bytes. A value: one buffer, cheap to move.
/// Errors: std::bad_alloc.
class redis_command {
public:
    redis_command() = default;
    explicit redis_command(std::string_view name) { append(name); }
    redis_command(std::initializer_list<std::string_view> arguments) {
        for (const std::string_view a : arguments) append(a);
    }

    /// Appends an argument.
    redis_command& add(std::string_view argument) & {
        append(argument);
        return *this;
    }
    redis_command&& add(std::string_view argument) && {
        append(argument);
        return std::move(*this);
    }
    /// The same with a number, in decimal.
    template <std::integral T>
    redis_command& add(T number) & {
        append_number(number);
        return *this;
    }
    template <std::integral T>
    redis_command&& add(T number) && {
        append_number(number);
        return std::move(*this);
    }

    /// Appends an argument that is a key, and makes it the routing key if the command has none yet.
    redis_command& key(std::string_view name) & {
        append_key(name);
        return *this;
    }
    redis_command&& key(std::string_view name) && {
        append_key(name);
        return std::move(*this);
    }
    /// Makes `name` the routing key, without an argument: for a command that has no key, but belongs to others of a
    /// batch that have, such as WAIT. Preconditions: in a batch, a cluster may do such a command twice.
    redis_command& route(std::string_view name) & {
        route_.assign(name);
        routed_ = true;
        return *this;
    }
    redis_command&& route(std::string_view name) && { return std::move(route(name)); }

    /// Returns whether a cluster sends the command to a certain node.
    bool has_routing_key() const noexcept { return routed_; }
    /// Returns whether an argument is a key. A cluster refuses a command at the wrong node only if it has a key.
    bool has_key() const noexcept { return keyed_; }
    /// Returns the key by which a cluster chooses the node; else empty.
    std::string_view routing_key() const noexcept { return route_; }

    /// Returns the number of arguments, with the command's name.
    std::size_t arguments() const noexcept { return count_; }
    /// Returns the length of the bytes that append_to() adds, or a few more.
    std::size_t size() const noexcept { return bytes_.size() + 24; }

    /// Reserves memory for arguments of `bytes` in all.
    void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

    /// Appends the command to `out` as the server reads it.
    void append_to(std::string& out) const {
        append_head(out, '*', count_);
        out += bytes_;
    }

private:
    static void append_head(std::string& out, char kind, std::size_t n) {
        char text[24];
        char* const end = std::to_chars(text, text + sizeof text, n).ptr;
        out += kind;
        out.append(text, end);
        out += "\r\n";
    }
    void append(std::string_view argument) {
        append_head(bytes_, '$', argument.size());
        bytes_ += argument;
        bytes_ += "\r\n";
        ++count_;
    }
    template <class T>
    void append_number(T number) {
        char text[24];
        append({text, std::to_chars(text, text + sizeof text, number).ptr});
    }
    void append_key(std::string_view name) {
        append(name);
        keyed_ = true;
        if (!routed_) route_.assign(name);
        routed_ = true;
    }

    std::string bytes_; // without the count, which is not known yet
    std::string route_;
    std::size_t count_ = 0;
    bool routed_ = false;
    bool keyed_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
