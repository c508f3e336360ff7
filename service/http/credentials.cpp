// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/credentials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <strings.h>

namespace cogwheeld {

namespace {

void digest_of(std::string_view token, unsigned char* to) noexcept {
    SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), to);
}

} // namespace

credentials credentials::from_file(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::system_error(errno, std::generic_category(), "token file " + file.string());
    credentials result;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        const bool visible = std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c <= '~'; });
        if (!visible || line.size() < least || line.size() > most)
            throw std::invalid_argument(
                fmt::format("token file {}, line {}: a token has {} to {} visible characters without spaces; make one "
                            "with: openssl rand -hex 32",
                            file.string(), number, least, most));
        result.add(line);
    }
    if (result.empty())
        throw std::invalid_argument(
            fmt::format("token file {} has no token; make one with: openssl rand -hex 32", file.string()));
    return result;
}

void credentials::add(std::string_view token) { digest_of(token, digests_.emplace_back().data()); }

bool credentials::allow(std::string_view authorization) const noexcept {
    constexpr std::string_view scheme = "Bearer ";
    if (authorization.size() < scheme.size() || strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0)
        return false;
    auto token = authorization.substr(scheme.size());
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    digest shown;
    digest_of(token, shown.data());
    unsigned found = 0; // all are compared, so that the time tells nothing
    for (const digest& d : digests_) found |= CRYPTO_memcmp(d.data(), shown.data(), d.size()) == 0 ? 1U : 0U;
    return found != 0;
}

} // namespace cogwheeld
