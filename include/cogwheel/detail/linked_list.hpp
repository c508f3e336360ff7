// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A doubly linked list whose links are in its members: it allocates nothing, and no function fails.
#pragma once

#include <cogwheel/detail/platform.hpp>

namespace cogwheel::COGWHEEL_ABI::detail {

/// The links of a member. T derives from it. `Tag` distinguishes the lists that one object can be in at the same time.
template <class T, class Tag = void>
class list_links {
    template <class, class>
    friend class linked_list;

    T* previous_ = nullptr;
    T* next_ = nullptr;
};

/// A list that owns none of its members. Complexity: O(1) for each function.
template <class T, class Tag = void>
class linked_list {
    using links = list_links<T, Tag>;

public:
    linked_list() = default;
    linked_list(const linked_list&) = delete;
    linked_list& operator=(const linked_list&) = delete;

    bool empty() const noexcept { return first_ == nullptr; }

    /// Return the first member, the last one, or a neighbour of `m`; nullptr if there is none.
    T* front() const noexcept { return first_; }
    T* back() const noexcept { return last_; }
    static T* next(const T& m) noexcept { return static_cast<const links&>(m).next_; }
    static T* previous(const T& m) noexcept { return static_cast<const links&>(m).previous_; }

    /// Preconditions: the object is in no list with this tag.
    void push_front(T& m) noexcept { insert(m, nullptr, first_); }
    void push_back(T& m) noexcept { insert(m, last_, nullptr); }

    /// Preconditions: the object is in this list.
    void erase(T& m) noexcept {
        const links& l = m;
        next_of(l.previous_) = l.next_;
        previous_of(l.next_) = l.previous_;
    }

    /// Takes the first member out. Returns nullptr if the list is empty.
    T* pop_front() noexcept {
        T* const m = first_;
        if (m != nullptr) erase(*m);
        return m;
    }

private:
    void insert(T& m, T* before, T* after) noexcept {
        links& l = m;
        l.previous_ = before;
        l.next_ = after;
        next_of(before) = &m;
        previous_of(after) = &m;
    }
    T*& next_of(T* m) noexcept { return m != nullptr ? static_cast<links&>(*m).next_ : first_; }
    T*& previous_of(T* m) noexcept { return m != nullptr ? static_cast<links&>(*m).previous_ : last_; }

    T* first_ = nullptr;
    T* last_ = nullptr;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
