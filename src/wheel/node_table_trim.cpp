// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// trim() of node_table, in steps. It first moves the free nodes and places to lists, one for each page, and counts
// them. Then it visits the pages in order: it gives a page of which all nodes are free back to the system, and returns
// the list of another page to its free list. If a free list becomes empty meanwhile, refill() and attach() use these
// lists.
//
// Rejected: a count of used nodes per page, kept by allocate() and release(). Each of them would read one more line.
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include <algorithm>
#include <utility>

namespace cogwheel::inline v0_1 {

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

} // namespace cogwheel::inline v0_1
