// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Bearer tokens (RFC 6750) that a client may show.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

namespace cogwheeld {

/// Keeps the SHA-256 of each token, not the token. Thread safety: none.
class credentials {
public:
    static constexpr std::size_t least = 16, most = 512; ///< bytes of a token

    credentials() = default;
    /// Reads a file with one token a line: visible ASCII without spaces. Empty lines and lines that begin with # do not
    /// count. Errors: std::invalid_argument that names the file and the line; std::system_error.
    static credentials from_file(const std::filesystem::path& file);

    void add(std::string_view token);
    bool empty() const noexcept { return digests_.empty(); }

    /// Returns true if `authorization`, the value of that field, is "Bearer" and a token. Its time does not depend on
    /// how much of a wrong token is right, nor on which token is right.
    bool allow(std::string_view authorization) const noexcept;

private:
    using digest = std::array<unsigned char, 32>;
    std::vector<digest> digests_;
};

} // namespace cogwheeld
