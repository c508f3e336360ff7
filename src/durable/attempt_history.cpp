// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "attempt_history.hpp"

#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr char packed = 1;
constexpr std::size_t head_size = 5, attempt_size = 12;

void add(std::string& to, std::uint64_t value, int bytes) {
    for (; bytes > 0; --bytes, value >>= 8) to += static_cast<char>(value & 0xff);
}

/// Takes numbers and bytes from the front. What is not there is not taken, and `sound` is false.
struct note_reader {
    std::string_view rest;
    bool sound = true;

    std::string_view bytes(std::size_t n) {
        if (n > rest.size()) sound = false;
        const std::string_view taken = rest.substr(0, sound ? n : 0);
        rest.remove_prefix(taken.size());
        return taken;
    }
    std::uint64_t number(std::size_t size) {
        std::uint64_t value = 0;
        const std::string_view from = bytes(size);
        for (std::size_t i = from.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[i]);
        return value;
    }
};

} // namespace

void remember_failure(stored_task& task, std::int64_t ended_ms, bool lease_ran_out, std::string message) {
    if (task.history.size() >= most_past_attempts) task.history.erase(task.history.begin());
    task.history.push_back({task.attempt, ended_ms, lease_ran_out, message.substr(0, most_past_message)});
    task.message = std::move(message);
}

std::string pack_note(const stored_task& task) {
    std::string note(1, packed);
    note.reserve(head_size + task.message.size() + task.history.size() * (attempt_size + most_past_message));
    add(note, task.message.size(), 4);
    note += task.message;
    for (const past_attempt& a : task.history) {
        add(note, static_cast<std::uint64_t>(a.ended_ms), 8);
        add(note, a.attempt, 2);
        add(note, a.lease_ran_out ? 1 : 0, 1);
        add(note, a.message.size(), 1);
        note += a.message;
    }
    return note;
}

void unpack_note(std::string note, stored_task& task) {
    task.history.clear();
    note_reader reader{note};
    if (reader.number(1) == packed) {
        const std::string_view message = reader.bytes(reader.number(4));
        while (reader.sound && !reader.rest.empty()) {
            past_attempt& a = task.history.emplace_back();
            a.ended_ms = static_cast<std::int64_t>(reader.number(8));
            a.attempt = static_cast<std::uint32_t>(reader.number(2));
            a.lease_ran_out = reader.number(1) != 0;
            a.message = reader.bytes(reader.number(1));
        }
        if (reader.sound) {
            task.message = message;
            return;
        }
        task.history.clear();
    }
    task.message = std::move(note);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
