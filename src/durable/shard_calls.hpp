// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The commands that call the scripts of one shard, and the values of their replies. No I/O.
#pragma once

#include "script_library.hpp"
#include "task_store.hpp"

#include <cogwheel/durable/redis_command.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include <array>
#include <optional>
#include <span>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A call of a script.
struct script_call {
    const server_script* script = nullptr;
    redis_command command{};
};

/// The most tasks in one call: the server answers nothing else meanwhile.
inline constexpr std::size_t max_script_batch = 128;

/// Complexity: O(bytes) each.
class shard_calls {
public:
    /// The last parts of the keys, in the order of KEYS.
    static constexpr std::array<std::string_view, 7> key_names{"due", "meta", "body", "seq", "done", "dead", "note"};

    shard_calls(const script_library&, const std::string& queue, std::uint32_t shard);

    /// The server's time that the scripts take, in microseconds; empty: the true one. For tests.
    std::string now{};

    const std::array<std::string, 7>& keys() const noexcept { return keys_; }

    // Preconditions: at most max_script_batch tasks.
    script_call add(std::span<const new_task>, on_duplicate) const;
    script_call claim(std::int64_t horizon_ms, std::uint32_t n, std::int64_t lease_ms, const retention_limits&) const;
    script_call begin(std::int64_t lease_ms, std::uint32_t nonce, std::span<const begin_request>) const;
    script_call finish(const retention_limits&, std::span<const finish_request>) const;
    script_call extend(std::int64_t lease_ms, std::span<const attempt_ref>) const;

    script_call cancel(std::string_view id) const;
    script_call reschedule(std::string_view id, std::int64_t due, bool relative) const;
    script_call hold(std::string_view id, bool held) const;
    script_call find(std::string_view id) const;
    script_call list(std::string_view cursor, std::uint32_t n) const;
    script_call dead(std::string_view score, std::string_view id, std::uint32_t n) const;
    script_call redrive(std::string_view id) const;
    script_call purge(std::string_view id) const;
    script_call pause(bool) const;
    script_call counts() const;
    /// cursor: "<place> <cursor of the scan>"; empty at first.
    script_call audit(std::string_view cursor, std::uint32_t n) const;

private:
    script_call call(std::string_view script, std::size_t bytes = 0) const;
    void add_wake(redis_command&) const;
    static void add_limits(redis_command&, const retention_limits&);

    const script_library* library_;
    std::array<std::string, 7> keys_;
    std::string channel_, payload_;
};

/// The keys and calls of a queue as a whole.
struct queue_names {
    static std::string channel(const std::string& queue) { return "cw:" + queue + ":wake"; }
    static std::string key(const std::string& queue, std::string_view name) {
        return "{cw:" + queue + "}:" + std::string(name);
    }
    static script_call heartbeat(const script_library&, const std::string& queue, std::string_view worker,
                                 std::int64_t ttl_ms, std::string_view now = {});
    static script_call retire(const script_library&, const std::string& queue, std::string_view worker);
};

// What replies mean. Each returns nothing if the reply has another form.
std::optional<std::vector<added_task>> read_added(const redis_reply&);
std::optional<claimed_tasks> read_claimed(redis_reply&&);
std::optional<begun_tasks> read_begun(const redis_reply&);
std::optional<std::vector<std::int64_t>> read_integers(const redis_reply&);
/// 1: true, another number: false, nil: nothing.
std::optional<std::vector<std::optional<bool>>> read_finished(const redis_reply&);
/// A damaged record becomes what audit() makes of it.
std::optional<stored_task> read_found(std::string id, redis_reply&&);
struct listed_page {
    stored_page page{}; // its cursor is that of the scan; empty: the end
    std::vector<std::size_t> without_envelope{};
};
std::optional<listed_page> read_listed(redis_reply&&);
struct dead_page {
    std::vector<stored_task> tasks{};
    std::string score{}; // of the last
    bool more = false;
};
std::optional<dead_page> read_dead(redis_reply&&);
std::optional<shard_counts> read_counts(const redis_reply&);
std::optional<audit_step> read_audit(const redis_reply&);
std::optional<live_workers> read_heartbeat(redis_reply&&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
