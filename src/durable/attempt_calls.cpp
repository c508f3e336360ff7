// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "attempt_calls.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Calls f(shard, the places of its requests) for each shard of a call.
template <class Request, class F>
void each_shard(std::span<const Request> requests, std::span<const std::size_t> places, F f) {
    for (std::size_t from = 0, to = 0; from < places.size(); from = to) {
        const std::uint32_t shard = requests[places[from]].shard;
        while (to < places.size() && requests[places[to]].shard == shard) ++to;
        f(shard, places.subspan(from, to - from));
    }
}

// EVALSHA with three keys of each shard.
template <class Ways, class Request>
script_call with_keys(const Ways& ways, std::string_view script, const std::array<std::size_t, 3>& keys,
                      std::span<const Request> requests, std::span<const std::size_t> places) {
    std::size_t bytes = 0, shards = 0;
    for (const std::size_t i : places) bytes += requests[i].id.size() + 64;
    each_shard(requests, places, [&](std::uint32_t, auto) { ++shards; });
    script_call c{&ways.scripts->at(script), redis_command("EVALSHA")};
    c.command.reserve(bytes + 200 * shards + 128);
    c.command.add(c.script->sha).add(keys.size() * shards);
    each_shard(requests, places, [&](std::uint32_t shard, auto) {
        for (const std::size_t k : keys) c.command.key(ways.shards[shard].keys()[k]);
    });
    return c;
}

template <class Request>
void add_requests(redis_command& to, std::span<const Request> requests, std::span<const std::size_t> places) {
    each_shard(requests, places, [&](std::uint32_t, std::span<const std::size_t> some) {
        to.add(some.size());
        for (const std::size_t i : some) to.add(requests[i].id);
        for (const std::size_t i : some) to.add(requests[i].generation);
    });
}

} // namespace

script_call begin_ways::shared(std::span<const begin_request> requests, std::span<const std::size_t> places) const {
    script_call c = with_keys(*this, "begin_plain", {0, 1, 3}, requests, places);
    c.command.add(shards.front().now).add(lease_ms).add(nonce);
    add_requests(c.command, requests, places);
    return c;
}

std::optional<std::vector<std::optional<begun_task>>> begin_ways::read(const redis_reply& r) {
    auto begun = read_begun(r);
    if (!begun) return {};
    now_us = begun->now_us;
    return std::move(begun->tasks);
}

script_call finish_ways::shared(std::span<const finish_request> requests, std::span<const std::size_t> places) const {
    script_call c = with_keys(*this, "finish_plain", {0, 1, 2}, requests, places);
    add_requests(c.command, requests, places);
    return c;
}

template <class Ways>
attempt_calls<Ways>::attempt_calls(Ways ways, std::span<const request> requests, bool share)
    : ways_(std::move(ways)), requests_(requests), share_(share), answers_(requests.size()) {
    for (std::size_t i = 0; i < requests.size(); ++i) (ways_.is_plain(requests[i]) ? plain_ : rest_).push_back(i);
}

template <class Ways>
void attempt_calls<Ways>::sort_by_shard(std::vector<std::size_t>& all) const {
    // Within a shard in the order of the requests. With Clang 19, libstdc++ 12's stable_sort() is deprecated.
    std::ranges::sort(all, {}, [&](std::size_t place) { return std::pair(requests_[place].shard, place); });
}

template <class Ways>
std::vector<script_call> attempt_calls<Ways>::next() {
    std::vector<script_call> calls;
    made_.clear();
    sort_by_shard(plain_);
    for (std::size_t from = 0, to = 0; from < plain_.size(); from = to) {
        const std::uint32_t shard = requests_[plain_[from]].shard;
        const std::size_t most = std::min(plain_.size(), from + max_script_batch);
        while (to < most && (share_ || requests_[plain_[to]].shard == shard)) ++to;
        const auto some = std::span(plain_).subspan(from, to - from);
        calls.push_back(ways_.shared(requests_, some));
        made_.push_back({{some.begin(), some.end()}, true});
    }
    sort_by_shard(rest_);
    for (std::size_t from = 0, to = 0; from < rest_.size(); from = to) {
        const std::uint32_t shard = requests_[rest_[from]].shard;
        std::vector<request> some;
        for (std::size_t weight = 0; to < rest_.size() && requests_[rest_[to]].shard == shard; ++to) {
            weight += ways_.weight(requests_[rest_[to]]);
            if (to > from && weight > max_script_batch) break;
            some.push_back(requests_[rest_[to]]);
        }
        calls.push_back(ways_.single(shard, some));
        const auto at = std::span(rest_).subspan(from, to - from);
        made_.push_back({{at.begin(), at.end()}, false});
    }
    plain_.clear();
    rest_.clear();
    return calls;
}

template <class Ways>
bool attempt_calls<Ways>::take(std::size_t k, const redis_reply& reply) {
    const call& c = made_[k];
    auto read = reply.is_error() ? std::nullopt : ways_.read(reply);
    if (!read || read->size() != c.places.size()) read.emplace(c.places.size());
    bool settled = true;
    for (std::size_t i = 0; i < c.places.size(); ++i) {
        answers_[c.places[i]] = (*read)[i];
        if ((*read)[i]) continue;
        if (c.plain)
            rest_.push_back(c.places[i]);
        else
            settled = false;
    }
    return settled;
}

template class attempt_calls<begin_ways>;
template class attempt_calls<finish_ways>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
