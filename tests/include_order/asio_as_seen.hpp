// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a file of a program takes Asio to be. Asio decides some of it by what the file has included before; files that
// decide differently share objects of one name and two layouts.
#pragma once

#include <map>
#include <string>

namespace include_order {

// By name: the sizes of Asio's types in bytes, and the values of its macros. The value of an undefined one is its name.
struct asio_as_seen {
    std::map<std::string, std::size_t> sizes;
    std::map<std::string, std::string> macros;
};

asio_as_seen with_asio_first();
asio_as_seen with_cogwheel_first();
asio_as_seen with_threads_first();

} // namespace include_order
