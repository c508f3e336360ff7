// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The core, and what else needs no event loop: in virtual time all of them.
#include "contenders/core.hpp"

#include "contenders/binary_heap.hpp"
#include "contenders/floor.hpp"
#include "contenders/linked_wheel.hpp"
#include "contenders/multimap.hpp"
#include "plans/legs.hpp"
#include "plans/worst_legs.hpp"

namespace bench {

const participation& core_plan() {
    static const participation all{
        {"request",
         on<request, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"churn",
         on<churn, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"churn_huge", in_huge_heap(on<churn, floor_store, embedded_core>()) + on<churn, core_in_huge_pages>()},
        {"touch_huge", in_huge_heap(on<touch, floor_store, embedded_core>()) + on<touch, core_in_huge_pages>()},
        {"mixed_huge", in_huge_heap(on<mixed_leg, embedded_core>()) + on<mixed_leg, core_in_huge_pages>()},
        {"touch",
         on<touch, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"touch_earlier",
         on<touch_earlier, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"schedule",
         on<schedule, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"cancel",
         on<cancel, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"fire_one_tick",
         on<fire_one_tick, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"fire_spread",
         on<fire_spread, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"mixed", on<mixed_leg, core, embedded_core, levels, linked_wheel, binary_heap>()},
        // The linked wheel would walk every list once a revolution: for hours.
        {"jump", on<jump_leg, core, core_by_id, embedded_core, levels, binary_heap, multimap>()},
        {"fire_minute", on<fire_minute, core, levels, linked_wheel, binary_heap, multimap>()},
        {"month", on<month_leg, core, levels, binary_heap, multimap>()},
        {"kept", on<kept_leg, core, embedded_core, levels, linked_wheel, binary_heap>()},
        {"worst_schedule", on<longest_schedule, floor_store, core, embedded_core, levels, binary_heap, multimap>()},
        {"worst_cancel", on<longest_cancel, floor_store, core, embedded_core, levels, binary_heap, multimap>()},
        {"worst_touch", on<longest_touch, floor_store, core, embedded_core, levels, binary_heap, multimap>()},
        {"memory",
         on<memory, floor_store, core, core_by_id, embedded_core, levels, linked_wheel, binary_heap, multimap>()},
        {"drain", on<drain_leg, core_by_id, multimap>()},
    };
    return all;
}

} // namespace bench
