// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// After reserve() nothing allocates; and where an allocation fails, nothing is lost, fired twice or left half done.
#include "support/random.hpp"
#include "support/wheel/aligned_memory.hpp"
#include "support/wheel/reference_wheel.hpp"
#include "support/wheel/wheel_access.hpp"
#include "support/wheel/wheel_fixture.hpp"

#include <cogwheel/wheel/detail/slab_memory.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <new>

using namespace cogwheel_tests;
using cogwheel::tick;
using cogwheel::timer_node;

namespace {

std::size_t allocations = 0;
std::size_t fail_after = std::numeric_limits<std::size_t>::max(); // that many succeed, the next one does not

void* allocate(std::size_t size, std::size_t alignment) {
    ++allocations;
    if (fail_after == 0) throw std::bad_alloc();
    if (fail_after != std::numeric_limits<std::size_t>::max()) --fail_after;
    void* memory = take_aligned(alignment, size);
    if (memory == nullptr) throw std::bad_alloc();
    return std::memset(memory, 0xFF, size); // an armed timer, to whoever reads what was never constructed
}

// While it lives, the allocation after `successes` further ones fails.
struct failing_allocations {
    explicit failing_allocations(std::size_t successes) { fail_after = successes; }
    ~failing_allocations() { fail_after = std::numeric_limits<std::size_t>::max(); }
};

} // namespace

// All forms, for a sanitizer brings its own of those that are left. Not inlined, for the compiler would complain of a
// mismatch between what it sees through and what it does not.
#define COGWHEEL_TEST_OPERATOR [[gnu::noinline]] void
COGWHEEL_TEST_OPERATOR* operator new(std::size_t n) { return allocate(n, alignof(std::max_align_t)); }
COGWHEEL_TEST_OPERATOR* operator new[](std::size_t n) { return allocate(n, alignof(std::max_align_t)); }
COGWHEEL_TEST_OPERATOR* operator new(std::size_t n, std::align_val_t a) { return allocate(n, std::size_t(a)); }
COGWHEEL_TEST_OPERATOR* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    try {
        return allocate(n, alignof(std::max_align_t));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
COGWHEEL_TEST_OPERATOR operator delete(void* memory) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete[](void* memory) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete(void* memory, std::size_t) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete[](void* memory, std::size_t) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete(void* memory, std::align_val_t) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete(void* memory, std::size_t, std::align_val_t) noexcept { free_aligned(memory); }
COGWHEEL_TEST_OPERATOR operator delete(void* memory, const std::nothrow_t&) noexcept { free_aligned(memory); }
#undef COGWHEEL_TEST_OPERATOR

TEST_CASE("find_id_of_a_block_that_was_never_made_finds_nothing") {
    cogwheel::node_table nodes;
    (void)nodes.allocate(64);
    constexpr std::uint32_t end = cogwheel::node_table::page_size;
    CHECK(nodes.find(cogwheel::timer_id{end - 1, ~std::uint32_t{0}}) == nullptr);
    CHECK(nodes.find(cogwheel::timer_id{end, ~std::uint32_t{0}}) == nullptr);
}

TEST_CASE_TEMPLATE("reserve_then_nothing_allocates", Wheel, EVERY_WHEEL) {
    for (const std::size_t slots : {1U, 4U, 512U}) {
        constexpr std::size_t timers = 1'000;
        cogwheel::node_table nodes;
        Wheel wheel(nodes, slots, tick{});
        random_source random(slots);
        std::vector<timer_node*> live;
        live.reserve(timers);
        nodes.reserve(timers, 64);
        wheel.reserve(timers);
        const std::size_t before = allocations;
        std::uint64_t now = 0;
        for (int i = 0; i < 200'000; ++i) {
            const std::uint64_t deadline = now + random.below(random.below(50) == 0 ? 100'000 : 2'000);
            const std::size_t any = live.empty() ? 0 : random.below(live.size());
            if (live.size() < timers && random.below(3) != 0) {
                timer_node& node = nodes.allocate(64);
                node.completion(ignore_expiry);
                wheel.schedule(node, tick{deadline});
                live.push_back(&node);
            } else if (!live.empty() && random.below(2) == 0) {
                wheel.cancel(*live[any]);
                nodes.release(*live[any], 64);
                live[any] = live.back();
                live.pop_back();
            } else if (!live.empty()) {
                wheel.reschedule(*live[any], tick{deadline});
            }
            if (i % 64 == 0) {
                now += random.below(20) == 0 ? 3'000 : random.below(30);
                wheel.advance(tick{now});
                (void)wheel.next_due();
                std::erase_if(live, [&](timer_node* node) {
                    if (node->armed()) return false;
                    nodes.release(*node, 64);
                    return true;
                });
            }
        }
        const std::size_t after = allocations; // before doctest makes some
        CAPTURE(slots);
        CHECK(after == before);
    }
}

TEST_CASE_TEMPLATE("reserve_then_timers_of_one_slot_allocate_nothing", Wheel, EVERY_WHEEL) {
    cogwheel::node_table nodes;
    Wheel wheel(nodes, 512, tick{});
    wheel.reserve(10'000);
    nodes.reserve(10'000, 64);
    const std::size_t before = allocations;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        timer_node& node = nodes.allocate(64);
        node.completion(ignore_expiry);
        wheel.schedule(node, tick{1 + 512 * (1 + i % 7)});
    }
    for (std::uint64_t now = 1; now < 2'000; ++now) wheel.advance(tick{now});
    wheel.advance(tick{1'000'000});
    const std::size_t after = allocations; // before doctest makes some
    CHECK(wheel.size() == 0);
    CHECK(after == before);
}

TEST_CASE_TEMPLATE("reserve_in_the_worst_case_nothing_allocates", Wheel, EVERY_WHEEL) {
    // Every entry has a slot of its own, there is as much garbage as there may be, and then comes a jump.
    for (const std::size_t timers : {1U, 2U, 63U, 1'000U}) {
        cogwheel::node_table nodes;
        Wheel wheel(nodes, 4096, tick{});
        wheel.reserve(timers);
        nodes.reserve(timers, 64);
        std::vector<timer_node*> live;
        live.reserve(timers);
        const std::size_t before = allocations;
        for (std::size_t i = 0; i < timers; ++i) {
            live.push_back(&nodes.allocate(64));
            live.back()->completion(ignore_expiry);
        }
        for (std::uint64_t round = 0; round < 20; ++round) {
            const std::uint64_t now = wheel.now().value;
            for (std::uint64_t life = 0; life < 4'000 / timers + 2; ++life)
                for (std::size_t i = 0; i < timers; ++i) {
                    if (live[i]->armed()) wheel.cancel(*live[i]);
                    wheel.schedule(*live[i], tick{now + 2 + (life * timers + i) % 4090});
                }
            (void)wheel.next_due();
            wheel.advance(tick{now + 1 + round * 409});
            for (timer_node* node : live)
                if (!node->armed()) wheel.schedule(*node, tick{wheel.now().value});
            wheel.advance(tick{wheel.now().value + 10'000});
        }
        const std::size_t after = allocations; // before doctest makes some
        CAPTURE(timers);
        CHECK(wheel.size() == 0);
        CHECK(after == before);
    }
}

TEST_CASE("node_table_failing_allocation_changes_nothing") {
    cogwheel::node_table nodes;
    for (std::size_t n = 0; n < 2; ++n) {
        const failing_allocations failing(n);
        CHECK_THROWS_AS((void)nodes.allocate(64), std::bad_alloc);
    }
    timer_node& block = nodes.allocate(64);
    timer_node embedded;
    {
        const failing_allocations failing(0);
        CHECK_THROWS_AS(nodes.attach(embedded), std::bad_alloc);
    }
    nodes.attach(embedded);
    CHECK(!block.armed());
    std::size_t known = 0, others = 0;
    nodes.for_each([&](timer_node& node) { ++(&node == &block || &node == &embedded ? known : others); });
    CHECK(known == 2);
    CHECK(others == 512 / 64 - 1); // made with the block
    nodes.detach(embedded);
}

TEST_CASE("slab_memory_failing_allocation_changes_nothing") {
    constexpr std::size_t page = cogwheel::detail::slab_memory::alignment;
    cogwheel::detail::slab_memory memory;
    for (int i = 0; i < 15; ++i) (void)memory.take(64 * page);
    std::byte* last = memory.take(page); // the 16th slab, with room left; the next one needs a longer list of them, too
    const std::size_t footprint = memory.footprint();
    for (std::size_t n = 0; n < 2; ++n) {
        const failing_allocations failing(n);
        CHECK_THROWS_AS((void)memory.take(128 * page), std::bad_alloc);
    }
    CHECK(memory.footprint() == footprint);
    CHECK(memory.take(page) == last + page);
}

TEST_CASE_TEMPLATE("trim_without_memory_for_its_counters_does_nothing", Wheel, EVERY_WHEEL) {
    cogwheel::node_table nodes;
    Wheel wheel(nodes, 512, tick{});
    timer_node& node = nodes.allocate(64);
    node.completion(ignore_expiry);
    wheel.schedule(node, tick{1});
    wheel.advance(tick{1});
    nodes.release(node, 64);
    const cogwheel::timer_id old = node.id();
    {
        const failing_allocations failing(0);
        CHECK(wheel.trim());
    }
    CHECK(&nodes.allocate(64) == &node);
    CHECK(nodes.find(old) == nullptr);
    CHECK(wheel.check_invariants() == nullptr);
}

TEST_CASE("advance_failing_to_put_an_entry_back_tries_again") {
    // As many slots in use as it takes for the pool to have nothing left when the first slot's entries go back.
    std::size_t failures = 0;
    for (std::size_t n = 0; n < 280; ++n) {
        const std::size_t used = 1 + n / 2, pushed_back = n % 2 == 0 ? 0 : 2; // which one of the first slot's three
        cogwheel::node_table nodes;
        cogwheel::hashed_wheel wheel(nodes, 256);
        std::vector<timer_node*> timers;
        for (std::size_t i = 0; i < used + 2; ++i) {
            timer_node& node = *timers.emplace_back(&nodes.allocate(64));
            node.completion(ignore_expiry);
            wheel.schedule(node, tick{i == pushed_back ? 1 : i < 3 ? 257 : i - 1});
        }
        wheel.reschedule(*timers[pushed_back], tick{257});
        try {
            const failing_allocations failing(0);
            wheel.advance(tick{1});
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        CHECK(wheel.size() == used + 2);
        CHECK(wheel.check_invariants() == nullptr);
        CHECK(wheel.advance(tick{256}).fired == used - 1);
        CHECK(wheel.advance(tick{257}).fired == 3);
    }
    CHECK(failures > 1);
}

namespace {

// A wheel and its reference; any call may run out of memory, and is then made again.
template <class Wheel>
struct scarce_world {
    struct item {
        timer_node node{&scarce_world::expired};
        std::uint64_t key = 0;
    };

    cogwheel::node_table nodes;
    Wheel wheel;
    reference_wheel model{0};
    std::deque<item> items;
    random_source random;
    std::uint64_t keys = 0;
    std::size_t failures = 0;
    const char* fault = nullptr;

    scarce_world(std::size_t slots, std::uint64_t seed) : wheel(nodes, slots, tick{}), random(seed) {
        for (int i = 0; i < 600; ++i) nodes.attach(items.emplace_back().node);
        cogwheel::wheel_access::set_sort_limit(wheel, seed % 2 == 0 ? 4 : 1024);
    }
    ~scarce_world() {
        wheel.clear([](timer_node&) {});
        for (item& i : items) nodes.detach(i.node);
    }
    scarce_world(const scarce_world&) = delete;
    scarce_world& operator=(const scarce_world&) = delete;

    static void expired(timer_node& node, void* context) {
        auto& in = *static_cast<scarce_world*>(context);
        const char* why = in.model.fire(reinterpret_cast<item&>(node).key);
        if (in.fault == nullptr) in.fault = why;
    }

    template <class Call, class Unchanged>
    void insist(Call call, Unchanged unchanged) {
        try {
            const failing_allocations failing(random.below(2u));
            call();
            return;
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        CHECK(unchanged());
        const char* broken = wheel.check_invariants();
        if (fault == nullptr) fault = broken;
        call();
    }

    void step() {
        item& i = items[random.below(items.size())];
        const std::uint64_t deadline = model.now() + random.below(random.below(4) == 0 ? 5'000 : 700);
        if (random.below(10) == 0) {
            const std::uint64_t to = model.now() + random.below(random.below(3) == 0 ? 3'000 : 10);
            model.begin_advance(to);
            bool again = true;
            while (again && fault == nullptr) {
                insist([&] { again = wheel.advance(tick{to}, {1 + std::int64_t(random.below(500))}, this).more; },
                       [&] { return wheel.size() == model.size(); });
                if (again) model.begin_advance(to);
            }
            if (fault == nullptr && model.work_left()) fault = "a due timer was lost";
        } else if (!i.node.armed()) {
            insist([&] { wheel.schedule(i.node, tick{deadline}); }, [&] { return !i.node.armed(); });
            model.schedule(i.key = ++keys, deadline);
        } else if (random.below(4) == 0) {
            wheel.cancel(i.node);
            model.cancel(i.key);
        } else {
            const tick was = i.node.deadline();
            insist([&] { wheel.reschedule(i.node, tick{deadline}); },
                   [&] { return i.node.armed() && i.node.deadline() == was; });
            model.reschedule(i.key, deadline);
        }
        if (fault == nullptr && wheel.size() != model.size()) fault = "size() is wrong";
    }
};

} // namespace

TEST_CASE_TEMPLATE("allocation_failure_in_any_call_loses_nothing", Wheel, EVERY_WHEEL) {
    std::size_t failures = 0;
    for (const std::size_t slots : {1U, 4U, 512U}) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            scarce_world<Wheel> world(slots, seed);
            for (int i = 0; i < 1'000 && world.fault == nullptr; ++i) world.step();
            CAPTURE(slots);
            CAPTURE(seed);
            CHECK(std::string(world.fault == nullptr ? "" : world.fault) == "");
            failures += world.failures;
        }
    }
    CHECK(failures > 200);
}
