// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "metrics_rendering.hpp"

#include <cogwheel/detail/constant_name.hpp>

#include <algorithm>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::string_view to_string(metric_type type) noexcept { return constant_name(type, {"counter", "gauge", "histogram"}); }

std::vector<metric_description> all_metrics() {
    std::vector<metric_description> all;
    const auto add = [&]<class Sample>(const metric_source_list<Sample>&) {
        for (const auto& m : table_of<Sample>().metrics) all.push_back(m.what);
    };
    std::apply([&](const auto&... list) { (add(list), ...); }, metric_sources());
    return all;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

constexpr std::string_view suffix = "_total";

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_name(std::string_view name, bool colons) noexcept {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    return std::all_of(name.begin(), name.end(),
                       [colons](char c) { return is_letter(c) || (c >= '0' && c <= '9') || (colons && c == ':'); });
}

[[noreturn]] void refuse(const std::string& what, const std::string& name, const std::string& rule) {
    throw std::invalid_argument("cogwheel: the " + what + " '" + name + "' " + rule);
}

std::string_view family_of(std::string_view name, bool is_counter) noexcept {
    return is_counter ? name.substr(0, name.size() - suffix.size()) : name;
}

void validate(const detail::user_metric& m, const std::string& name, bool callable) {
    if (!is_name(name, true))
        refuse("metric", name, "must be a name of letters, digits, _ and :, not beginning with a digit");
    if (name.starts_with("cogwheel_"))
        refuse("metric", name, "has the prefix of Cogwheel's own metrics; choose another");
    if (m.is_counter && (!name.ends_with(suffix) || name.size() == suffix.size()))
        refuse("counter", name, "must be a name that ends in _total");
    if (!callable) refuse("metric", name, "has an empty function; pass one that returns the value");
    const std::string* before = nullptr;
    for (const auto& [label, value] : m.labels) { // sorted
        if (!is_name(label, false) || label.starts_with("__"))
            refuse("label", label, "must be a name of letters, digits and _, not beginning with a digit or __");
        if (before != nullptr && *before == label) refuse("label", label, "is there twice");
        before = &label;
    }
}

bool same_names(const metrics::labels& a, const metrics::labels& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
}

template <class Source>
void end(Source& source) {
    const std::lock_guard lock(source.mutex);
    source.removed = true;
    source.step = nullptr; // it may own what the user wants to destroy
}

} // namespace

std::string_view to_string(metrics_format format) noexcept {
    return detail::constant_name(format, {"prometheus", "openmetrics", "json"});
}

std::string_view content_type(metrics_format format) noexcept {
    switch (format) {
    case metrics_format::openmetrics:
        return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case metrics_format::json:
        return "application/json";
    default:
        return "text/plain; version=0.0.4; charset=utf-8";
    }
}

metrics_format format_for(std::string_view accept) noexcept {
    const auto names = [accept](std::string_view type) { return accept.find(type) != accept.npos; };
    if (names("application/openmetrics-text")) return metrics_format::openmetrics;
    if (names("application/json") && !names("text/")) return metrics_format::json;
    return metrics_format::prometheus;
}

metrics_text::metrics_text(std::unique_ptr<detail::metrics_rendering> rendering) noexcept
    : rendering_(std::move(rendering)) {}
metrics_text::metrics_text(metrics_text&&) noexcept = default;
metrics_text& metrics_text::operator=(metrics_text&&) noexcept = default;
metrics_text::~metrics_text() = default;

bool metrics_text::next(std::string& out) { return rendering_->next(out); }

metrics_text metrics::render(metrics_format format) const {
    const std::lock_guard lock(mutex_);
    return metrics_text(std::make_unique<detail::metrics_rendering>(format, sources_, values_));
}

void metrics::refuse_duplicate(const std::string& name) {
    refuse("source", name, "has been added already; choose another name, or remove() it first");
}

void metrics::add_value(detail::user_metric what, std::string name, std::function<double()> f) {
    std::sort(what.labels.begin(), what.labels.end()); // their order means nothing
    validate(what, name, f != nullptr);
    auto source = std::make_shared<detail::user_source>();
    source->name = std::move(name);
    source->what = std::move(what);
    source->step = [f = std::move(f)](wheel_cursor&, detail::user_sample& s) {
        s.value = f();
        return false;
    };
    const detail::user_metric& m = source->what;
    const std::lock_guard lock(mutex_);
    for (const auto& other : values_) {
        if (other->name != source->name &&
            family_of(other->name, other->what.is_counter) != family_of(source->name, m.is_counter))
            continue;
        if (other->what.is_counter != m.is_counter) refuse("metric", source->name, "is both a counter and a gauge");
        if (!same_names(other->what.labels, m.labels))
            refuse("metric", source->name, "must have the same names of labels as the first one of this name");
        if (other->what.labels == m.labels) refuse_duplicate(source->name);
    }
    values_.push_back(std::move(source));
}

// Takes out one source after the other, so that it needs no memory. Never holds two mutexes: a step of a rendering
// holds a source's mutex, and may add further sources.
template <class List, class Matches>
std::size_t metrics::remove_from(List& list, Matches matches) {
    for (std::size_t removed = 0;; ++removed) {
        typename List::value_type source;
        {
            const std::lock_guard lock(mutex_);
            const auto at = std::find_if(list.begin(), list.end(), [&](const auto& s) { return matches(s->name); });
            if (at == list.end()) return removed;
            source = std::move(*at);
            list.erase(at);
        }
        end(*source);
    }
}

std::size_t metrics::remove(std::string_view name) {
    const auto matches = [name](const std::string& other) { return other == name; };
    return std::apply([&](auto&... list) { return (remove_from(list, matches) + ...); }, sources_) +
           remove_from(values_, matches);
}

metrics::~metrics() {
    const auto all = [](const std::string&) { return true; };
    std::apply([&](auto&... list) { (remove_from(list, all), ...); }, sources_);
    remove_from(values_, all);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
