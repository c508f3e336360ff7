// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The rarely called functions of the chunk pool, and the sort of a few entries for a jump.
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <algorithm>
#include <new>

namespace cogwheel::COGWHEEL_ABI::detail {

void chunk_pool::add_group() {
    if (groups_.size() == groups_.capacity()) groups_.reserve(std::max<std::size_t>(16, 2 * groups_.size()));
    groups_.push_back({reinterpret_cast<chunk*>(memory_.take(group_size * sizeof(chunk))), 0});
}

chunk* chunk_pool::carve() {
    if (trimming_)
        if (chunk* c = take_from_trimming()) return c;
    while (carving_ < groups_.size() && groups_[carving_].carved == group_size) ++carving_;
    if (carving_ == groups_.size()) add_group();
    group& from = groups_[carving_];
    chunk* c = ::new (static_cast<void*>(from.chunks + from.carved)) chunk;
    ++from.carved;
    c->group = static_cast<std::uint32_t>(carving_);
    return c;
}

[[gnu::cold]] void chunk_pool::reserve(std::size_t count) {
    std::size_t room = 0;
    for (const group& g : groups_) room += group_size - g.carved;
    for (const chunk* c = free_; c != nullptr && room < count; c = c->next) ++room;
    if (trimming_) {
        for (const chunk* c = trimming_->uncounted; c != nullptr && room < count; c = c->next) ++room;
        for (const trimming::counted& g : trimming_->groups) room += g.count;
    }
    for (; room < count; room += group_size) add_group();
}

// ---- what trim() has counted and not returned yet ----

void chunk_pool::keep_group(trimming::counted& free) noexcept {
    if (free.count == 0) return;
    free.last->next = free_;
    free_ = free.first;
    free = {};
}

// Returns a free chunk from the lists of the trim, or nullptr if they are empty. Preconditions: free_ is empty.
chunk* chunk_pool::take_from_trimming() noexcept {
    trimming& t = *trimming_;
    free_ = t.uncounted;
    t.uncounted = nullptr;
    for (; free_ == nullptr && t.reused < t.groups.size(); ++t.reused) keep_group(t.groups[t.reused]);
    if (free_ == nullptr) return nullptr;
    chunk* c = free_;
    free_ = c->next;
    return c;
}

namespace {

void sort_by_insertion(entry* entries, std::uint32_t count, std::uint32_t base) noexcept {
    for (std::uint32_t i = 1; i < count; ++i) {
        const entry e = entries[i];
        std::uint32_t at = i;
        for (; at != 0 && entries[at - 1].tick - base > e.tick - base; --at) entries[at] = entries[at - 1];
        entries[at] = e;
    }
}

// Moves the entries to `out`, in order of eight bits of (tick - base).
void sort_by_digit(const entry* in, std::uint32_t count, entry* out, std::uint32_t base, unsigned shift) noexcept {
    std::array<std::uint32_t, 256> places{};
    const auto digit = [&](entry e) { return ((e.tick - base) >> shift) % places.size(); };
    for (std::uint32_t i = 0; i < count; ++i) ++places[digit(in[i])];
    for (std::uint32_t sum = 0; std::uint32_t& place : places) place = std::exchange(sum, sum + place);
    for (std::uint32_t i = 0; i < count; ++i) out[places[digit(in[i])]++] = in[i];
}

} // namespace

std::uint32_t entry_chain::append_sorted(chunk_pool& pool, entry_chain& from, std::uint32_t base,
                                         unsigned bits) noexcept {
    constexpr std::uint32_t few = 32; // up to this number, a sort by insertion is faster
    std::array<entry, max_sorted> entries, scratch;
    entry *in = entries.data(), *out = scratch.data();
    std::uint32_t count = 0;
    while (!from.empty()) {
        chunk* c = from.pop_front();
        std::copy_n(c->entries.data(), c->count, in + count);
        count += c->count;
        pool.give(c); // before the pushes, so that they cannot fail
    }
    if (count <= few)
        sort_by_insertion(in, count, base);
    else
        for (unsigned shift = 0; shift < bits; shift += 8) {
            sort_by_digit(in, count, out, base, shift);
            std::swap(in, out);
        }
    for (std::uint32_t i = 0; i < count; ++i) push(pool, in[i]);
    return count;
}

// ---- trim() of the pool, in steps ----
// It first moves the free chunks to lists, one for each group, and counts them. Then it visits the groups in order: if
// all chunks of a group are free, it gives the group back to the system; otherwise it returns the group's list to
// free_. If free_ becomes empty meanwhile, take() uses these lists.

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

} // namespace cogwheel::COGWHEEL_ABI::detail
