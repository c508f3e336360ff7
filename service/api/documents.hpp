// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Files that are compiled into the program: service/page.html, service/api/openapi.json.
#pragma once

#include <string_view>

namespace cogwheeld {

extern const std::string_view page_html, openapi_json;

} // namespace cogwheeld
