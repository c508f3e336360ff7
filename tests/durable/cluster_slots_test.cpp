// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The slots of a Redis cluster, and the replies that redirect a command.
#include "src/durable/cluster_slots.hpp"

#include <doctest/doctest.h>

#include <ostream>

using namespace cogwheel::detail;
using cogwheel::redis_address;
using cogwheel::redis_reply;

namespace {

const redis_address cluster_seed{.host = "seed", .port = 7000};

redis_reply string_reply(const char* text) { return redis_reply::text(redis_reply::kind::string, text); }

redis_reply slots_reply(std::int64_t first, std::int64_t last, redis_reply host, std::int64_t port) {
    std::vector<redis_reply> node{std::move(host), redis_reply::integer(port), string_reply("id")};
    std::vector<redis_reply> replica{string_reply("replica"), redis_reply::integer(1), string_reply("id2")};
    return redis_reply::array({redis_reply::integer(first), redis_reply::integer(last),
                               redis_reply::array(std::move(node)), redis_reply::array(std::move(replica))});
}

redirection redirection_of(const char* text) {
    return read_redirection(redis_reply::text(redis_reply::kind::error, text), cluster_seed);
}

} // namespace

TEST_CASE("cluster_slots_crc_has_the_published_values") {
    CHECK(crc16("123456789") == 0x31c3);
    CHECK(crc16("") == 0);
    CHECK(slot_of("foo") == 12'182);
    CHECK(slot_of("somekey") == 11'058);
}

TEST_CASE("cluster_slots_hash_tag_is_between_the_first_braces") {
    CHECK(hash_tag("{user1000}.following") == "user1000");
    CHECK(hash_tag("foo{}{bar}") == "foo{}{bar}");
    CHECK(hash_tag("foo{{bar}}zap") == "{bar");
    CHECK(hash_tag("foo{bar}{zap}") == "bar");
    CHECK(hash_tag("foo{bar") == "foo{bar");
    CHECK(hash_tag("foo}bar{") == "foo}bar{");
    CHECK(slot_of("{cw:n:7}:due") == slot_of("{cw:n:7}:meta"));
}

TEST_CASE("cluster_slots_table_names_the_master_of_each_slot") {
    const auto table =
        read_cluster_slots(redis_reply::array({slots_reply(0, 99, string_reply("a"), 1), slots_reply(100, 100, {}, 2),
                                               slots_reply(200, 16'383, string_reply("a"), 1)}),
                           cluster_seed);
    REQUIRE(table);
    CHECK(table->masters.size() == 2);
    CHECK(*table->find(0) == redis_address{.host = "a", .port = 1});
    CHECK(*table->find(100) == redis_address{.host = "seed", .port = 2});
    CHECK(table->find(101) == nullptr);
    CHECK(*table->find(16'383) == redis_address{.host = "a", .port = 1});
    CHECK(slot_table().find(0) == nullptr);
}

TEST_CASE("cluster_slots_reply_that_is_wrong_gives_no_table") {
    const auto wrong = [](redis_reply r) { return !read_cluster_slots(r, cluster_seed); };
    CHECK(wrong({}));
    CHECK(wrong(redis_reply::array({})));
    CHECK(wrong(redis_reply::array({string_reply("x")})));
    CHECK(wrong(redis_reply::array({redis_reply::array({string_reply("0"), string_reply("1"), string_reply("x")})})));
    CHECK(wrong(redis_reply::array({slots_reply(0, 16'384, string_reply("a"), 1)})));
    CHECK(wrong(redis_reply::array({slots_reply(-1, 1, string_reply("a"), 1)})));
    CHECK(wrong(redis_reply::array({slots_reply(2, 1, string_reply("a"), 1)})));
    CHECK(wrong(redis_reply::array({slots_reply(0, 1, string_reply("a"), 0)})));
    CHECK(wrong(redis_reply::array({slots_reply(0, 1, string_reply("a"), 65'536)})));
    CHECK(wrong(redis_reply::array({slots_reply(0, 1, string_reply("?"), 1)})));
}

TEST_CASE("cluster_slots_redirections_are_read") {
    using kind = redirection::kind;
    CHECK(redirection_of("MOVED 3999 127.0.0.1:6381").what == kind::moved);
    CHECK(redirection_of("MOVED 3999 127.0.0.1:6381").to == redis_address{.host = "127.0.0.1", .port = 6381});
    CHECK(redirection_of("ASK 1 ::1:7002").to == redis_address{.host = "::1", .port = 7002});
    CHECK(redirection_of("ASK 1 :7002").to == redis_address{.host = "seed", .port = 7002});
    CHECK(redirection_of("ASK 1 :7002").what == kind::ask);
    for (const char* later : {"TRYAGAIN Multiple keys", "CLUSTERDOWN Hash slot not served", "LOADING x", "MASTERDOWN x",
                              "MOVED", "MOVED 1", "MOVED x h:1", "MOVED 16384 h:1", "MOVED 1 h:0", "MOVED 1 h:99999",
                              "MOVED 1 h", "ASK 1 ?:7000", "MOVED 1 h:"}) {
        CAPTURE(later);
        CHECK(redirection_of(later).what == kind::later);
    }
    CHECK(redirection_of("ERR MOVED").what == kind::none);
    CHECK(redirection_of("MOVEDX 1 h:1").what == kind::none);
    CHECK(read_redirection(string_reply("MOVED 1 h:1"), cluster_seed).what == kind::none);
}

TEST_CASE("cluster_slots_range_of_an_unknown_node_is_left_out") {
    const auto table = read_cluster_slots(
        redis_reply::array({slots_reply(0, 99, string_reply("?"), 1), slots_reply(100, 199, string_reply("b"), 0),
                            slots_reply(200, 16'383, string_reply("a"), 1)}),
        cluster_seed);
    REQUIRE(table);
    CHECK(table->masters.size() == 1);
    CHECK(table->find(0) == nullptr);
    CHECK(table->find(150) == nullptr);
    CHECK(*table->find(200) == redis_address{.host = "a", .port = 1});
}
