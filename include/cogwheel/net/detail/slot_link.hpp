// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From the cancellation slot of a user's handler to a composed operation. Either end may go first: the signal may be destroyed, or
// its slot given to another operation, while ours goes on; and the signal may be emitted when ours is long over.
// Thread safety: the signal's: both ends on one thread or strand.
#pragma once

#include <cogwheel/asio/detail/cancels.hpp>

namespace cogwheel::detail {

/// A member of the operation, in front of the handler, which may own the slot. Calls Operation::cancel(type).
template <class Operation>
class slot_link {
public:
    slot_link() noexcept = default;
    slot_link(const slot_link&) = delete;
    slot_link& operator=(const slot_link&) = delete;
    ~slot_link() { cut(); }

    /// Errors: std::bad_alloc.
    template <class Slot>
    void connect(Slot slot, Operation& o) {
        if (slot.is_connected()) slot.template emplace<far_end>(*this, o);
    }
    bool connected() const noexcept { return far_ != nullptr; }
    void cut() noexcept {
        if (far_ != nullptr) far_->link = nullptr;
        far_ = nullptr;
    }

private:
    struct far_end {
        slot_link* link;
        Operation* operation;

        far_end(slot_link& l, Operation& o) noexcept : link(&l), operation(&o) { l.far_ = this; }
        far_end(const far_end&) = delete;
        far_end& operator=(const far_end&) = delete;
        ~far_end() {
            if (link != nullptr) link->far_ = nullptr;
        }
        void operator()(asio::cancellation_type_t type) {
            if (link == nullptr || !cancels(type)) return;
            operation->cancel(type);
        }
    };

    far_end* far_ = nullptr;
};

} // namespace cogwheel::detail
