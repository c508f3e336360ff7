// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The rarely called functions of node_table: those that make pages, and those for embedded nodes.
#include "../detail/throwing.hpp"

#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace cogwheel::COGWHEEL_ABI {

namespace {
// One page less than 2^32 indices, so that the number of indices fits 32 bits.
constexpr std::uint64_t max_pages = (std::uint64_t{1} << 32) / node_table::page_size - 1;
} // namespace

node_table::~node_table() { release_all(); }

std::uint32_t node_table::new_page(std::size_t stride, std::size_t class_index) {
    if (pages_.size() >= max_pages) detail::throw_length_error("cogwheel: 2^32 timers are the limit of one wheel");
    if (pages_.size() == pages_.capacity()) pages_.reserve(std::max<std::size_t>(16, 2 * pages_.size()));
    const auto base = reinterpret_cast<std::uintptr_t>(memory_.take(page_size * stride));
    pages_.push_back({.origin = base - pages_.size() * page_size * stride,
                      .stride = static_cast<std::uint16_t>(stride),
                      .used = 0,
                      .floor_and_class = generation_floor_ | static_cast<std::uint32_t>(class_index)});
    limit_ = index_of(pages_.size(), 0);
    return static_cast<std::uint32_t>(pages_.size() - 1);
}

// Returns the number of a page with room: the current page, a later one (from reserve() or trim()), or a new one.
std::uint32_t node_table::page_with_room(std::size_t stride, std::size_t class_index, std::uint32_t current) {
    const auto serves = [&](const page& p) {
        return p.stride == stride && p.size_class() == class_index && p.used != page_size;
    };
    if (current != none && pages_[current].used != page_size) return current;
    std::uint32_t p = current == none ? 0 : current;
    while (p < pages_.size() && !serves(pages_[p])) ++p;
    return p < pages_.size() ? p : new_page(stride, class_index);
}

void node_table::refill(std::size_t class_index) {
    free_blocks& c = classes_[class_index];
    const std::size_t stride = min_block << class_index % sizes;
    if (trimming_) take_from_trimming(stride, class_index);
    if (c.free != nullptr) return;
    c.page = page_with_room(stride, class_index, c.page);
    page& p = pages_[c.page];
    // Constructs a few blocks at a time, all in one page of the system, so that an unused block costs no page fault.
    const std::uint32_t first = index_of(c.page, p.used);
    const auto count = static_cast<std::uint32_t>(carved_at_once / p.stride);
    for (std::uint32_t i = first; i != first + count; ++i) {
        auto* node = ::new (p.at(i)) timer_node;
        index(*node, i);
        generation(*node, p.floor());
        next_free(*node, i + 1 != first + count ? reinterpret_cast<timer_node*>(p.at(i + 1)) : nullptr);
    }
    p.used = static_cast<std::uint16_t>(p.used + count);
    c.free = reinterpret_cast<timer_node*>(p.at(first));
}

[[gnu::cold]] void node_table::reserve(std::size_t count, std::size_t bytes, mark m) {
    const std::size_t index = class_of(bytes, m);
    const std::size_t stride = min_block << index % sizes;
    std::size_t room = 0;
    for (const timer_node* n = classes_[index].free; n != nullptr && room < count; n = next_free(*n)) ++room;
    for (const page& p : pages_)
        if (p.stride == stride && p.size_class() == index) room += page_size - p.used;
    if (trimming_ && room < count) room += free_in_trimming(index, count - room);
    for (; room < count; room += page_size) new_page(stride, index);
}

void node_table::attach(timer_node& node) {
    if (free_place_ == none && trimming_) take_from_trimming(sizeof(place), 0);
    if (free_place_ == none) {
        place_page_ = page_with_room(sizeof(place), 0, place_page_);
        page& p = pages_[place_page_];
        free_place_ = index_of(place_page_, p.used);
        ::new (p.at(free_place_)) place{nullptr, p.floor(), none};
        ++p.used;
    }
    index(node, free_place_);
    place& at = place_of(node);
    free_place_ = at.next_free;
    at.node = &node;
    generation(node, at.generation);
    filed(node, not_filed);
}

void node_table::detach(timer_node& node) noexcept {
    COGWHEEL_ASSERT(!node.armed());
    COGWHEEL_ASSERT(pages_[page_of(index(node))].stride == sizeof(place));
    place& at = place_of(node);
    COGWHEEL_ASSERT(at.node == &node);
    at.node = nullptr;
    filed(node, not_filed);
    const bool used_up = is_used_up(generation(node)) || generation(node) < at.generation;
    at.generation = generation(node);
    if (used_up) return; // the place is retired
    at.next_free = free_place_;
    free_place_ = index(node);
}

void node_table::relocate(timer_node& from, timer_node& to) noexcept {
    place& at = place_of(from);
    COGWHEEL_ASSERT(at.node == &from);
    at.node = &to;
    deadline(to, deadline(from));
    filed(to, filed(from));
    generation(to, generation(from));
    index(to, index(from));
    deadline(from, 0);
    filed(from, not_filed);
    generation(from, 0);
    index(from, 0);
}

std::uint32_t node_table::generation_at(std::uint32_t index) const noexcept {
    const page& p = pages_[page_of(index)];
    return p.stride == sizeof(place) ? reinterpret_cast<const place*>(p.at(index))->generation
                                     : generation(*reinterpret_cast<const timer_node*>(p.at(index)));
}

bool node_table::release_all() noexcept {
    std::uint32_t lowest = ~0U, highest = 0, floor = generation_floor_;
    for (std::size_t number = 0; number < pages_.size(); ++number) {
        const page& p = pages_[number];
        for (std::size_t i = 0; i < p.used; ++i) {
            const std::uint32_t generation = generation_at(index_of(number, i));
            lowest = std::min(lowest, generation);
            highest = std::max(highest, generation);
        }
        floor = std::max(floor, p.floor());
    }
    const bool used_up = is_used_up(highest) || lowest < generation_floor_;
    trimming_.reset();
    memory_.release();
    pages_.clear();
    limit_ = 0;
    pages_.shrink_to_fit();
    classes_ = {};
    free_place_ = place_page_ = none;
    generation_floor_ = round_up(std::max(floor, highest + 2)); // above, so that find_ended() finds no new node
    return !used_up;
}

std::size_t node_table::footprint() const noexcept { return pages_.capacity() * sizeof(page) + memory_.footprint(); }

// ---- what trim() has counted and not returned yet ----

// Returns the counted nodes or places of a page to their free list.
void node_table::keep_page(std::size_t number) noexcept {
    const trimming::counted list = std::exchange(trimming_->pages[number], {});
    if (list.count == 0) return;
    const page& p = pages_[number];
    if (p.stride == sizeof(place)) {
        reinterpret_cast<place*>(p.at(list.last))->next_free = free_place_;
        free_place_ = list.first;
    } else {
        timer_node*& free = classes_[p.size_class()].free;
        next_free(*find(list.last), free);
        free = find(list.first);
    }
}

// Fills the free list of blocks of this size, or of places, from the lists of the trim. Preconditions: it is empty.
void node_table::take_from_trimming(std::size_t stride, std::size_t class_index) noexcept {
    trimming& t = *trimming_;
    const bool places = stride == sizeof(place);
    if (places) {
        free_place_ = std::exchange(t.uncounted_places, none);
    } else {
        classes_[class_index].free = std::exchange(t.uncounted[class_index], nullptr);
    }
    const auto is_filled = [&] { return places ? free_place_ != none : classes_[class_index].free != nullptr; };
    for (std::size_t number = t.reused; number < t.pages.size() && !is_filled(); ++number) {
        const page& p = pages_[number];
        if (p.stride == stride && p.size_class() == class_index) keep_page(number);
        if (t.pages[t.reused].count == 0) ++t.reused;
    }
}

std::size_t node_table::free_in_trimming(std::size_t class_index, std::size_t enough) const noexcept {
    std::size_t room = 0;
    const timer_node* n = trimming_->uncounted[class_index];
    for (; n != nullptr && room < enough; n = next_free(*n)) ++room;
    for (std::size_t number = 0; number < trimming_->pages.size(); ++number)
        if (pages_[number].stride != sizeof(place) && pages_[number].size_class() == class_index)
            room += trimming_->pages[number].count;
    return room;
}

// ---- trim(), in steps ----
// It first moves the free nodes and places to lists, one for each page, and counts them. Then it visits the pages in
// order: if all nodes of a page are free, it gives the page back to the system; otherwise it returns the page's list to
// the free list. If a free list becomes empty meanwhile, refill() and attach() use these lists.
//
// Rejected: allocate() and release() keep a count of used nodes per page. Each would read one more cache line.

void node_table::trim() noexcept {
    begin_trim();
    for (work_budget all = work_budget::unlimited(); trim(all);) {
    }
}

void node_table::begin_trim() noexcept {
    COGWHEEL_TRY {
        if (!trimming_) trimming_ = std::make_unique<trimming>();
        trimming_->pages.resize(pages_.size());
        trimming_->begun = false;
        trimming_->next = 0;
    }
    COGWHEEL_CATCH {
        if (trimming_ && trimming_->pages.empty()) trimming_.reset();
    }
}

bool node_table::trim(work_budget& budget) noexcept {
    if (!trimming_) return false;
    if (!count_free(budget)) return true;
    trimming& t = *trimming_;
    detail::slab_memory::return_run unused(memory_);
    for (; t.next < t.pages.size(); ++t.next) {
        if (budget.spent() && unused.is_whole()) return true;
        page& p = pages_[t.next];
        trimming::counted& free = t.pages[t.next];
        budget.charge(work_budget::entry);
        if (p.used != free.count) {
            keep_page(t.next);
            continue;
        }
        if (p.used != 0) p.floor(std::max(p.floor(), free.newest + 2));
        p.used = 0;
        free = {};
        for (free_blocks& c : classes_) c.page = none;
        place_page_ = none;
        unused.add(p.at(index_of(t.next, 0)), page_size * p.stride);
        budget.charge(detail::slab_memory::price(page_size * p.stride));
    }
    trimming_.reset();
    return false;
}

// Moves the free nodes and places to the lists of their pages. Returns false if the budget is spent before the end.
bool node_table::count_free(work_budget& budget) noexcept {
    trimming& t = *trimming_;
    for (;;) {
        for (std::size_t c = 0; c < class_count; ++c) {
            while (t.uncounted[c] != nullptr) {
                if (budget.spent()) return false;
                timer_node& node = *std::exchange(t.uncounted[c], next_free(*t.uncounted[c]));
                budget.charge(4 * work_budget::entry); // a miss that no prefetch can hide
                if (trimming::counted* in = note_free(index(node))) {
                    next_free(node, in->count == 1 ? nullptr : find(in->first));
                    in->first = index(node);
                } else {
                    next_free(node, classes_[c].free);
                    classes_[c].free = &node;
                }
            }
        }
        if (!count_places(budget)) return false;
        if (t.begun) return true;
        t.begun = true;
        for (std::size_t c = 0; c < class_count; ++c) t.uncounted[c] = std::exchange(classes_[c].free, nullptr);
        t.uncounted_places = std::exchange(free_place_, none);
    }
}

bool node_table::count_places(work_budget& budget) noexcept {
    trimming& t = *trimming_;
    while (t.uncounted_places != none) {
        if (budget.spent()) return false;
        const std::uint32_t i = t.uncounted_places;
        place& at = *reinterpret_cast<place*>(pages_[page_of(i)].at(i));
        t.uncounted_places = at.next_free;
        budget.charge(4 * work_budget::entry); // a miss that no prefetch can hide
        if (trimming::counted* in = note_free(i)) {
            at.next_free = in->first;
            in->first = i;
        } else {
            at.next_free = free_place_;
            free_place_ = i;
        }
    }
    return true;
}

// Counts a free node or place. Returns the list of its page, or nullptr if the page is younger than the trim.
node_table::trimming::counted* node_table::note_free(std::uint32_t index) noexcept {
    trimming& t = *trimming_;
    const std::size_t number = page_of(index);
    if (number >= t.pages.size()) return nullptr;
    trimming::counted& in = t.pages[number];
    if (in.count++ == 0) in.last = index;
    in.newest = std::max(in.newest, generation_at(index));
    t.reused = std::min(t.reused, number);
    return &in;
}

} // namespace cogwheel::COGWHEEL_ABI
