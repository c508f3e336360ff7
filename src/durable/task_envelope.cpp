// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See task_envelope.hpp.
#include "task_envelope.hpp"

#include <cogwheel/tasks/task_record_text.hpp>

#include <exception>
#include <new>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr unsigned version = 0x10, version_bits = 0xf0;
constexpr unsigned has_trace = 1, is_recurring = 2;

void put(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
}

// Takes bytes from the front. After a failure, all further results are empty.
class taker {
public:
    explicit taker(std::string_view from) noexcept : rest_(from) {}

    std::string_view bytes(std::size_t n) noexcept {
        if (n > rest_.size()) {
            bad_ = true;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }
    std::uint64_t number(std::size_t n) noexcept {
        std::uint64_t value = 0;
        int shift = 0;
        for (const char c : bytes(n)) {
            value |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
            shift += 8;
        }
        return value;
    }
    std::string_view rest() const noexcept { return rest_; }
    bool bad() const noexcept { return bad_; }

private:
    std::string_view rest_;
    bool bad_ = false;
};

// The part that says when a recurring task is due.
struct trigger_bytes {
    std::size_t first_point; // where it is
    std::string_view line;
};
std::optional<trigger_bytes> trigger_of(std::string_view text) {
    taker from(text);
    const auto head = static_cast<unsigned>(from.number(1));
    if ((head & ~has_trace) != (version | is_recurring)) return std::nullopt;
    if ((head & has_trace) != 0) from.bytes(static_cast<std::size_t>(from.number(1)));
    const std::size_t at = text.size() - from.rest().size();
    from.number(8);
    const auto line = from.bytes(static_cast<std::size_t>(from.number(4)));
    if (from.bad()) return std::nullopt;
    return trigger_bytes{at, line};
}

} // namespace

std::optional<std::string> continued(std::string_view stored, std::string_view fresh) {
    const auto old = trigger_of(stored), now = trigger_of(fresh);
    if (!old || !now || old->line != now->line) return std::nullopt;
    std::string text(fresh);
    text.replace(now->first_point, 8, stored.substr(old->first_point, 8));
    return text;
}

std::string encode(const durable_task& task, std::optional<std::chrono::nanoseconds> first) {
    unsigned flags = 0;
    if (!task.traceparent.empty()) flags |= has_trace;
    if (first) flags |= is_recurring;
    std::string text(1, static_cast<char>(version | flags));
    text.reserve(1 + task.body.size() + (flags != 0 ? 512 : 0));
    if (!task.traceparent.empty()) {
        put(text, task.traceparent.size(), 1);
        text += task.traceparent;
    }
    if (first) {
        task_record record;
        record.task.when = task.when;
        record.task.misfire = task.misfire;
        const std::string line = to_text(record);
        put(text, static_cast<std::uint64_t>(first->count()), 8);
        put(text, line.size(), 4);
        text += line;
    }
    text += task.body;
    return text;
}

std::optional<task_envelope> decode_envelope(std::string_view text, bool trigger) {
    taker from(text);
    const auto head = static_cast<unsigned>(from.number(1));
    if (from.bad() || (head & version_bits) != version || (head & ~(version_bits | has_trace | is_recurring)) != 0)
        return std::nullopt;
    task_envelope envelope;
    if ((head & has_trace) != 0) envelope.traceparent = from.bytes(static_cast<std::size_t>(from.number(1)));
    if ((head & is_recurring) != 0) {
        const auto first = static_cast<std::int64_t>(from.number(8));
        const auto line = from.bytes(static_cast<std::size_t>(from.number(4)));
        if (from.bad()) return std::nullopt;
        if (trigger) try {
                const task_record record = task_record_from(line);
                envelope.recurring =
                    recurring_part{record.task.when, record.task.misfire, std::chrono::nanoseconds(first)};
            } catch (const std::bad_alloc&) {
                throw;
            } catch (const std::exception&) { // a damaged record, or a time zone that this machine does not know
                return std::nullopt;
            }
    }
    if (from.bad()) return std::nullopt;
    envelope.body = from.rest();
    return envelope;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
