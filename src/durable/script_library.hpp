// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The embedded scripts with the SHA-1 by which EVALSHA names them.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <map>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct server_script {
    std::string_view text;
    std::string sha; // 40 hexadecimal digits
};

class script_library {
public:
    script_library();

    /// Preconditions: there is a script of this name.
    const server_script& at(std::string_view name) const { return scripts_.find(name)->second; }

private:
    std::map<std::string_view, server_script> scripts_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
