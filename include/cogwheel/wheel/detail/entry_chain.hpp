// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a slot holds: a chain of fixed chunks of 8-byte entries, all chunks from one pool.
//
// A growing array per slot would be simpler, but each slot keeps its own peak then, and a burst that walks round
// the wheel costs slots x burst. A linked list of timers would cost a miss per timer scanned; an entry costs 1/8.
#pragma once

#include <cogwheel/wheel/detail/slab_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cogwheel::detail {

/// "Look at node `index` at `tick`" (the low half of a 64-bit tick). Only a hint: the node decides.
struct entry {
    std::uint32_t index;
    std::uint32_t tick;
};

struct chunk {
    static constexpr std::uint32_t capacity = 62;

    chunk* next;
    std::uint32_t count;
    std::uint32_t group; // of the pool
    std::array<entry, capacity> entries;
};
static_assert(sizeof(chunk) == 512);

/// Chunks, last in first out, from groups of 64.
class chunk_pool {
public:
    chunk_pool() = default;
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;

    /// See slab_memory.
    void prefer_huge_pages(bool on) noexcept { memory_.prefer_huge_pages(on); }

    /// An empty chunk. Errors: std::bad_alloc; nothing changes.
    chunk* take() {
        chunk* c = free_;
        if (c != nullptr)
            free_ = c->next;
        else
            c = carve();
        c->next = nullptr;
        c->count = 0;
        return c;
    }

    void give(chunk* c) noexcept {
        c->next = free_;
        free_ = c;
    }

    /// `count` chunks can be taken without an allocation, beside those taken now.
    void reserve(std::size_t count);

    /// Gives the memory of groups without a chunk in use back to the system. Errors: none; without memory for its own bookkeeping (2
    /// bytes a group) it does nothing. Complexity: O(chunks not in use).
    void trim() noexcept;

    std::size_t footprint() const noexcept { return memory_.footprint(); }

private:
    static constexpr std::size_t group_size = 64;

    struct group {
        chunk* chunks;
        std::size_t carved; // one by one: a chunk that was never needed costs no page fault
    };

    chunk* carve();
    void add_group();

    chunk* free_ = nullptr;
    std::size_t carving_ = 0; // the groups before this one are carved
    std::vector<group> groups_;
    slab_memory memory_;
};

/// A queue of entries. Owns nothing: whoever holds the chain gives its chunks back to the pool.
struct entry_chain {
    chunk* head = nullptr;
    chunk* tail = nullptr;

    bool empty() const noexcept { return head == nullptr; }

    /// Errors: std::bad_alloc; nothing changes.
    void push(chunk_pool& pool, entry e) {
        if (tail == nullptr || tail->count == chunk::capacity) append(pool.take());
        tail->entries[tail->count++] = e;
    }

    /// nullptr when empty. Preconditions: entries have only been pushed.
    entry* last() noexcept { return tail != nullptr ? &tail->entries[tail->count - 1] : nullptr; }

    void append(chunk* c) noexcept {
        c->next = nullptr;
        (tail != nullptr ? tail->next : head) = c;
        tail = c;
    }

    void append(entry_chain& other) noexcept {
        if (other.empty()) return;
        (tail != nullptr ? tail->next : head) = other.head;
        tail = other.tail;
        other = {};
    }

    /// Preconditions: not empty.
    chunk* pop_front() noexcept {
        chunk* c = head;
        head = c->next;
        if (head == nullptr) tail = nullptr;
        return c;
    }

    entry_chain detach() noexcept { return std::exchange(*this, {}); }

    void give_to(chunk_pool& pool) noexcept {
        while (!empty()) pool.give(pop_front());
    }

    template <class F>
    void for_each(F f) const {
        for (const chunk* c = head; c != nullptr; c = c->next)
            for (std::uint32_t i = 0; i < c->count; ++i) f(c->entries[i]);
    }

    /// Stable sort by (tick - base), of which `bits` are significant. O(entries x bits / 8); allocates chunks only.
    void sort(chunk_pool& pool, std::uint32_t base, unsigned bits);
};

} // namespace cogwheel::detail
