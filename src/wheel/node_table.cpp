// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The cold half of node_table: pages, places, and giving everything back.
#include <cogwheel/wheel/node_table.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

namespace cogwheel {

namespace {
constexpr std::align_val_t page_alignment{64}; // a 64-byte block is one cache line, not two halves
constexpr std::size_t max_pages = (std::size_t{1} << 32) / node_table::page_size - 1; // so that indices can be counted
} // namespace

std::uint32_t node_table::new_page(std::size_t stride) {
    if (pages_.size() >= max_pages) throw std::length_error("cogwheel: 2^32 timers are the limit of one wheel");
    if (pages_.size() == pages_.capacity()) pages_.reserve(std::max<std::size_t>(16, 2 * pages_.size()));
    const auto base = reinterpret_cast<std::uintptr_t>(::operator new(page_size * stride, page_alignment));
    pages_.push_back({base - pages_.size() * page_size * stride, static_cast<std::uint32_t>(stride), 0});
    limit_ = index_of(pages_.size(), 0);
    return static_cast<std::uint32_t>(pages_.size() - 1);
}

void node_table::refill(std::size_t size_class_index) {
    size_class& c = classes_[size_class_index];
    if (c.page == none || pages_[c.page].used == page_size) {
        // Pages that reserve() made ahead follow the one that is full.
        const std::size_t stride = min_block << size_class_index;
        std::uint32_t p = c.page == none ? 0 : c.page + 1;
        while (p < pages_.size() && (pages_[p].stride != stride || pages_[p].used == page_size)) ++p;
        c.page = p < pages_.size() ? p : new_page(stride);
    }
    // One at a time: a block that was never needed costs no page fault.
    page& p = pages_[c.page];
    const std::uint32_t index = index_of(c.page, p.used);
    auto* node = ::new (p.at(index)) timer_node;
    node->index_ = index;
    node->generation_ = generation_floor_;
    ++p.used;
    next_free(*node, nullptr);
    c.free = node;
}

void node_table::reserve(std::size_t count, std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    const std::size_t stride = min_block << index;
    std::size_t room = 0;
    for (const timer_node* n = classes_[index].free; n != nullptr && room < count; n = next_free(*n)) ++room;
    for (const page& p : pages_)
        if (p.stride == stride) room += page_size - p.used;
    for (; room < count; room += page_size) new_page(stride);
}

void node_table::attach(timer_node& node) {
    if (free_place_ == none) {
        if (place_page_ == none || pages_[place_page_].used == page_size) place_page_ = new_page(sizeof(place));
        page& p = pages_[place_page_];
        free_place_ = index_of(place_page_, p.used);
        ::new (p.at(free_place_)) place{nullptr, generation_floor_, none};
        ++p.used;
    }
    node.index_ = free_place_;
    place& at = place_of(node);
    free_place_ = at.next_free;
    at.node = &node;
    node.generation_ = at.generation;
    node.filed_ = timer_node::not_filed;
}

void node_table::detach(timer_node& node) noexcept {
    assert(!node.armed());
    assert(pages_[page_of(node.index_)].stride == sizeof(place));
    place& at = place_of(node);
    assert(at.node == &node);
    at.node = nullptr;
    at.generation = node.generation_;
    if (node.generation_ == 0) return; // used up: the place is retired
    at.next_free = free_place_;
    free_place_ = node.index_;
}

void node_table::relocate(timer_node& from, timer_node& to) noexcept {
    place& at = place_of(from);
    assert(at.node == &from);
    at.node = &to;
    to.deadline_ = std::exchange(from.deadline_, 0);
    to.filed_ = std::exchange(from.filed_, timer_node::not_filed);
    to.generation_ = std::exchange(from.generation_, 0);
    to.index_ = std::exchange(from.index_, 0);
}

bool node_table::release_all() noexcept {
    std::uint32_t highest = generation_floor_;
    bool wrapped = false;
    for (std::size_t number = 0; number < pages_.size(); ++number) {
        const page& p = pages_[number];
        for (std::size_t i = 0; i < p.used; ++i) {
            const std::byte* at = p.at(index_of(number, i));
            const std::uint32_t generation = p.stride == sizeof(place)
                                                 ? reinterpret_cast<const place*>(at)->generation
                                                 : reinterpret_cast<const timer_node*>(at)->generation_;
            highest = std::max(highest, generation);
            wrapped |= generation < generation_floor_;
        }
        ::operator delete(p.at(index_of(number, 0)), page_alignment);
    }
    pages_.clear();
    limit_ = 0;
    pages_.shrink_to_fit();
    classes_ = {};
    free_place_ = place_page_ = none;
    generation_floor_ = highest;
    return !wrapped;
}

std::size_t node_table::footprint() const noexcept {
    std::size_t bytes = pages_.capacity() * sizeof(page);
    for (const page& p : pages_) bytes += page_size * p.stride;
    return bytes;
}

} // namespace cogwheel
