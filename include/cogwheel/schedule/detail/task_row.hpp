// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks and runs in a row. Each is in one row at most, which holds it. Going from row to row needs no memory: what ends, waits or is told
// to stop may do so when there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace cogwheel::detail {

template <class T>
class row;

template <class T>
class row_member {
public:
    bool in_a_row() const noexcept { return in_ != nullptr; }

private:
    friend row<T>;

    row<T>* in_ = nullptr;
    T* before_ = nullptr;
    T* after_ = nullptr;
    std::shared_ptr<T> held_;
};

/// T: a row_member<T> that is held by a std::shared_ptr. Complexity: O(1) each.
template <class T>
class row {
public:
    row() = default;
    row(const row&) = delete;
    row& operator=(const row&) = delete;
    ~row() {
        while (pop() != nullptr) {
        }
    }

    bool empty() const noexcept { return first_ == nullptr; }
    std::size_t size() const noexcept { return size_; }
    T* front() const noexcept { return first_; }

    /// To the end of this one, from wherever it is.
    void push(const std::shared_ptr<T>& member) noexcept {
        T& m = *member;
        if (m.in_ != nullptr) m.in_->take(m);
        m.in_ = this;
        m.before_ = std::exchange(last_, &m);
        (m.before_ != nullptr ? m.before_->after_ : first_) = &m;
        m.held_ = member;
        ++size_;
    }

    /// nullptr: it is not here.
    std::shared_ptr<T> take(T& m) noexcept {
        if (m.in_ != this) return nullptr;
        m.in_ = nullptr;
        T* const before = std::exchange(m.before_, nullptr);
        T* const after = std::exchange(m.after_, nullptr);
        (before != nullptr ? before->after_ : first_) = after;
        (after != nullptr ? after->before_ : last_) = before;
        --size_;
        return std::move(m.held_);
    }

    /// nullptr: there is none.
    std::shared_ptr<T> pop() noexcept { return first_ != nullptr ? take(*first_) : nullptr; }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace cogwheel::detail
