// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/credentials.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

using cogwheeld::credentials;

namespace {

credentials read(const temporary_directory& in, std::string_view text) {
    const auto file = in.path() / "tokens";
    std::ofstream(file, std::ios::binary) << text;
    return credentials::from_file(file);
}

std::string failure(const temporary_directory& in, std::string_view text) {
    try {
        read(in, text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("credentials_allow_each_token_of_the_file_and_nothing_else") {
    const temporary_directory in("cogwheeld");
    const auto c = read(in, "# of the shop\n0123456789abcdef\n\r\nfedcba9876543210\r\n");
    for (const char* good : {"Bearer 0123456789abcdef", "bearer fedcba9876543210", "BEARER   0123456789abcdef"}) {
        CAPTURE(good);
        CHECK(c.allow(good));
    }
    for (const char* bad :
         {"", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef", "Bearer 0123456789abcde",
          "Bearer 0123456789abcdef0", "Bearer 0123456789abcdef ", "Bearer # of the shop", "Bearer 0123456789ABCDEF",
          "Bearer 0123456789abcdef, Bearer 0123456789abcdef"}) {
        CAPTURE(bad);
        CHECK_FALSE(c.allow(bad));
    }
    CHECK_FALSE(credentials().allow("Bearer 0123456789abcdef"));
}

TEST_CASE("credentials_of_a_bad_file_say_what_is_wrong") {
    const temporary_directory in("cogwheeld");
    CHECK(failure(in, "# nothing\n").find("no token") != std::string::npos);
    CHECK(failure(in, "0123456789abcdef\nshort\n").find("line 2") != std::string::npos);
    CHECK(failure(in, "with a space in it, too long").find("line 1") != std::string::npos);
    CHECK(failure(in, std::string(credentials::most + 1, 'x')).find("line 1") != std::string::npos);
    CHECK(failure(in, std::string(credentials::most, 'x')).empty());
    CHECK_THROWS_AS(credentials::from_file(in.path() / "missing"), std::system_error);
}
