// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Renders an event for the page in slices: for each wheel, takes a sample, then writes it.
#pragma once

#include "../detail/json_writer.hpp"

#include <cogwheel/observe/debug_page.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class page_rendering {
public:
    explicit page_rendering(std::vector<std::shared_ptr<page_source>> sources) noexcept
        : sources_(std::move(sources)) {}

    bool next(std::string& out);

private:
    bool sample();
    void write_wheel();

    std::vector<std::shared_ptr<page_source>> sources_;
    json_writer json_;
    std::size_t source_ = 0; // where the next slice continues
    bool begun_ = false;
    wheel_cursor cursor_{debug_page::most_groups};
    page_sample sample_;
    bool present_ = true;
};

/// The HTML file, made from debug_page.html.
extern const std::string_view debug_page_html;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
