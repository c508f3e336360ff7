// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The content of a slot: a chain of chunks of 62 entries, 8 bytes each. All chunks come from one pool.
//
// Rejected: a growing array per slot keeps the memory of its peak: a burst that moves round the wheel costs slots x
// burst. A linked list of timers costs a cache miss for each timer that the wheel looks at; an entry costs 1/8.
#pragma once

#include <cogwheel/wheel/detail/slab_memory.hpp>
#include <cogwheel/wheel/work_budget.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Tells the wheel to look at node `index` at `tick` (the low 32 bits of a 64-bit tick). The node decides what is due.
struct entry {
    std::uint32_t index;
    std::uint32_t tick;
};

struct alignas(8) chunk {
    static constexpr std::uint32_t capacity = 62;

    chunk* next;
    std::uint32_t count;
    std::uint32_t group; // index of its group in the pool
    std::array<entry, capacity> entries;
};
static_assert(sizeof(chunk) == 512);

/// A pool of chunks, allocated in groups of 64. take() returns the chunk that was given back last.
class chunk_pool {
public:
    chunk_pool() = default;
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;

    /// See slab_memory.
    void prefer_huge_pages(bool on) noexcept { memory_.prefer_huge_pages(on); }

    /// Returns an empty chunk. Errors: std::bad_alloc; then nothing changes.
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

    /// Allocates groups, so that `count` further chunks need no allocation. Errors: std::bad_alloc.
    void reserve(std::size_t count);

    /// Begins to give the memory of groups without a chunk in use back to the system; trim() goes on. Legal during a
    /// trim. Complexity: O(groups). Errors: none; without memory for counters (24 bytes a group), trim() does nothing.
    void begin_trim() noexcept;

    /// Takes a step. Returns false after the last one. Between the steps, all functions are legal. Chunks given back
    /// meanwhile stay in memory. Complexity of all steps: O(groups + chunks not in use).
    bool trim(work_budget& budget) noexcept;

    std::size_t footprint() const noexcept { return memory_.footprint(); }

private:
    static constexpr std::size_t group_size = 64;

    struct group {
        chunk* chunks;
        std::size_t carved; // chunks constructed so far: one at a time, so that an unused chunk costs no page fault
    };

    /// A trim that is under way. Free chunks are in free_, in `uncounted`, or in the list of their group.
    struct trimming {
        struct counted {
            chunk* first = nullptr;
            chunk* last = nullptr;
            std::size_t count = 0;
        };
        std::vector<counted> groups;
        chunk* uncounted = nullptr;
        bool begun = false;     // free_ has become `uncounted`
        std::size_t next = 0;   // all groups before this one are done
        std::size_t reused = 0; // the lists of all groups before this one are empty
    };

    chunk* carve();
    chunk* take_from_trimming() noexcept;
    void add_group();
    bool count_free(work_budget& budget) noexcept;
    void keep_group(trimming::counted&) noexcept;

    chunk* free_ = nullptr;
    std::unique_ptr<trimming> trimming_;
    std::size_t carving_ = 0; // all groups before this one are carved completely
    std::vector<group> groups_;
    slab_memory memory_;
};

/// A queue of entries. Its holder gives the chunks back to the pool.
struct entry_chain {
    chunk* head = nullptr;
    chunk* tail = nullptr;

    bool empty() const noexcept { return head == nullptr; }

    /// Appends an entry. Errors: std::bad_alloc; then nothing changes.
    void push(chunk_pool& pool, entry e) {
        if (tail == nullptr || tail->count == chunk::capacity) append(pool.take());
        tail->entries[tail->count++] = e;
    }

    /// Returns the last entry, or nullptr if the chain is empty. Preconditions: no chunk of the chain is empty.
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

    /// Removes and returns the first chunk. Preconditions: not empty.
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

    /// The largest number of entries that append_sorted() takes: about 15 us, and 16 kB of the stack.
    static constexpr std::uint32_t max_sorted = 1024;

    /// Returns true if the chain has at most `count` entries. Complexity: O(count / 62).
    bool has_at_most(std::size_t count) const noexcept {
        for (const chunk* c = head; c != nullptr; c = c->next) {
            if (c->count > count) return false;
            count -= c->count;
        }
        return true;
    }

    /// Appends all entries of `from` in order of (tick - base); only the lowest `bits` bits of it may differ. Stable.
    /// Leaves `from` empty. Returns the number of entries.
    /// Preconditions: from.has_at_most(max_sorted); bits <= 32. Complexity: O(entries x bits / 8).
    std::uint32_t append_sorted(chunk_pool& pool, entry_chain& from, std::uint32_t base, unsigned bits) noexcept;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
