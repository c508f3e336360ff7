// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Stores nodes, and finds a node by its 32-bit index.
//
// The index space is divided into pages of 1,024 indices. A page holds one of two things:
// - Blocks of one size. A block is a node with space behind it for the timer's data. Its index gives its address.
// - Places. A place points to a node that is embedded in another object.
// The page directory of a million timers takes only 16 kB. So access to the node of a block costs one cache miss, and
// access to an embedded node a second one, for its place. allocate() returns the block of its size that was freed last,
// because that is likely to be in the cache.
//
// allocate, release, attach, detach, relocate, find: O(1), amortised over the allocation of pages. Pages never move.
// On Linux, trim() gives the memory of unused pages back to the system. Not thread-safe.
#pragma once

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/detail/slab_memory.hpp>
#include <cogwheel/wheel/timer_node.hpp>
#include <cogwheel/wheel/work_budget.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace cogwheel::COGWHEEL_ABI {

/// Owns blocks, each with a node, and gives embedded nodes an index.
///
///     cogwheel::timer_node& node = nodes.allocate(64); // 32 bytes for the node, 32 for the caller's data
///     node.completion(&expired);
///     wheel.schedule(node, cogwheel::tick{100});
///     const cogwheel::timer_id id = node.id();
///     ...
///     if (cogwheel::timer_node* pending = nodes.find(id)) { // nullptr if the timer has fired
///         wheel.cancel(*pending);
///         nodes.release(*pending, 64);
///     }
class node_table : private node_access {
public:
    static constexpr std::size_t page_size = 1024;     ///< indices per page
    static constexpr std::size_t min_block = 32;       ///< bytes: a node without data
    static constexpr std::size_t max_block = 512;      ///< bytes; for larger timers, attach() an embedded node
    static constexpr std::size_t block_alignment = 32; ///< bytes; for each block, and for the data behind its node

    /// Says what lies in memory directly behind each attached node. The wheel prefetches the target of a pointer
    /// shortly before it looks at the node. An invalid pointer does no harm.
    enum class adjacent { unknown, pointer };

    explicit node_table(adjacent attached = adjacent::unknown) noexcept : adjacent_(attached) {}
    ~node_table();
    node_table(const node_table&) = delete;
    node_table& operator=(const node_table&) = delete;

    /// Sets whether later allocations of this table use huge pages of 2 MB. A wheel that is constructed later over this
    /// table does the same for its entries. If the table exceeds the reach of the TLB, huge pages save about one TLB
    /// miss per operation. Needs Linux, and `madvise` or `always` in /sys/kernel/mm/transparent_hugepage/enabled.
    /// Elsewhere the only effect is larger steps, in allocation and in trim().
    void prefer_huge_pages(bool on) noexcept {
        huge_pages_ = on;
        memory_.prefer_huge_pages(on);
    }
    bool prefers_huge_pages() const noexcept { return huge_pages_; }

    /// A permanent mark of a block. The table does not use it. is_marked() reads it without a look at the block.
    enum class mark : bool { no, yes };

    /// Returns the node of a block of at least `bytes`, which include the node. The node is not armed. The caller sets
    /// its completion function. Preconditions: 0 < bytes <= max_block.
    /// Errors: std::bad_alloc, std::length_error (none of almost 2^32 indices is left); then nothing changes.
    timer_node& allocate(std::size_t bytes, mark m = mark::no) {
        COGWHEEL_ASSERT(bytes > 0 && bytes <= max_block && "attach a node of your own for larger timers");
        if (timer_node* node = take_free(bytes, m)) [[likely]]
            return *node;
        refill(class_of(bytes, m));
        return *take_free(bytes, m);
    }

    /// Does the same, but returns nullptr if the free list of this size and mark is empty.
    COGWHEEL_ALWAYS_INLINE timer_node* take_free(std::size_t bytes, mark m) noexcept {
        free_blocks& c = classes_[class_of(bytes, m)];
        timer_node* node = c.free;
        if (node != nullptr) [[likely]]
            c.free = next_free(*node);
        return node;
    }
    /// Undoes take_free(). Preconditions: nothing has been stored in the node.
    void put_back(timer_node& node, std::size_t bytes, mark m) noexcept { classes_[class_of(bytes, m)].free = &node; }

    /// Frees a block. The caller passes `bytes`, because a lookup of the size could cost a cache miss. If the node has
    /// been armed 2^30 times or more, retires the block, so that no id names two timers.
    /// Preconditions: the node came from allocate(bytes, m), is not armed, and is in no list or queue.
    void release(timer_node& node, std::size_t bytes, mark m = mark::no) noexcept {
        COGWHEEL_ASSERT(!node.armed());
        [[maybe_unused]] const std::size_t allocated_as = pages_[page_of(index(node))].size_class();
        COGWHEEL_ASSERT(class_of(bytes, m) == allocated_as);
        release(node, classes_[class_of(bytes, m)]);
    }
    /// Frees a block of unknown size and mark. The caller passes the index: a read from the node could be a cache miss.
    void release_block(timer_node& node, std::uint32_t index_of_node) noexcept {
        COGWHEEL_ASSERT(!node.armed() && index(node) == index_of_node);
        release(node, classes_[pages_[page_of(index_of_node)].size_class()]);
    }

    /// Returns true if the index is that of a block, and not of an embedded node. Preconditions: those of find(index).
    bool is_block(std::uint32_t index) const noexcept { return pages_[page_of(index)].stride != sizeof(place); }

    /// Returns the mark of a block, given its index. Preconditions: those of find(index).
    bool is_marked(std::uint32_t index) const noexcept { return pages_[page_of(index)].marked(); }

    /// Gives an embedded node an index. Preconditions: not attached. Errors: those of allocate().
    void attach(timer_node& node);

    /// Takes the index away from an embedded node. A wheel's entries that still hold this index are then dead.
    /// Preconditions: attached, not armed.
    void detach(timer_node& node) noexcept;

    /// Moves the index, the id and the deadline of `from`, which may be armed, to `to`. Afterwards, `from` is not
    /// attached. Each node keeps its completion function.
    /// Preconditions: `from` is attached and in no queue or list; `to` is not attached.
    void relocate(timer_node& from, timer_node& to) noexcept;

    /// Returns the node with this index, in use or free. Returns nullptr if no node has the index now.
    /// Preconditions: this table has given out the index, and no trim() or release_all() has since freed its page.
    timer_node* find(std::uint32_t index) const noexcept { return find(pages_[page_of(index)], index); }

    /// Returns the node that `id` names, or nullptr if the id is stale. Accepts any value.
    // always_inline: each call of a token needs it.
    COGWHEEL_ALWAYS_INLINE timer_node* find(timer_id id) const noexcept {
        if (id.index >= limit_ || (id.generation & 1) == 0) [[unlikely]]
            return nullptr;
        const page& p = pages_[page_of(id.index)];
        if (id.index % page_size >= p.used) [[unlikely]] // an id from before trim() or release_all()
            return nullptr;
        timer_node* node = find(p, id.index);
        return node != nullptr && generation(*node) == id.generation ? node : nullptr;
    }

    /// Returns the same, but nullptr also if the node is embedded. Preconditions: the generation is odd.
    COGWHEEL_ALWAYS_INLINE timer_node* find_block(timer_id id) const noexcept {
        timer_node* node = block_at(id.index);
        if (node == nullptr || !has_name(*node, id)) [[unlikely]]
            return nullptr;
        return node;
    }
    /// The two halves of find_block(). The first one does not read the node, and so does not wait for a cache miss.
    COGWHEEL_ALWAYS_INLINE timer_node* block_at(std::uint32_t index) const noexcept {
        if (index >= limit_) [[unlikely]]
            return nullptr;
        const page& p = pages_[page_of(index)];
        if (index % page_size >= p.used || p.stride == sizeof(place)) [[unlikely]]
            return nullptr;
        auto* node = reinterpret_cast<timer_node*>(p.at(index));
        if (node == nullptr) COGWHEEL_UNREACHABLE(); // the caller's check costs nothing then
        return node;
    }
    /// Preconditions: the generation is odd.
    COGWHEEL_ALWAYS_INLINE static bool has_name(const timer_node& node, timer_id id) noexcept {
        COGWHEEL_ASSERT((id.generation & 1) != 0);
        return generation(node) == id.generation;
    }

    /// Returns the node of an ended timer, or nullptr if the node was armed again or detached. Accepts any value.
    timer_node* find_ended(timer_id id) const noexcept {
        if (id.index >= limit_ || (id.generation & 1) == 0 || id.index % page_size >= pages_[page_of(id.index)].used)
            return nullptr;
        timer_node* node = find(pages_[page_of(id.index)], id.index);
        return node != nullptr && generation(*node) == id.generation + 1 ? node : nullptr;
    }

    /// Makes find_ended() forget the last timer of a node. Preconditions: the node is not armed.
    static void forget_ended(timer_node& node) noexcept {
        next_generation(node);
        next_generation(node);
    }

    /// These three functions prefetch a timer in steps, for a caller with a batch: its place (if the node is embedded),
    /// its node, and the target of the pointer behind an embedded node (with adjacent::pointer).
    COGWHEEL_ALWAYS_INLINE void prefetch_place(std::uint32_t index) const noexcept {
        const page& p = pages_[page_of(index)];
        if (p.stride == sizeof(place)) COGWHEEL_PREFETCH(p.at(index));
    }
    COGWHEEL_ALWAYS_INLINE void prefetch_node(std::uint32_t index) const noexcept { COGWHEEL_PREFETCH(find(index), 1); }

    COGWHEEL_ALWAYS_INLINE void prefetch_adjacent(std::uint32_t index) const noexcept {
        const page& p = pages_[page_of(index)];
        if (adjacent_ == adjacent::unknown || p.stride != sizeof(place)) return;
        if (const timer_node* node = find(p, index)) {
            void* pointer;
            std::memcpy(&pointer, node + 1, sizeof pointer);
            COGWHEEL_PREFETCH(pointer, 1);
        }
    }

    /// Allocates pages, so that `count` further blocks of `bytes` need no allocation.
    /// Errors: those of allocate(), but pages may have been added.
    void reserve(std::size_t count, std::size_t bytes, mark m = mark::no);

    /// Calls f(node) for each node in order of index: armed or not, in use or free.
    template <class F>
    void for_each(F f) const {
        for (std::size_t p = 0; p < pages_.size(); ++p)
            for (std::size_t i = 0; i < pages_[p].used; ++i)
                if (timer_node* node = find(index_of(p, i))) f(*node);
    }

    /// Calls f(node) for at most `count` nodes, from index `from` on. Moves `from` to the next slice. Returns false
    /// after the last slice. A walk meets a node once, because a node keeps its index.
    template <class F>
    bool for_each_from(std::uint32_t& from, std::uint32_t count, F f) const {
        for (; count != 0 && from < limit_; ++from) {
            const page& p = pages_[page_of(from)];
            if (from % page_size >= p.used) { // the rest of the page has had no node
                from |= page_size - 1;
                continue;
            }
            --count;
            if (timer_node* node = find(p, from)) f(*node);
        }
        return from < limit_;
    }

    /// Gives pages without a node in use back to the system (Linux only). Old ids stay stale. Later nodes use these
    /// pages again. A page with a retired node stays. With huge pages, only whole huge pages (2 MB) go back. A wheel's
    /// entries for nodes of these pages are dead.
    /// Complexity: O(pages + blocks and places not in use).
    /// Errors: none. If it cannot allocate its counters (16 bytes per page), it does nothing.
    void trim() noexcept;

    /// Does the same in steps. begin_trim() begins, also if another trim is not yet finished. trim(budget) takes a
    /// step; it returns false after the last one. Between the steps, all functions are legal; nodes freed then stay.
    void begin_trim() noexcept;
    bool trim(work_budget& budget) noexcept;

    /// Frees all pages. Later nodes start at generations that no id has had. Returns false if half of the generations
    /// are used up: after 2^30 lives of one node, over all calls. Then the caller must not use the table again, because
    /// an old id might name a new timer.
    /// Preconditions: no node is armed or attached, and no wheel uses the table any more.
    bool release_all() noexcept;

    /// Returns the bytes allocated, with those that trim() gave back: their addresses stay reserved.
    std::size_t footprint() const noexcept;

private:
    friend struct wheel_access;

    static constexpr std::size_t sizes = 5;               // 32, 64, 128, 256, 512
    static constexpr std::size_t class_count = 2 * sizes; // without and with the mark
    static constexpr std::uint32_t class_mask = 15;       // generations of a page begin at a multiple of 16
    static_assert(class_count <= class_mask);
    static constexpr std::uint32_t round_up(std::uint32_t generation) noexcept {
        return (generation + class_mask) & ~class_mask;
    }

    struct page {
        std::uintptr_t origin; // the address that index 0 would have
        std::uint16_t stride;  // bytes from one index to the next
        std::uint16_t used;    // indices with a constructed node or place
        std::uint32_t floor_and_class;

        // The first generation of nodes that are constructed later: above those of all ids so far.
        std::uint32_t floor() const noexcept { return floor_and_class & ~class_mask; }
        void floor(std::uint32_t least) noexcept { floor_and_class = round_up(least) | (floor_and_class & class_mask); }
        std::size_t size_class() const noexcept { return floor_and_class & class_mask; } // not of places
        bool marked() const noexcept { return size_class() >= sizes; }

        std::byte* at(std::uint32_t index) const noexcept {
            return reinterpret_cast<std::byte*>(origin + std::uintptr_t{index} * stride);
        }
    };

    /// Points to an embedded node. Keeps the node's generation when it is detached, for the next node.
    struct place {
        timer_node* node;
        std::uint32_t generation;
        std::uint32_t next_free;
    };

    static_assert(page_size <= 0xffff && max_block <= 0xffff);

    struct free_blocks {
        timer_node* free = nullptr;
        std::uint32_t page = none; // new blocks come from this page
    };

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::size_t carved_at_once = 512; // bytes of new blocks
    static_assert(carved_at_once >= max_block && page_size % (carved_at_once / min_block) == 0);

    static constexpr std::size_t class_of(std::size_t bytes, mark m) noexcept {
        return static_cast<std::size_t>(std::bit_width((bytes - 1) / min_block)) + (m == mark::yes ? sizes : 0);
    }
    void release(timer_node& node, free_blocks& c) noexcept {
        if (is_used_up(generation(node))) [[unlikely]]
            return;
        next_free(node, c.free);
        c.free = &node;
    }
    static constexpr std::size_t page_of(std::uint32_t index) noexcept { return index / page_size; }
    // Half of the generations remain for a node that is armed many times before its release.
    static constexpr bool is_used_up(std::uint32_t generation) noexcept { return generation >> 31 != 0; }
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
        return *reinterpret_cast<place*>(pages_[page_of(index(node))].at(index(node)));
    }

    // A free block has no deadline, so this word links the free list.
    static timer_node* next_free(const timer_node& n) noexcept { return reinterpret_cast<timer_node*>(deadline(n)); }
    static void next_free(timer_node& n, timer_node* next) noexcept {
        deadline(n, reinterpret_cast<std::uintptr_t>(next));
    }

    /// A trim under way. Free nodes and places are in their free list, in an uncounted list, or in their page's list.
    struct trimming {
        struct counted {
            std::uint32_t first = none;
            std::uint32_t last = none;
            std::uint32_t newest = 0; // the highest generation
            std::uint16_t count = 0;
        };
        std::vector<counted> pages;
        std::array<timer_node*, class_count> uncounted{};
        std::uint32_t uncounted_places = none;
        bool begun = false;     // the free lists have become the uncounted ones
        std::size_t next = 0;   // all pages before this one are done
        std::size_t reused = 0; // the lists of all pages before this one are empty
    };
    bool count_free(work_budget& budget) noexcept;
    bool count_places(work_budget& budget) noexcept;
    trimming::counted* note_free(std::uint32_t index) noexcept;
    void keep_page(std::size_t number) noexcept;
    void take_from_trimming(std::size_t stride, std::size_t class_index) noexcept;
    std::size_t free_in_trimming(std::size_t class_index, std::size_t enough) const noexcept;

    void refill(std::size_t class_index);
    std::uint32_t page_with_room(std::size_t stride, std::size_t class_index, std::uint32_t current);
    std::uint32_t new_page(std::size_t stride, std::size_t class_index);
    std::uint32_t generation_at(std::uint32_t index) const noexcept;

    adjacent adjacent_;
    bool huge_pages_ = false;
    std::uint32_t limit_ = 0; // number of indices in pages_
    std::vector<page> pages_;
    detail::slab_memory memory_;
    std::array<free_blocks, class_count> classes_{};
    std::uint32_t free_place_ = none;
    std::uint32_t place_page_ = none;
    std::unique_ptr<trimming> trimming_;
    std::uint32_t generation_floor_ = 16; // first one of new nodes: not zero, which names no timer
};

static_assert(sizeof(std::uintptr_t) <= sizeof(std::uint64_t));

} // namespace cogwheel::COGWHEEL_ABI
