// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Lists of tasks and of runs. An object is in at most one row, and that row keeps it alive. Moving it from row to row
// needs no memory. So a run can end, wait or stop when there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace cogwheel::detail {

template <class T>
class row;

/// The base of objects that can be in a row.
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

/// An intrusive list. T is a row_member<T> that std::shared_ptr owns. Complexity: O(1) for each function.
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

    /// Moves an object to the end of this row, from any other row.
    void push(const std::shared_ptr<T>& member) noexcept {
        T& m = *member;
        if (m.in_ != nullptr) m.in_->take(m);
        m.in_ = this;
        m.before_ = std::exchange(last_, &m);
        (m.before_ != nullptr ? m.before_->after_ : first_) = &m;
        m.held_ = member;
        ++size_;
    }

    /// Takes an object out. Returns nullptr if it is not in this row.
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

    /// Takes the first object out. Returns nullptr if the row is empty.
    std::shared_ptr<T> pop() noexcept { return first_ != nullptr ? take(*first_) : nullptr; }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace cogwheel::detail
