// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The requests in flight: found by key, listed in the order of their start, counted. No clock, no handler.
//
// An intrusive hash table with chains, and an intrusive list. The table doubles when it holds as many requests as
// buckets, and never shrinks. The caller owns the requests; the table neither moves nor frees them. Each request keeps
// its hash, so remove() computes no hash and cannot throw.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/net/request_options.hpp>

#include <bit>
#include <limits>
#include <memory>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

enum class request_admission { accepted, duplicate_key, too_many };

/// How a request ended: the count that it adds to.
enum class ending { answered, timed_out, failed, cancelled };
inline std::uint64_t& count_of(request_stats& stats, ending how) noexcept {
    switch (how) {
    case ending::answered:
        return stats.answered;
    case ending::timed_out:
        return stats.timed_out;
    case ending::failed:
        return stats.failed;
    default:
        return stats.cancelled;
    }
}

/// The links of a request in its table. The base of `Request`.
struct in_order_of_start; // the tag of a table's list: a request may also be in another one

template <class Request, class Key, class TimePoint>
class request_links : public list_links<Request, in_order_of_start> {
public:
    using key_type = Key;

    template <class K>
    request_links(K&& key, TimePoint started) : started_(started), key_(std::forward<K>(key)) {}

    const Key& key() const noexcept { return key_; }
    TimePoint started() const noexcept { return started_; }

private:
    template <class, class, class>
    friend class request_table;

    Request* same_bucket_ = nullptr;
    std::size_t hash_ = 0;
    TimePoint started_;
    Key key_;
};

/// Each operation is O(1), amortised over the growth of the table, unless it says otherwise.
/// Lifetime: the requests must outlive their place in the table. The table must be empty when it is destroyed.
template <class Request, class Hash, class Equal>
class request_table {
    using list = linked_list<Request, in_order_of_start>;

public:
    using key_type = typename Request::key_type;

    explicit request_table(std::size_t max_in_flight, std::size_t room = 0, const Hash& hash = {},
                           const Equal& equal = {})
        : max_in_flight_(max_in_flight), hash_(hash), equal_(equal) {
        if (room != 0) grow(std::bit_ceil(room));
    }
    request_table(const request_table&) = delete;
    request_table& operator=(const request_table&) = delete;
    ~request_table() { COGWHEEL_ASSERT(stats_.in_flight == 0); }

    struct verdict {
        request_admission what;
        std::size_t hash; // for insert()
    };

    /// Decides whether a request with this key may start. If so, makes room for it; else counts it as refused.
    /// Errors: std::bad_alloc, and those of Hash and Equal; nothing changes then.
    verdict admit(const key_type& key) {
        const std::size_t hash = hash_of(key);
        if (find(key, hash) != nullptr) return refuse(request_admission::duplicate_key);
        if (stats_.in_flight >= max_in_flight_) return refuse(request_admission::too_many);
        if (stats_.in_flight == capacity()) grow(capacity() == 0 ? smallest : 2 * capacity());
        return {request_admission::accepted, hash};
    }

    /// Counts a request that was admitted here and then refused by the wheel.
    void count_refused() noexcept { ++stats_.refused; }

    /// Puts a request into the table. Preconditions: admit(request.key()) has just accepted it, with this hash.
    void insert(Request& request, std::size_t hash) noexcept {
        request.hash_ = hash;
        file(request);
        in_order_.push_back(request);
        ++stats_.started;
        ++stats_.in_flight;
    }

    /// Returns the request, or nullptr. Errors: those of Hash and Equal.
    Request* find(const key_type& key) const { return stats_.in_flight == 0 ? nullptr : find(key, hash_of(key)); }

    /// Does the same for an answer: without a request, counts the answer as late.
    Request* find_answered(const key_type& key) {
        Request* request = find(key);
        if (request == nullptr) ++stats_.late;
        return request;
    }

    /// Takes a request out. Preconditions: it is in the table. Complexity: O(1) on average: the length of its chain.
    void remove(Request& request, ending how) noexcept {
        Request** at = &buckets_[bucket_of(request.hash_)];
        while (*at != &request) at = &(*at)->same_bucket_;
        *at = request.same_bucket_;
        in_order_.erase(request);
        ++count_of(stats_, how);
        --stats_.in_flight;
    }

    /// Returns the requests in the order of their start: the first, and the one after `request`. nullptr at the end.
    Request* oldest() const noexcept { return in_order_.front(); }
    static Request* next(const Request& request) noexcept { return list::next(request); }

    std::size_t size() const noexcept { return stats_.in_flight; }
    bool empty() const noexcept { return stats_.in_flight == 0; }
    const request_stats& stats() const noexcept { return stats_; }

    /// Returns nullptr, or a text that names the broken invariant. For tests. Complexity: O(requests + buckets).
    const char* check_invariants() const {
        std::size_t filed = 0, listed = 0;
        for (std::size_t b = 0; b < capacity(); ++b) {
            for (const Request* r = buckets_[b]; r != nullptr; r = r->same_bucket_, ++filed) {
                if (filed > stats_.in_flight) return "a chain does not end";
                if (bucket_of(r->hash_) != b) return "a request is in a bucket that is not its own";
                if (hash_of(r->key()) != r->hash_) return "a hash is not that of its key";
            }
        }
        const Request* before = nullptr;
        for (const Request* r = oldest(); r != nullptr; before = r, r = next(*r), ++listed) {
            if (listed > stats_.in_flight) return "the order does not end";
            if (list::previous(*r) != before) return "the order has a broken link";
        }
        if (in_order_.back() != before) return "the newest is not the last";
        if (filed != stats_.in_flight || listed != stats_.in_flight) return "not all are found by key and in order";
        if (stats_.in_flight > capacity()) return "more requests than buckets";
        const auto& s = stats_;
        if (s.started != s.answered + s.timed_out + s.failed + s.cancelled + s.in_flight) return "counts do not add up";
        return nullptr;
    }

    /// Returns how many requests find() visits at most. For tests. Complexity: O(requests + buckets).
    std::size_t longest_chain() const noexcept {
        std::size_t longest = 0;
        for (std::size_t b = 0; b < capacity(); ++b) {
            std::size_t n = 0;
            for (const Request* r = buckets_[b]; r != nullptr; r = r->same_bucket_) ++n;
            longest = n > longest ? n : longest;
        }
        return longest;
    }

private:
    static constexpr std::size_t smallest = 8;

    verdict refuse(request_admission why) noexcept {
        ++stats_.refused;
        return {why, 0};
    }

    // Spreads the keys: the standard library's hash of an integer is that integer, so multiples of a power of two would
    // share a bucket. The factor is 2^64 / golden ratio (Knuth, The Art of Computer Programming 3, section 6.4). The
    // upper bits of the product are the good ones.
    std::size_t hash_of(const key_type& key) const {
        const std::uint64_t spread = static_cast<std::uint64_t>(hash_(key)) * 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>(spread >> (64 - std::numeric_limits<std::size_t>::digits));
    }
    std::size_t bucket_of(std::size_t hash) const noexcept { return hash >> shift_; }
    std::size_t capacity() const noexcept { return capacity_; }

    Request* find(const key_type& key, std::size_t hash) const {
        if (capacity_ == 0) return nullptr;
        for (Request* r = buckets_[bucket_of(hash)]; r != nullptr; r = r->same_bucket_)
            if (r->hash_ == hash && equal_(r->key(), key)) return r;
        return nullptr;
    }

    void file(Request& request) noexcept {
        Request*& head = buckets_[bucket_of(request.hash_)];
        request.same_bucket_ = head;
        head = &request;
    }

    void grow(std::size_t buckets) {
        buckets = buckets < smallest ? smallest : buckets;
        buckets_ = std::make_unique<Request*[]>(buckets);
        capacity_ = buckets;
        shift_ = static_cast<unsigned>(std::numeric_limits<std::size_t>::digits - std::countr_zero(buckets));
        for (Request* r = oldest(); r != nullptr; r = next(*r)) file(*r);
    }

    std::unique_ptr<Request*[]> buckets_;
    std::size_t capacity_ = 0; // a power of two, or 0 before the first request
    unsigned shift_ = 0;
    list in_order_;
    std::size_t max_in_flight_;
    request_stats stats_;
    [[no_unique_address]] Hash hash_;
    [[no_unique_address]] Equal equal_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
