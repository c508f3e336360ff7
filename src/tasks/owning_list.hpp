// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Lists of tasks and of runs. An object is in one list at most, and that list keeps it alive. Moving it to another list
// needs no memory. So a run can end, wait or stop when there is none.
#pragma once

#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/detail/which_asio.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class T>
class owning_list;

/// The base of objects that can be in an owning_list.
template <class T>
class owned_links : public list_links<T> {
public:
    bool is_listed() const noexcept { return in_ != nullptr; }

private:
    friend owning_list<T>;

    owning_list<T>* in_ = nullptr;
    std::shared_ptr<T> held_;
};

/// An intrusive list. T is a owned_links<T> that std::shared_ptr owns. Complexity: O(1) for each function.
template <class T>
class owning_list {
public:
    ~owning_list() {
        while (pop() != nullptr) {
        }
    }

    bool empty() const noexcept { return members_.empty(); }
    std::size_t size() const noexcept { return size_; }
    T* front() const noexcept { return members_.front(); }

    /// Moves an object to the end of this list, from any other list.
    void push(const std::shared_ptr<T>& member) noexcept {
        T& m = *member;
        if (m.in_ != nullptr) m.in_->take(m);
        m.in_ = this;
        m.held_ = member;
        members_.push_back(m);
        ++size_;
    }

    /// Takes an object out. Returns nullptr if it is not in this list.
    std::shared_ptr<T> take(T& m) noexcept {
        if (m.in_ != this) return nullptr;
        m.in_ = nullptr;
        members_.erase(m);
        --size_;
        return std::move(m.held_);
    }

    /// Takes the first object out. Returns nullptr if the list is empty.
    std::shared_ptr<T> pop() noexcept { return empty() ? nullptr : take(*front()); }

private:
    linked_list<T> members_;
    std::size_t size_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
