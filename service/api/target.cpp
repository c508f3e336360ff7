// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/target.hpp"

#include "api/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cogwheeld {

std::optional<std::string> percent_decoded(std::string_view text, bool plus) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += plus && text[i] == '+' ? ' ' : text[i];
            continue;
        }
        unsigned char byte = 0;
        if (text.size() - i < 3) return std::nullopt;
        const char* const end = text.data() + i + 3;
        const auto [stop, failed] = std::from_chars(end - 2, end, byte, 16);
        if (failed != std::errc{} || stop != end) return std::nullopt;
        result += static_cast<char>(byte);
        i += 2;
    }
    return result;
}

target target::parse(std::string_view path, std::string_view query, bool has_action) {
    const auto decoded = [](std::string_view text, bool plus) {
        auto result = percent_decoded(text, plus);
        if (!result)
            throw refusal{{.status = 400,
                           .detail = fmt::format("bad percent-encoding in '{}'", text),
                           .remedy = "write % and two hexadecimal digits for each byte"}};
        return std::move(*result);
    };
    target result;
    result.place = path;
    if (has_action) {
        const auto colon = path.rfind(':');
        if (colon != path.npos && path.find('/', colon) == path.npos) {
            result.action = path.substr(colon + 1);
            path = path.substr(0, colon);
            result.place = path;
        }
    }
    for (const std::string_view collection : {"/v1/tasks/", "/v1/dead/"}) {
        if (!path.starts_with(collection) || path.size() == collection.size()) continue;
        const auto id = path.substr(collection.size());
        if (id.find('/') != id.npos) continue; // no such place
        result.place = collection;
        result.id = decoded(id, false);
    }
    while (!query.empty()) {
        const auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(part.size() + 1, query.size()));
        if (part.empty()) continue;
        const auto equals = std::min(part.find('='), part.size());
        auto name = decoded(part.substr(0, equals), true);
        auto value = decoded(part.substr(std::min(equals + 1, part.size())), true);
        if (std::any_of(result.query.begin(), result.query.end(), [&](const auto& q) { return q.first == name; }))
            throw refusal{{.status = 422,
                           .detail = fmt::format("the parameter '{}' occurs twice", name),
                           .field = name,
                           .remedy = "give it once"}};
        result.query.emplace_back(std::move(name), std::move(value));
    }
    return result;
}

std::string_view target::parameter(std::string_view name) const {
    const auto found = std::find_if(query.begin(), query.end(), [&](const auto& q) { return q.first == name; });
    return found == query.end() ? std::string_view() : std::string_view(found->second);
}

std::uint32_t target::count(std::uint32_t by_default) const {
    const auto text = parameter("count");
    if (text.empty()) return by_default;
    std::uint32_t n = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (failed != std::errc{} || end != text.data() + text.size() || n < 1 || n > 1'000)
        throw refusal{{.status = 422,
                       .detail = fmt::format("bad count '{}'", text),
                       .field = "count",
                       .remedy = "give a whole number from 1 to 1000"}};
    return n;
}

void target::allow(std::initializer_list<std::string_view> names) const {
    for (const auto& q : query) {
        if (std::find(names.begin(), names.end(), q.first) != names.end()) continue;
        std::string all;
        for (const auto name : names) (all += all.empty() ? "" : ", ") += name;
        throw refusal{{.status = 422,
                       .detail = fmt::format("there is no parameter '{}'", q.first),
                       .field = q.first,
                       .remedy = all.empty() ? "this takes no parameters" : "there are: " + all}};
    }
}

} // namespace cogwheeld
