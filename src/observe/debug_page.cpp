// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "page_rendering.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

using field = page_answer::field;

constexpr field no_guess{"X-Content-Type-Options", "nosniff"};
constexpr field no_cache{"Cache-Control", "no-store"};
constexpr field own_origin{"Cross-Origin-Resource-Policy", "same-origin"};
constexpr field plain_text{"Content-Type", "text/plain; charset=utf-8"};

// Lets the browser load only the page and its stream, and show the page inside no other page.
constexpr std::array page_fields{
    field{"Content-Type", "text/html; charset=utf-8"},
    field{"Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
          "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    field{"Referrer-Policy", "no-referrer"},
    no_cache,
    no_guess,
    own_origin,
};

constexpr std::array event_fields{
    field{"Content-Type", "text/event-stream"},
    field{"X-Accel-Buffering", "no"}, // of nginx: pass events on at once
    no_cache,
    no_guess,
    own_origin,
};

constexpr std::array text_fields{plain_text, no_guess};
constexpr std::array method_fields{plain_text, no_guess, field{"Allow", "GET"}};

void end(detail::page_source& source) {
    const std::lock_guard lock(source.mutex);
    source.removed = true;
    source.step = nullptr;
}

} // namespace

std::string page_answer::head() const {
    std::string text = "HTTP/1.1 ";
    text += status == 200 ? "200 OK" : status == 405 ? "405 Method Not Allowed" : "404 Not Found";
    text += "\r\n";
    for (const field& f : fields) (((text += f.name) += ": ") += f.value) += "\r\n";
    if (!events) ((text += "Content-Length: ") += std::to_string(body.size())) += "\r\n";
    return text += "Connection: close\r\n\r\n";
}

page_update::page_update(std::unique_ptr<detail::page_rendering> rendering) noexcept
    : rendering_(std::move(rendering)) {}
page_update::page_update(page_update&&) noexcept = default;
page_update& page_update::operator=(page_update&&) noexcept = default;
page_update::~page_update() = default;

bool page_update::next(std::string& out) { return rendering_->next(out); }

debug_page::~debug_page() {
    for (const auto& source : sources_) end(*source);
}

void debug_page::add_source(std::string&& name, std::function<bool(wheel_cursor&, detail::page_sample&)>&& step) {
    auto source = std::make_shared<detail::page_source>();
    source->name = std::move(name);
    source->step = std::move(step);
    const std::lock_guard lock(mutex_);
    for (const auto& other : sources_)
        if (other->name == source->name)
            throw std::invalid_argument("cogwheel: the page has a wheel '" + source->name +
                                        "' already; choose another name, or remove() it first");
    sources_.push_back(std::move(source));
}

bool debug_page::remove(std::string_view name) {
    std::shared_ptr<detail::page_source> source;
    {
        const std::lock_guard lock(mutex_);
        const auto at = std::find_if(sources_.begin(), sources_.end(), [&](const auto& s) { return s->name == name; });
        if (at == sources_.end()) return false;
        source = std::move(*at);
        sources_.erase(at);
    }
    end(*source);
    return true;
}

page_update debug_page::update() const {
    const std::lock_guard lock(mutex_);
    return page_update(std::make_unique<detail::page_rendering>(sources_));
}

page_answer debug_page::answer(std::string_view method, std::string_view path) noexcept {
    path = path.substr(0, path.find('?'));
    const bool events = path == "/events";
    if (!events && !path.empty() && path != "/") return {404, text_fields, "There are / and /events.\n", false};
    if (method != "GET") return {405, method_fields, "Use the method GET.\n", false};
    if (events) return {200, event_fields, "retry: 2000\n\n", true};
    return {200, page_fields, detail::debug_page_html, false};
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
