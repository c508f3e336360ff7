// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/problem.hpp"
#include "api/target.hpp"

#include <doctest/doctest.h>

#include <string>

using cogwheeld::refusal;
using cogwheeld::target;

namespace {

int status_of(std::string_view path, std::string_view query = {}) {
    try {
        target::parse(path, query, true);
    } catch (const refusal& r) {
        CHECK_FALSE(r.why().detail.empty());
        CHECK_FALSE(r.why().remedy.empty());
        return r.why().status;
    }
    return 0;
}

} // namespace

TEST_CASE("target_of_a_task_has_its_id_and_the_action") {
    const auto plain = target::parse("/v1/tasks/order-17", "", true);
    CHECK(plain.place == "/v1/tasks/");
    CHECK(plain.id == "order-17");
    CHECK(plain.action.empty());
    const auto run = target::parse("/v1/tasks/order-17:run", "", true);
    CHECK(run.id == "order-17");
    CHECK(run.action == "run");
    const auto bulk = target::parse("/v1/tasks:bulk", "", true);
    CHECK(bulk.place == "/v1/tasks");
    CHECK(bulk.action == "bulk");
    CHECK(target::parse("/v1/dead/x:redrive", "", true).place == "/v1/dead/");
}

TEST_CASE("target_of_a_task_whose_id_has_any_bytes") {
    // A colon that is encoded belongs to the id, and so does each one where no action can be.
    const auto encoded = target::parse("/v1/tasks/a%3Arun%2F%00%ff%25:pause", "", true);
    CHECK(encoded.id == std::string("a:run/\0\xff%", 9));
    CHECK(encoded.action == "pause");
    CHECK(target::parse("/v1/tasks/a:b:c", "", false).id == "a:b:c");
    CHECK(target::parse("/v1/tasks/a:b:c", "", true).id == "a:b");
    CHECK(target::parse("/v1/tasks/a+b", "", false).id == "a+b");
}

TEST_CASE("target_elsewhere_has_no_id") {
    for (const char* path :
         {"/", "/v1/tasks", "/v1/tasks/", "/v1/tasks/a/b", "/v1/other/a", "/v1/tasks:bulk/a", "*", ""}) {
        CAPTURE(path);
        CHECK(target::parse(path, "", true).id.empty());
    }
}

TEST_CASE("target_parameters_are_decoded_and_may_come_once") {
    const auto t = target::parse("/v1/tasks", "state=dead&&cursor=a%26b+c&empty=&flag", false);
    CHECK(t.parameter("state") == "dead");
    CHECK(t.parameter("cursor") == "a&b c");
    CHECK(t.parameter("empty").empty());
    CHECK(t.parameter("other").empty());
    CHECK_NOTHROW(t.allow({"state", "cursor", "empty", "flag"}));
    CHECK_THROWS_AS(t.allow({"state", "cursor", "empty"}), refusal);
    CHECK(status_of("/v1/tasks", "a=1&a=2") == 422);
    for (const char* bad : {"%", "%4", "%zz", "a%"}) {
        CAPTURE(bad);
        CHECK(status_of("/v1/tasks", bad) == 400);
        CHECK(status_of(std::string("/v1/tasks/") + bad) == 400);
    }
}

TEST_CASE("target_count_is_a_whole_number_within_its_range") {
    CHECK(target::parse("/", "", false).count(100) == 100);
    CHECK(target::parse("/", "count=1000", false).count(100) == 1'000);
    for (const char* bad : {"0", "1001", "-1", "1.5", "x", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(target::parse("/", std::string("count=") + bad, false).count(100), refusal);
    }
}
