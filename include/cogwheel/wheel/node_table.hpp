// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where nodes live and how a 32-bit index finds them.
//
// The index space is cut into pages of 1,024. A page holds either blocks of one size (a node followed by room
// for whatever belongs to the timer; its address is computed, nothing is looked up) or places, each of which
// points to a node that is embedded elsewhere. The page directory of a million timers is 16 kB, so reaching a
// node costs one cache miss, its own. Blocks come back last in, first out: the next timer gets a warm line.
//
// allocate, release, attach, detach, relocate, find: O(1), amortised over the allocation of pages. Pages are never moved; trim()
// gives the memory behind those that nobody uses back to the system. Not thread-safe.
#pragma once

#include <cogwheel/wheel/detail/slab_memory.hpp>
#include <cogwheel/wheel/timer_node.hpp>

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cogwheel {

class node_table {
public:
    static constexpr std::size_t page_size = 1024;     ///< indices a page
    static constexpr std::size_t min_block = 32;       ///< a bare node
    static constexpr std::size_t max_block = 512;      ///< larger timers bring their own memory and attach() it
    static constexpr std::size_t block_alignment = 32; ///< of every block; of what follows its node too

    /// What lies in memory behind each attached node. If a pointer, the wheel asks the memory for what it points to some timers
    /// before that node expires; a word that is none does no harm.
    enum class beside { unknown, pointer };

    explicit node_table(beside attached = beside::unknown) noexcept : beside_(attached) {}
    ~node_table() { release_all(); }
    node_table(const node_table&) = delete;
    node_table& operator=(const node_table&) = delete;

    /// Memory that is asked of the heap from here on, also by a wheel that is made over this table, comes in huge pages of 2 MB where the
    /// system has them to give: a table larger than the processor's TLB reaches costs a miss less an operation. Linux, if
    /// /sys/kernel/mm/transparent_hugepage/enabled says `madvise` or `always`; elsewhere nothing changes but that slabs are larger.
    void prefer_huge_pages(bool on) noexcept {
        huge_pages_ = on;
        memory_.prefer_huge_pages(on);
    }
    bool prefers_huge_pages() const noexcept { return huge_pages_; }

    /// A block of at least `bytes` (node included), its node disarmed.
    /// Preconditions: 0 < bytes <= max_block. Errors: std::bad_alloc, std::length_error (2^32 indices used); nothing changes.
    timer_node& allocate(std::size_t bytes) {
        assert(bytes > 0 && bytes <= max_block && "attach a node of your own for larger timers");
        size_class& c = classes_[class_of(bytes)];
        if (c.free == nullptr) [[unlikely]]
            refill(class_of(bytes));
        timer_node* node = c.free;
        c.free = next_free(*node);
        return *node;
    }

    /// Takes a block back. Preconditions: it came from allocate(bytes) and is not armed.
    /// `bytes` is asked for because to look it up would make the free list wait for a cache miss. A node whose generations are used up is retired instead, so that no id is ever valid twice.
    void release(timer_node& node, std::size_t bytes) noexcept {
        assert(!node.armed());
        if (node.generation_ == 0) [[unlikely]]
            return;
        assert(pages_[page_of(node.index_)].stride == min_block << class_of(bytes) &&
               "not the size it was allocated with");
        size_class& c = classes_[class_of(bytes)];
        next_free(node, c.free);
        c.free = &node;
    }

    /// Gives an embedded node an index. Errors: as allocate().
    void attach(timer_node& node);

    /// Takes the index back; entries that still carry it lead nowhere. Preconditions: attached, not armed.
    void detach(timer_node& node) noexcept;

    /// `to` takes the place of `from`, armed or not, with its id; `from` is a new node then.
    /// Preconditions: `from` is attached and in no queue or list, `to` is not attached.
    void relocate(timer_node& from, timer_node& to) noexcept;

    /// The node behind an index, nullptr if none is attached. Preconditions: the index was given out by this table.
    timer_node* find(std::uint32_t index) const noexcept { return find(pages_[page_of(index)], index); }

    /// The node in the very life that `id` names, nullptr if that is over. Any id is fine.
    timer_node* find(timer_id id) const noexcept {
        if (id.index >= limit_ || (id.generation & 1) == 0) [[unlikely]]
            return nullptr;
        const page& p = pages_[page_of(id.index)];
        if (id.index % page_size >= p.used) [[unlikely]] // an id from before release_all()
            return nullptr;
        timer_node* node = find(p, id.index);
        return node != nullptr && node->generation_ == id.generation ? node : nullptr;
    }

    /// Hints for a batch: the place well ahead (only embedded nodes have one), then the node itself, then what is beside it.
    [[gnu::always_inline]] void prefetch_place(std::uint32_t index) const noexcept {
        const page& p = pages_[page_of(index)];
        if (p.stride == sizeof(place)) __builtin_prefetch(p.at(index));
    }
    [[gnu::always_inline]] void prefetch_node(std::uint32_t index) const noexcept {
        __builtin_prefetch(find(index), 1);
    }

    [[gnu::always_inline]] void prefetch_beside(std::uint32_t index) const noexcept {
        const page& p = pages_[page_of(index)];
        if (beside_ == beside::unknown || p.stride != sizeof(place)) return;
        if (const timer_node* node = find(p, index)) {
            void* pointer;
            std::memcpy(&pointer, node + 1, sizeof pointer);
            __builtin_prefetch(pointer, 1);
        }
    }

    /// Makes room, so that `count` further blocks of `bytes` need no allocation. Errors: as allocate().
    void reserve(std::size_t count, std::size_t bytes);

    /// Calls f(node) for every node, armed or not, in use or not, in order of index.
    template <class F>
    void for_each(F f) const {
        for (std::size_t p = 0; p < pages_.size(); ++p)
            for (std::size_t i = 0; i < pages_[p].used; ++i)
                if (timer_node* node = find(index_of(p, i))) f(*node);
    }

    /// Gives the memory of pages without a node in use back to the system. Old ids stay harmless, and later nodes find the pages again.
    /// A page stays if one of its nodes has been used 2^30 times, and with huge pages what does not fill one of those.
    /// Preconditions: no wheel has an entry of a node that is not armed (timing_wheel::trim() sees to that).
    /// Errors: none; without memory for its own bookkeeping (2 bytes a page) it does nothing.
    /// Complexity: O(blocks not in use + nodes of the pages given back).
    void trim() noexcept;

    /// Gives every page back to the heap; later nodes start at generations that no id has had.
    /// False when generations are used up: the table must then not be used any more, or an old id might name a new timer.
    /// Preconditions: nothing is armed or attached, and no wheel uses the table any more.
    bool release_all() noexcept;

    /// Bytes held.
    std::size_t footprint() const noexcept;

private:
    friend struct wheel_access;

    struct page {
        std::uintptr_t origin; // where index 0 would lie
        std::uint16_t stride;  // bytes from one index to the next
        std::uint16_t used;    // indices that hold something constructed
        std::uint32_t
            floor; // generation of nodes that are constructed from here on: later than any that ids were made of

        std::byte* at(std::uint32_t index) const noexcept {
            return reinterpret_cast<std::byte*>(origin + std::uintptr_t{index} * stride);
        }
    };

    /// Stands for an embedded node, and remembers the generation between two of them.
    struct place {
        timer_node* node;
        std::uint32_t generation;
        std::uint32_t next_free;
    };

    static_assert(page_size <= 0xffff && max_block <= 0xffff);

    struct size_class {
        timer_node* free = nullptr;
        std::uint32_t page = none; // the page that is being carved
    };

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::size_t class_count = 5;      // 32, 64, 128, 256, 512
    static constexpr std::size_t carved_at_once = 512; // bytes of new blocks
    static_assert(carved_at_once >= max_block && page_size % (carved_at_once / min_block) == 0);

    static constexpr std::size_t class_of(std::size_t bytes) noexcept {
        return static_cast<std::size_t>(std::bit_width((bytes - 1) / min_block));
    }
    static constexpr std::size_t page_of(std::uint32_t index) noexcept { return index / page_size; }
    static constexpr std::uint32_t index_of(std::size_t page_number, std::size_t i) noexcept {
        return static_cast<std::uint32_t>(page_number * page_size + i);
    }

    static timer_node* find(const page& p, std::uint32_t index) noexcept {
        std::byte* at = p.at(index);
        if (p.stride == sizeof(place)) [[unlikely]]
            return reinterpret_cast<place*>(at)->node;
        return reinterpret_cast<timer_node*>(at);
    }
    place& place_of(const timer_node& node) const noexcept {
        return *reinterpret_cast<place*>(pages_[page_of(node.index_)].at(node.index_));
    }

    // A free block has no deadline: the word links the free list.
    static timer_node* next_free(const timer_node& n) noexcept { return reinterpret_cast<timer_node*>(n.deadline_); }
    static void next_free(timer_node& n, timer_node* next) noexcept {
        n.deadline_ = reinterpret_cast<std::uintptr_t>(next);
    }

    void refill(std::size_t size_class_index);
    std::uint32_t page_with_room(std::size_t stride, std::uint32_t current);
    std::uint32_t new_page(std::size_t stride);
    std::uint32_t generation_at(std::uint32_t index) const noexcept;
    bool is_worth_trimming(std::size_t page_number, std::size_t free) const noexcept;

    static constexpr std::uint16_t trimmed = 0xffff; // in place of a page's count of free nodes

    beside beside_;
    bool huge_pages_ = false;
    std::uint32_t limit_ = 0; // indices that pages_ covers
    std::vector<page> pages_;
    detail::slab_memory memory_;
    std::array<size_class, class_count> classes_{};
    std::uint32_t free_place_ = none;
    std::uint32_t place_page_ = none;
    std::uint32_t generation_floor_ = 2; // of new nodes; even, and above zero so that a wrap shows
};

static_assert(sizeof(std::uintptr_t) <= sizeof(std::uint64_t));

} // namespace cogwheel
