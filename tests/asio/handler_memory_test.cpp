// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where a timer's memory comes from, and that it is free again before the callable runs. A wait's allocator:
// conformance/wait_memory_test.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/tracking_allocator.hpp"

#include <asio/bind_allocator.hpp>

#include <array>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// A handler that is `Size` bytes large, aligned to `Align`, and notices when a byte of it was lost.
template <std::size_t Size, std::size_t Align>
class bulky {
public:
    explicit bulky(int& runs) : runs_(&runs) { fill_.fill(std::byte{0x5A}); }

    void operator()(std::error_code ec) {
        CHECK_FALSE(ec);
        CHECK(reinterpret_cast<std::uintptr_t>(fill_.data()) % Align == 0);
        for (const std::byte b : fill_) REQUIRE(b == std::byte{0x5A});
        ++*runs_;
    }

private:
    alignas(Align) std::array<std::byte, Size> fill_;
    int* runs_;
};

template <std::size_t Size, std::size_t Align>
void check_bulky() {
    virtual_wheel w;
    int runs = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 5; ++i) w.wheel.async_wait(i * 10ms, bulky<Size, Align>(runs));
        w.wheel.async_wait(1h, [](std::error_code) {});
        w.pass(50ms);
        CHECK(runs == 5 * (round + 1));
    }
    CHECK(w.wheel.pending() == 3);
}

} // namespace

TEST_CASE("callables_allocator_nothing_live_when_the_callable_runs") {
    virtual_wheel w;
    allocation_log log;
    bool ran = false;
    w.wheel.schedule(10ms, asio::bind_allocator(tracking_allocator<void>(log), [&] {
                         CHECK(log.live == 0);
                         ran = true;
                     }));
    CHECK(log.live > 0);
    w.pass(10ms);
    CHECK(ran);
    CHECK(log.allocations > 0);
    CHECK(log.live == 0);
}

TEST_CASE("callables_allocator_cancel_by_token_frees_at_once") {
    virtual_wheel w;
    allocation_log log;
    auto token = w.wheel.schedule(1h, asio::bind_allocator(tracking_allocator<void>(log), [] {}));
    CHECK(log.live > 0);
    CHECK(token.cancel());
    CHECK(log.live == 0);
}

TEST_CASE("default_path_memory_is_reused_before_the_handler_runs") {
    // A wait started by the handler of another gets that one's block: the same index, another generation.
    virtual_wheel w;
    bool second = false;
    w.wheel.async_wait(10ms, [&](std::error_code) { w.wheel.async_wait(10ms, must_complete({}, &second)); });
    w.pass(10ms);
    w.pass(10ms);
    CHECK(second);
}

TEST_CASE("handler_of_any_size_and_alignment_in_a_block_used_again_arrives_whole") {
    SUBCASE("pooled, smallest") { check_bulky<1, 1>(); }
    SUBCASE("pooled, at the limit") { check_bulky<node_table::max_block - sizeof(timer_node) - sizeof(void*), 1>(); }
    SUBCASE("one byte above the limit") {
        check_bulky<node_table::max_block - sizeof(timer_node) - sizeof(void*) + 1, 1>();
    }
    SUBCASE("far above the limit") { check_bulky<5000, 1>(); }
    SUBCASE("the block's own alignment") { check_bulky<32, 32>(); }
    SUBCASE("over-aligned") { check_bulky<64, 64>(); }
    SUBCASE("over-aligned and large") { check_bulky<4096, 256>(); }
}
