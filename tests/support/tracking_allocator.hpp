// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An allocator that keeps books, and fails on demand.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace cogwheel_tests {

struct allocation_log {
    std::size_t live = 0; // bytes
    std::size_t allocations = 0;
    bool fail = false;
};

template <class T>
class tracking_allocator {
public:
    using value_type = T;

    explicit tracking_allocator(allocation_log& log) noexcept : log_(&log) {}
    template <class U>
    tracking_allocator(const tracking_allocator<U>& other) noexcept : log_(other.log()) {}

    T* allocate(std::size_t n) {
        if (log_->fail) throw std::bad_alloc();
        T* p = std::allocator<T>().allocate(n);
        log_->live += n * sizeof(T);
        ++log_->allocations;
        return p;
    }
    void deallocate(T* p, std::size_t n) noexcept {
        log_->live -= n * sizeof(T);
        std::allocator<T>().deallocate(p, n);
    }

    allocation_log* log() const noexcept { return log_; }
    template <class U>
    friend bool operator==(const tracking_allocator& a, const tracking_allocator<U>& b) noexcept {
        return a.log() == b.log();
    }

private:
    allocation_log* log_;
};

} // namespace cogwheel_tests
