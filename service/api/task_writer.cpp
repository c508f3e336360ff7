// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/task_writer.hpp"

#include "api/ordered_json.hpp"
#include "api/text_values.hpp"

#include <cogwheel/durable/http_callback.hpp>
#include <cogwheel/durable/webhook_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace cogwheeld {

namespace {

using cogwheel::durable_info;
using cogwheel::durable_state;

// What the receiver sees, if it is not the id.
void add_webhook_id(ordered_json& to, std::string_view id) {
    if (auto safe = cogwheel::webhook_safe(id); safe != id) to["webhook_id"] = std::move(safe);
}

ordered_json receipt(std::string_view id, const cogwheel::durable_receipt& r) {
    ordered_json j{{"id", id}, {"generation", r.generation}, {"due", date_text(r.due)}};
    add_webhook_id(j, id);
    if (r.existed) j["existed"] = true;
    return j;
}

/// A caller that may read tasks need not know the secrets of their callbacks.
bool is_secret(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    constexpr std::array<std::string_view, 8> words{"authorization", "cookie",   "secret",    "token",
                                                    "key",           "password", "signature", "credential"};
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return name.find(w) != name.npos; });
}

void add_callback(ordered_json& to, std::string_view body) {
    const auto call = cogwheel::http_callback::decode(body);
    if (!call) {
        if (!body.empty()) to["body_bytes"] = body.size(); // of another program
        return;
    }
    to["url"] = call->url;
    to["method"] = call->method;
    ordered_json headers = ordered_json::object();
    if (!call->body.empty() && !call->content_type.empty()) headers["content-type"] = call->content_type;
    for (const auto& [name, value] : call->headers) headers[name] = is_secret(name) ? "(hidden)" : value;
    if (!headers.empty()) to["headers"] = std::move(headers);
    if (!call->body.empty()) to["body"] = call->body;
}

ordered_json result_of(std::string_view packed) {
    int status = 0;
    const auto end = packed.find('\n');
    const auto [stop, failed] = std::from_chars(packed.data(), packed.data() + std::min(end, packed.size()), status);
    if (failed != std::errc{} || end == packed.npos) return {{"text", packed}};
    ordered_json j{{"status", status}};
    if (const auto body = packed.substr(end + 1); !body.empty()) j["body"] = body;
    return j;
}

ordered_json task_of(const durable_info& t) {
    ordered_json j{{"id", t.id},
                   {"state", to_string(t.state)},
                   {"generation", t.generation},
                   {"due", date_text(t.due)},
                   {"attempt", t.attempt},
                   {"max_attempts", t.max_attempts}};
    add_webhook_id(j, t.id);
    if (t.paused) j["paused"] = true;
    if (!t.when.empty()) j["when"] = t.when;
    if (!t.when.empty() && t.runs_left != cogwheel::forever) j["runs_left"] = t.runs_left;
    if (t.state != durable_state::done) add_callback(j, t.body);
    if (t.state == durable_state::done && !t.result.empty()) j["result"] = result_of(t.result);
    if (!t.message.empty()) j["message"] = t.message;
    for (const auto& a : t.history) {
        ordered_json one{
            {"attempt", a.attempt}, {"ended", date_text(a.ended)}, {"outcome", a.lease_ran_out ? "lost" : "failed"}};
        if (!a.message.empty()) one["message"] = a.message;
        j["history"].push_back(std::move(one));
    }
    if (!t.traceparent.empty()) j["traceparent"] = t.traceparent;
    return j;
}

} // namespace

std::string receipt_json(std::string_view id, const cogwheel::durable_receipt& r) { return text_of(receipt(id, r)); }

std::string task_json(const durable_info& t, std::string_view waits_for) {
    auto j = task_of(t);
    if (!waits_for.empty()) j["waiting_for"] = waits_for;
    return text_of(j);
}

std::string page_json(const cogwheel::durable_page& page) {
    ordered_json j{{"tasks", ordered_json::array()}};
    for (const auto& t : page.tasks) j["tasks"].push_back(task_of(t));
    if (!page.cursor.empty()) j["cursor"] = page.cursor;
    return text_of(j);
}

std::string counts_json(const cogwheel::durable_counts& c, std::string_view trouble) {
    ordered_json j{{"waiting", c.waiting}, {"claimed", c.claimed}, {"overdue", c.overdue},
                   {"done", c.done},       {"dead", c.dead},       {"paused", c.paused}};
    if (!trouble.empty()) j["trouble"] = trouble;
    return text_of(j);
}

std::string selected_json(std::string_view result, std::uint64_t count, std::string_view cursor) {
    ordered_json j{{"result", result}, {"count", count}};
    if (!cursor.empty()) j["cursor"] = cursor;
    return text_of(j);
}

std::string
bulk_json(const std::vector<std::variant<std::pair<std::string, cogwheel::durable_receipt>, problem>>& results) {
    ordered_json j{{"results", ordered_json::array()}};
    for (const auto& r : results) {
        if (const auto* const why = std::get_if<problem>(&r))
            j["results"].push_back(ordered_json::parse(why->to_json()));
        else
            j["results"].push_back(receipt(std::get<0>(r).first, std::get<0>(r).second));
    }
    return text_of(j);
}

} // namespace cogwheeld
