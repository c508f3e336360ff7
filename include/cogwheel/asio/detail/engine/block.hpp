// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The memory of a timer of the binding: a node, then its payload.
//
// By default, both are one block of a node_table. For a payload that is too large or has its own allocator, the memory
// comes from the heap or that allocator. The table then knows the node as an embedded one.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/wheel/node_table.hpp>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A block that the table gets back at the end of the scope, unless it is kept. Compiled once for all payload types.
class table_block {
public:
    table_block(node_table& table, timer_node& node, std::size_t size, node_table::mark mark) noexcept
        : table_(table), node_(&node), size_(size), mark_(mark) {}
    table_block(const table_block&) = delete;
    table_block& operator=(const table_block&) = delete;
    ~table_block() {
        if (node_ != nullptr) table_.release(*node_, size_, mark_);
    }
    void keep() noexcept { node_ = nullptr; }

private:
    node_table& table_;
    timer_node* node_;
    std::size_t size_;
    node_table::mark mark_;
};

/// Payload::allocator_type: void for memory of the table, else the type of Payload::get_allocator().
template <class Payload>
class block {
    using allocator = typename Payload::allocator_type;
    static constexpr std::size_t size = sizeof(timer_node) + sizeof(Payload);
    static constexpr bool pooled =
        std::is_void_v<allocator> && size <= node_table::max_block && alignof(Payload) <= node_table::block_alignment;

    struct own_block {
        timer_node node;
        Payload payload;
    };
    using own_allocator =
        typename std::allocator_traits<std::conditional_t<std::is_void_v<allocator>, std::allocator<void>,
                                                          allocator>>::template rebind_alloc<own_block>;
    using own_traits = std::allocator_traits<own_allocator>;

public:
    /// True if release() is enough to end a timer without a delivery.
    static constexpr bool trivial = pooled && COGWHEEL_TRIVIALLY_DESTRUCTIBLE(Payload);
    /// Says whether the table marks the block: a token then cancels the timer without a call of its function.
    static constexpr node_table::mark mark = [] {
        if constexpr (requires { Payload::ends_by_release; })
            if (trivial && Payload::ends_by_release) return node_table::mark::yes;
        return node_table::mark::no;
    }();

    /// Makes a disarmed node with its payload. Preconditions: the lock that guards the table is held.
    /// Errors: those of the allocation and of the payload's constructor; nothing changes.
    template <class Allocator, class... Args>
    static timer_node& create(node_table& table, [[maybe_unused]] const Allocator& a, Args&&... args) {
        if constexpr (pooled) {
            timer_node& node = table.allocate(size, mark);
            table_block made(table, node, size, mark);
            ::new (static_cast<void*>(&node + 1)) Payload(std::forward<Args>(args)...);
            made.keep();
            return node;
        } else {
            own_allocator memory(a);
            own_block* own = own_traits::allocate(memory, 1);
            COGWHEEL_TRY {
                ::new (static_cast<void*>(own)) own_block{timer_node{}, Payload(std::forward<Args>(args)...)};
                COGWHEEL_TRY { table.attach(own->node); }
                COGWHEEL_CATCH {
                    own->~own_block();
                    COGWHEEL_RETHROW;
                }
            }
            COGWHEEL_CATCH {
                own_traits::deallocate(memory, own, 1);
                COGWHEEL_RETHROW;
            }
            return own->node;
        }
    }

    /// Whether create_armed() may be called with these arguments.
    template <class... Args>
    static constexpr bool is_pooled_noexcept = pooled && noexcept(Payload(std::declval<Args>()...));

    /// Does what create() does, with a block from the table's free list that arm(node) arms. Returns nullptr if arm()
    /// returns false, or no block is free; nothing has changed then.
    template <class Arm, class... Args>
    COGWHEEL_ALWAYS_INLINE static timer_node* create_armed(node_table& table, Arm arm, Args&&... args) noexcept {
        timer_node* node = table.take_free(size, mark);
        if (node == nullptr) [[unlikely]]
            return nullptr;
        if (!arm(*node)) [[unlikely]] {
            table.put_back(*node, size, mark);
            return nullptr;
        }
        ::new (static_cast<void*>(node + 1)) Payload(std::forward<Args>(args)...);
        return node;
    }

    static Payload& payload(timer_node& node) noexcept {
        if constexpr (pooled)
            return *std::launder(reinterpret_cast<Payload*>(&node + 1));
        else
            return reinterpret_cast<own_block&>(node).payload; // the node is its first member
    }
    static timer_node& node(Payload& payload) noexcept {
        if constexpr (pooled) {
            return *std::launder(reinterpret_cast<timer_node*>(&payload) - 1);
        } else {
            constexpr std::size_t offset =
                (sizeof(timer_node) + alignof(Payload) - 1) / alignof(Payload) * alignof(Payload);
            return *std::launder(reinterpret_cast<timer_node*>(reinterpret_cast<std::byte*>(&payload) - offset));
        }
    }

    /// Moves the payload out by f, then destroys the moved-from one and frees the memory.
    /// Preconditions: the lock is held.
    /// Effects: keeps the lock if the memory is the table's, else releases it: the allocator may be the user's code.
    template <class Lock, class F>
    static auto take_out(node_table& table, [[maybe_unused]] Lock& lock, timer_node& node, F f) {
        Payload& p = payload(node);
        if constexpr (pooled) {
            const table_block freed(table, node, size, mark);
            const destroying ended{p};
            return f(p);
        } else {
            const freeing<Lock> freed{table, lock, node, memory_of(p)}; // gets the allocator before the payload moves
            return f(p);
        }
    }

    /// Frees a block whose payload needs no destructor. Preconditions: trivial.
    static void release(node_table& table, timer_node& node) noexcept { table.release(node, size, mark); }

private:
    struct destroying {
        Payload& p;
        ~destroying() { p.~Payload(); }
    };
    template <class Lock>
    struct freeing {
        node_table& table;
        Lock& lock;
        timer_node& node;
        own_allocator memory;
        ~freeing() {
            table.detach(node);
            if (lock.owns_lock()) lock.unlock();
            auto& own = reinterpret_cast<own_block&>(node);
            own.~own_block();
            own_traits::deallocate(memory, &own, 1);
        }
    };

    static own_allocator memory_of([[maybe_unused]] const Payload& p) {
        if constexpr (std::is_void_v<allocator>)
            return {};
        else
            return own_allocator(p.get_allocator());
    }
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
