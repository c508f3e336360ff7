// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The zone of the system, as the C library has it, however the machine or the container says it.
#include "support/calendar/zone_database.hpp"

#include <cogwheel/calendar/zone_info.hpp>

#include <doctest/doctest.h>

using namespace cogwheel_tests;
using namespace std::chrono_literals;
using cogwheel::zone_info;
using cogwheel::detail::local_zone;
namespace fs = std::filesystem;

namespace {

const zone_database& local_zones() {
    static const zone_database& compiled = [&]() -> const zone_database& {
        static const zone_database made;
        fs::copy_file("/usr/share/zoneinfo/zone1970.tab", made.directory("slim") + "/zone1970.tab");
        return made;
    }();
    return compiled;
}

/// A directory like /etc.
struct etc_rig {
    void link(const std::string& to) {
        fs::remove(file());
        fs::create_symlink(to, file());
    }
    void mount(const std::string& zone, const char* layout = "slim") {
        fs::remove(file());
        fs::copy_file(local_zones().directory(layout) + "/" + zone, file());
    }
    void name(const std::string& zone) { put_bytes(scratch / "timezone", zone + "\n"); }
    fs::path file() const { return scratch / "localtime"; }
    zone_info zone() const { return local_zone(file().parent_path().string()); }

    environment_variable tzdir{"TZDIR", local_zones().directory("slim")};
    scratch_directory scratch;
};

} // namespace

TEST_CASE("local_zone_is_that_of_the_link") {
    etc_rig etc;
    etc.name("Asia/Tokyo"); // stale
    for (const char* to : {"/usr/share/zoneinfo/Europe/Berlin", "../usr/share/zoneinfo/Europe/Berlin",
                           "/etc/zoneinfo/Europe/Berlin", "/usr/lib/zoneinfo/Europe/Berlin"}) {
        etc.link(to);
        CHECK(etc.zone().name() == "Europe/Berlin");
    }
}

TEST_CASE("local_zone_of_a_mounted_file_is_that_of_the_file") {
    etc_rig etc;
    etc.name("Etc/UTC"); // of the image
    etc.mount("Europe/Berlin");
    CHECK(etc.zone().name() == "Europe/Berlin");
    etc.mount("America/Mexico_City");
    CHECK(etc.zone().name() == "America/Mexico_City");
    etc.mount("UTC");
    CHECK(etc.zone().to_local(std::chrono::sys_seconds(0s)) == std::chrono::local_seconds(0s));
    // A name that agrees is taken: here of an alias.
    etc.name("Europe/Oslo");
    etc.mount("Europe/Berlin");
    CHECK(etc.zone().name() == "Europe/Oslo");
    // Another edition of the database has other bytes.
    etc.name("Europe/Berlin");
    etc.mount("Europe/Berlin", "fat");
    CHECK(etc.zone().name() == "Europe/Berlin");
}

TEST_CASE("local_zone_that_the_database_does_not_have_works_without_a_name") {
    etc_rig etc;
    etc.name("Etc/UTC");
    etc.mount("Asia/Kathmandu", "fat");
    CHECK(etc.zone().name() == "localtime");
    CHECK(etc.zone().stretch_at(std::chrono::sys_days(std::chrono::year(2026) / 6 / 1)).offset == 5h + 45min);
    CHECK(etc.zone() == etc.zone());
    etc.link("/etc/zones/mine"); // of a zone that only this machine has
    fs::remove(etc.file());
    etc.mount("Asia/Kathmandu");
    CHECK(etc.zone().name() == "Asia/Kathmandu");
}

TEST_CASE("local_zone_without_a_file_is_that_of_the_name_or_utc") {
    etc_rig etc;
    CHECK(etc.zone().name() == "UTC");
    etc.name("Mars/Olympus");
    CHECK(etc.zone().name() == "UTC");
    etc.name("Asia/Tokyo");
    CHECK(etc.zone().name() == "Asia/Tokyo");
    etc.link("/usr/share/zoneinfo/Mars/Olympus"); // leads nowhere
    CHECK(etc.zone().name() == "Asia/Tokyo");
}
