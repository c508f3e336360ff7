// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// trim() of chunk_pool, in steps. It first moves the free chunks to lists, one for each group, and counts them. Then it
// visits the groups in order: it gives a group of which all chunks are free back to the system, and returns the list of
// another group to free_. If free_ becomes empty meanwhile, take() uses these lists.
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <algorithm>
#include <new>

namespace cogwheel::inline v0_1::detail {

void chunk_pool::begin_trim() noexcept {
    COGWHEEL_TRY {
        if (!trimming_) trimming_ = std::make_unique<trimming>();
        trimming_->groups.resize(groups_.size());
        trimming_->begun = false;
        trimming_->next = 0;
    }
    COGWHEEL_CATCH {
        if (trimming_ && trimming_->groups.empty()) trimming_.reset();
    }
}

bool chunk_pool::trim(work_budget& budget) noexcept {
    if (!trimming_) return false;
    if (!count_free(budget)) return true;
    trimming& t = *trimming_;
    slab_memory::return_run unused(memory_);
    for (; t.next < t.groups.size(); ++t.next) {
        if (budget.spent() && unused.is_whole()) return true;
        group& g = groups_[t.next];
        trimming::counted& free = t.groups[t.next];
        budget.charge(work_budget::entry);
        if (g.carved != free.count) {
            keep_group(free);
            continue;
        }
        free = {};
        g.carved = 0;
        carving_ = 0;
        unused.add(reinterpret_cast<std::byte*>(g.chunks), group_size * sizeof(chunk));
        budget.charge(slab_memory::price(group_size * sizeof(chunk)));
    }
    trimming_.reset();
    return false;
}

// Moves the free chunks to the lists of their groups. Returns false if the budget is spent before the end.
bool chunk_pool::count_free(work_budget& budget) noexcept {
    trimming& t = *trimming_;
    for (;;) {
        while (t.uncounted != nullptr) {
            if (budget.spent()) return false;
            chunk* c = t.uncounted;
            t.uncounted = c->next;
            if (c->group >= t.groups.size()) { // of a group that is younger than this trim
                give(c);
                continue;
            }
            trimming::counted& in = t.groups[c->group];
            if (in.count++ == 0) in.last = c;
            t.reused = std::min<std::size_t>(t.reused, c->group);
            c->next = in.first;
            in.first = c;
            budget.charge(4 * work_budget::entry); // a miss that no prefetch can hide
        }
        if (t.begun) return true;
        t.begun = true;
        t.uncounted = free_;
        free_ = nullptr;
    }
}

} // namespace cogwheel::inline v0_1::detail
