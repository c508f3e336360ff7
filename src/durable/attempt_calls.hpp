// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The calls that begin and end attempts. First what is plain (begin_plain.lua, finish_plain.lua), in calls that all
// shards of a server share: five tasks of five shards that are due at once cost the server one call. Then the rest, in
// calls of one shard. What is wrong with a shard, or with a shared call, is found on the second way, and concerns the
// tasks of that shard only. No I/O.
#pragma once

#include "shard_calls.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct begin_ways {
    using request = begin_request;
    using taken = begun_task;

    static bool is_plain(const begin_request& r) noexcept { return r.next_due == 0 && r.occurrences.empty(); }
    /// An occurrence costs the server as much as a task.
    static std::size_t weight(const begin_request& r) noexcept { return 1 + r.occurrences.size(); }
    script_call shared(std::span<const begin_request>, std::span<const std::size_t> places) const;
    script_call single(std::uint32_t shard, std::span<const begin_request> all) const {
        return shards[shard].begin(lease_ms, nonce, all);
    }
    std::optional<std::vector<std::optional<begun_task>>> read(const redis_reply&);

    const script_library* scripts;
    std::span<const shard_calls> shards; // of the queue
    std::int64_t lease_ms;
    std::uint32_t nonce;
    std::int64_t now_us = 0; // of the last reply
};

struct finish_ways {
    using request = finish_request;
    using taken = bool;

    bool is_plain(const finish_request& r) const noexcept {
        const bool kept = limits.done_ms > 0 && limits.max_done > 0;
        return r.kind == finish_kind::ack && r.attempt == 1 && !kept;
    }
    static std::size_t weight(const finish_request&) noexcept { return 1; }
    script_call shared(std::span<const finish_request>, std::span<const std::size_t> places) const;
    script_call single(std::uint32_t shard, std::span<const finish_request> all) const {
        return shards[shard].finish(limits, all);
    }
    static std::optional<std::vector<std::optional<bool>>> read(const redis_reply& r) { return read_finished(r); }

    const script_library* scripts;
    std::span<const shard_calls> shards;
    retention_limits limits;
};

/// Lifetime: the requests exist as long as this.
template <class Ways>
class attempt_calls {
public:
    using request = typename Ways::request;
    using answers = std::vector<std::optional<typename Ways::taken>>;

    /// share: a call may take requests of several shards. Preconditions: those are shards of one server.
    attempt_calls(Ways ways, std::span<const request> requests, bool share = true);

    /// The calls to make now, together. None: that was all; after two times at most.
    std::vector<script_call> next();
    /// Takes the reply to call k of these. Returns false if it leaves requests without an answer for good.
    bool take(std::size_t k, const redis_reply& reply);
    /// Preconditions: the call has no other shard.
    std::uint32_t shard_of_call(std::size_t k) const { return requests_[made_[k].places.front()].shard; }

    const Ways& ways() const noexcept { return ways_; }
    /// One for each request; nothing: there is no answer.
    answers take_answers() noexcept { return std::move(answers_); }

private:
    struct call {
        std::vector<std::size_t> places; // of its requests
        bool plain;
    };

    void sort_by_shard(std::vector<std::size_t>&) const;

    Ways ways_;
    std::span<const request> requests_;
    bool share_;
    answers answers_;
    std::vector<std::size_t> plain_, rest_; // the places of what has not been asked
    std::vector<call> made_;
};

extern template class attempt_calls<begin_ways>;
extern template class attempt_calls<finish_ways>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
