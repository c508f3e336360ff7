// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/task_reader.hpp"

#include "api/text_values.hpp"

#include <cogwheel/calendar/zone_info.hpp>
#include <cogwheel/detail/visible_text.hpp>
#include <cogwheel/durable/http_callback.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>
#include <openssl/rand.h>

namespace cogwheeld {

namespace {

using cogwheel::callback_errc;
using cogwheel::durable_errc;
using cogwheel::durable_task;
using cogwheel::http_callback;
using cogwheel::on_duplicate;
using cogwheel::task_trigger;
using json = nlohmann::json;

[[noreturn]] void refuse(int status, std::string detail, std::string field = {}, std::string remedy = {}) {
    throw refusal{
        {.status = status, .detail = std::move(detail), .field = std::move(field), .remedy = std::move(remedy)}};
}

/// For a message: not too long, and without control characters.
std::string shown(std::string_view text, std::size_t most = 80) {
    return cogwheel::detail::visible_text(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

/// Errors: refusal: 400: not JSON, too deep, or a member that occurs twice.
json parse(std::string_view text) {
    std::vector<std::set<std::string>> names; // of the objects that are open
    const auto check = [&](int depth, json::parse_event_t event, json& value) {
        switch (event) {
        case json::parse_event_t::object_start:
        case json::parse_event_t::array_start:
            if (depth >= max_depth)
                refuse(400, fmt::format("the JSON is nested deeper than {}", max_depth), {}, "make it flatter");
            if (event == json::parse_event_t::object_start) names.emplace_back();
            break;
        case json::parse_event_t::object_end:
            names.pop_back();
            break;
        case json::parse_event_t::key: {
            const auto name = value.get<std::string>();
            if (!names.back().insert(name).second)
                refuse(400, fmt::format("the member '{}' occurs twice in one object", shown(name)), shown(name),
                       "give it once");
            break;
        }
        default:
            break;
        }
        return true;
    };
    try {
        json result = json::parse(text, check);
        if (!result.is_object()) refuse(400, "the body is no JSON object", {}, "send an object: {...}");
        return result;
    } catch (const json::exception& error) { // a number beyond 1e308 is no parse_error
        // The library's words begin with its own number of the error, and may quote the text.
        const std::string_view what = error.what();
        const auto words = what.substr(std::min(what.find(' ') + 1, what.size()));
        refuse(400, fmt::format("this is not JSON: {}", shown(words, 300)), {}, "send JSON (RFC 8259) in UTF-8");
    }
}

/// Takes the members of an object. finish() refuses those that are left.
class members {
public:
    members(json& object, std::string_view known) : object_{object}, known_{known} {}

    /// Returns nothing if there is no such member, or if it is null.
    std::optional<json> take(const char* name) {
        const auto found = object_.find(name);
        if (found == object_.end()) return std::nullopt;
        json value = std::move(*found);
        object_.erase(found);
        return value.is_null() ? std::nullopt : std::optional(std::move(value));
    }
    std::optional<std::string> text(const char* name, std::string_view remedy) {
        auto value = take(name);
        if (!value) return std::nullopt;
        if (!value->is_string()) refuse(422, fmt::format("{} is no text", name), name, std::string(remedy));
        return std::move(value->get_ref<std::string&>());
    }
    void finish() const {
        if (object_.empty()) return;
        const std::string name = shown(object_.begin().key());
        refuse(422, fmt::format("there is no member '{}'", name), name, fmt::format("there are: {}", known_));
    }

private:
    json& object_;
    const std::string_view known_;
};

/// What `read` returns; what it throws becomes a refusal of the member.
template <class Read>
auto of_member(const char* name, Read read) {
    try {
        return read();
    } catch (const std::invalid_argument& error) {
        refuse(422, error.what(), name);
    }
}

std::string new_id() {
    std::array<unsigned char, 16> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random bytes");
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

task_trigger read_when(members& in) {
    const auto due = in.text("due", "give a date as in RFC 3339, such as 2026-12-24T18:00:00Z");
    const auto delay = in.text("delay", "give a duration with its unit, such as \"5s\"");
    const auto cron = in.text("cron", "give an expression such as \"0 7 * * MON-FRI\"");
    const auto every = in.text("every", "give a duration with its unit, such as \"10s\"");
    const auto zone = in.text("zone", "give a name of the tz database, such as \"Europe/Berlin\"");
    const int given = int{due.has_value()} + int{delay.has_value()} + int{cron.has_value()} + int{every.has_value()};
    if (given > 1)
        refuse(422, "due, delay, cron and every exclude each other",
               due     ? "due"
               : delay ? "delay"
                       : "cron",
               "give one of them");
    if (zone && !cron) refuse(422, "a zone belongs to a cron expression", "zone", "leave it out, or give cron");
    if (due) return task_trigger::at(of_member("due", [&] { return read_date(*due); }));
    if (delay) return task_trigger::once(of_member("delay", [&] { return read_duration(*delay); }));
    if (every) {
        const auto period = of_member("every", [&] { return read_duration(*every); });
        if (period < std::chrono::milliseconds(1))
            refuse(422, fmt::format("the period '{}' is below 1ms", *every), "every", "give 1ms or more");
        return task_trigger::every(period);
    }
    if (!cron) return task_trigger::once(std::chrono::seconds(0));
    const auto in_zone = of_member("zone", [&] { return zone ? cogwheel::zone_info(*zone) : cogwheel::zone_info(); });
    return of_member("cron", [&] { return task_trigger::cron(*cron, in_zone); });
}

void read_headers(const json& given, http_callback& to) {
    if (!given.is_object()) refuse(422, "headers is no object", "headers", "give {\"name\": \"value\", ..}");
    for (const auto& [name, value] : given.items()) {
        if (!value.is_string())
            refuse(422, fmt::format("the header '{}' is no text", shown(name)), "headers", "give each value as a text");
        std::string lower = name;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        if (lower == "content-type")
            to.content_type = value.get<std::string>();
        else
            to.headers.emplace_back(name, value.get<std::string>());
    }
}

void check(const http_callback& call) {
    const auto ec = call.check();
    if (!ec) return;
    const auto member = [&]() -> std::pair<const char*, const char*> {
        switch (static_cast<callback_errc>(ec.value())) {
        case callback_errc::bad_url:
        case callback_errc::bad_scheme:
            return {"url", "give http:// or https://, a host and a path"};
        case callback_errc::bad_method:
            return {"method", "give GET, POST, PUT, PATCH or DELETE"};
        case callback_errc::bad_body:
            return {"body", call.method == "GET" ? "leave it out with GET" : "shorten it to 496 kB"};
        case callback_errc::reserved_header:
            return {"headers",
                    "leave out webhook-*, cogwheel-*, traceparent, user-agent, host and what frames a message"};
        default:
            return {"headers", "give names of letters, digits and -, and values without control characters"};
        }
    }();
    const bool too_long = ec == callback_errc::bad_body && call.method != "GET";
    refuse(too_long ? 413 : 422, ec.message(), member.first, member.second);
}

void check(const durable_task& task) {
    const auto ec = task.check();
    if (!ec) return;
    if (ec == durable_errc::bad_id)
        refuse(422, "the id is empty or too long", "id", "give 1 to 512 bytes, to a recurring task 1 to 498");
    if (ec == durable_errc::bad_body) refuse(413, "the callback is too long", "body", "shorten body, headers or url");
    if (ec == durable_errc::bad_attempts)
        refuse(422, "the number of attempts is out of range", "max_attempts", "give 1 to 65535");
    if (ec == durable_errc::bad_trace)
        refuse(422, "this is no traceparent", "traceparent", "give one as in W3C Trace Context");
    if (ec == durable_errc::bad_due) refuse(422, "the due time is too far away", "due", "give a date before 2262");
    refuse(422, ec.message());
}

constexpr std::string_view task_members =
    "id, due, delay, cron, zone, every, first_after, until, runs, misfire, url, method, "
    "headers, body, max_attempts, policy, traceparent";

std::string read_id(members& in) {
    auto id = in.text("id", "give a text");
    if (!id) return new_id();
    if (std::any_of(id->begin(), id->end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }))
        refuse(422, "the id has a control character", "id", "leave it out");
    return std::move(*id);
}

/// The members that only a recurring task has.
void read_recurrence(members& in, durable_task& to) {
    const bool recurs = to.when.what() == task_trigger::kind::periodic || to.when.what() == task_trigger::kind::cron;
    const auto belongs = [&](const char* name) {
        if (!recurs)
            refuse(422, fmt::format("{} belongs to a recurring task", name), name,
                   "leave it out, or give cron or every");
    };
    if (const auto first = in.text("first_after", "give a duration with its unit, such as \"5m\"")) {
        belongs("first_after");
        to.when = to.when.first_after(of_member("first_after", [&] { return read_duration(*first); }));
    }
    if (const auto until = in.text("until", "give a date as in RFC 3339, such as 2026-12-24T18:00:00Z")) {
        belongs("until");
        to.when = to.when.until(of_member("until", [&] { return read_date(*until); }));
    }
    if (const auto runs = in.take("runs")) {
        belongs("runs");
        if (!runs->is_number_unsigned() || runs->get<std::uint64_t>() < 1 || runs->get<std::uint64_t>() > 1'000'000'000)
            refuse(422, "runs is no whole number in its range", "runs", "give 1 to 1000000000");
        to.when = to.when.times(runs->get<std::int64_t>());
    }
    constexpr const char* policies = "give fire_once, skip, or catch_up(N) with N from 1 to 100";
    if (const auto misfire = in.text("misfire", policies)) {
        belongs("misfire");
        std::uint32_t most = 0;
        const std::string_view text = *misfire;
        if (text == "skip") {
            to.misfire = cogwheel::task_misfire::skip();
        } else if (text.starts_with("catch_up(") && text.ends_with(")")) {
            const auto digits = text.substr(9, text.size() - 10);
            const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), most);
            if (failed != std::errc{} || end != digits.data() + digits.size() || most < 1 || most > 100)
                refuse(422, fmt::format("there is no misfire policy '{}'", shown(text)), "misfire", policies);
            to.misfire = cogwheel::task_misfire::catch_up(most);
        } else if (text != "fire_once") {
            refuse(422, fmt::format("there is no misfire policy '{}'", shown(text)), "misfire", policies);
        }
    }
}

std::uint32_t read_attempts(members& in) {
    const auto given = in.take("max_attempts");
    if (!given) return durable_task{}.max_attempts;
    const bool whole = given->is_number_unsigned() || (given->is_number_integer() && given->get<std::int64_t>() >= 0);
    const auto n = whole ? given->get<std::uint64_t>() : 0;
    if (n < 1 || n > durable_task::max_max_attempts)
        refuse(422, "max_attempts is no whole number in its range", "max_attempts", "give 1 to 65535");
    return static_cast<std::uint32_t>(n);
}

/// Takes all but the policy.
durable_task read_members(members& in) {
    durable_task task{.id = read_id(in), .when = read_when(in)};
    read_recurrence(in, task);
    http_callback call;
    auto url = in.text("url", "give http:// or https://, a host and a path");
    if (!url) refuse(422, "url is missing", "url", "give where the callback goes");
    call.url = std::move(*url);
    if (auto method = in.text("method", "give GET, POST, PUT, PATCH or DELETE")) call.method = std::move(*method);
    if (auto body = in.take("body")) {
        call.content_type = body->is_string() ? "text/plain; charset=utf-8" : "application/json";
        call.body = body->is_string() ? std::move(body->get_ref<std::string&>()) : body->dump();
    }
    if (const auto headers = in.take("headers")) read_headers(*headers, call);
    task.max_attempts = read_attempts(in);
    if (auto trace = in.text("traceparent", "give one as in W3C Trace Context")) task.traceparent = std::move(*trace);
    check(call);
    task.body = call.encode();
    check(task);
    return task;
}

on_duplicate read_policy(members& in) {
    const auto text = in.text("policy", "give reject, keep or replace");
    if (!text || *text == "reject") return on_duplicate::reject;
    if (*text == "keep") return on_duplicate::keep;
    if (*text == "replace") return on_duplicate::replace;
    refuse(422, fmt::format("there is no policy '{}'", shown(*text)), "policy", "give reject, keep or replace");
}

std::variant<durable_task, problem> read_one(json& given) {
    try {
        if (!given.is_object()) refuse(422, "the task is no object", "tasks", "give {...}");
        members in(given, "id, due, delay, cron, zone, every, first_after, until, runs, misfire, url, method, headers, "
                          "body, max_attempts, traceparent; the policy "
                          "stands beside tasks");
        auto task = read_members(in);
        in.finish();
        return task;
    } catch (const refusal& why) {
        return why.why();
    }
}

} // namespace

task_order read_task(std::string_view text) {
    json given = parse(text);
    members in(given, task_members);
    task_order order;
    order.policy = read_policy(in);
    order.task = read_members(in);
    in.finish();
    return order;
}

task_orders read_bulk(std::string_view text) {
    json given = parse(text);
    members in(given, "tasks, policy");
    task_orders orders;
    orders.policy = read_policy(in);
    auto tasks = in.take("tasks");
    in.finish();
    if (!tasks || !tasks->is_array()) refuse(422, "tasks is no list", "tasks", "give [{...}, ..]");
    if (tasks->size() > cogwheel::durable_queue::max_batch)
        refuse(413, fmt::format("there are {} tasks", tasks->size()), "tasks",
               fmt::format("give at most {} at once", cogwheel::durable_queue::max_batch));
    orders.tasks.reserve(tasks->size());
    for (json& one : *tasks) orders.tasks.push_back(read_one(one));
    return orders;
}

selection read_selection(std::string_view text, bool has_state) {
    json given = parse(text);
    members in(given, has_state ? "prefix, state, count, cursor" : "prefix, count, cursor");
    selection chosen;
    auto prefix = in.text("prefix", "give the beginning of the ids; \"\" for all");
    if (!prefix) refuse(422, "prefix is missing", "prefix", "give the beginning of the ids; \"\" for all");
    chosen.prefix = std::move(*prefix);
    if (auto cursor = in.text("cursor", "give that of the last answer")) chosen.cursor = std::move(*cursor);
    if (const auto count = in.take("count")) {
        if (!count->is_number_unsigned() || count->get<std::uint64_t>() < 1 || count->get<std::uint64_t>() > 10'000)
            refuse(422, "count is no whole number in its range", "count", "give 1 to 10000");
        chosen.count = count->get<std::uint32_t>();
    }
    if (has_state) {
        const auto state = in.text("state", "give done or dead");
        if (!state || (*state != "done" && *state != "dead"))
            refuse(422, state ? fmt::format("there is no state '{}' here", shown(*state)) : "state is missing", "state",
                   "give done or dead");
        chosen.dead = *state == "dead";
    }
    in.finish();
    return chosen;
}

task_trigger read_change(std::string_view text) {
    json given = parse(text);
    members in(given, "due, delay; other members change by POST with \"policy\": \"replace\"");
    const auto gives = [&](const char* name) { return given.contains(name) && !given[name].is_null(); };
    if (!gives("due") && !gives("delay")) {
        in.take("due");
        in.take("delay");
        in.finish();
        refuse(422, "there is nothing to change", "due", "give due or delay");
    }
    for (const char* other : {"cron", "every", "zone"}) // read_when() would take them
        if (given.contains(other))
            refuse(422, fmt::format("{} cannot be changed", other), other,
                   "schedule it again with \"policy\": \"replace\"");
    auto when = read_when(in);
    in.finish();
    const bool date = when.what() == task_trigger::kind::date;
    if (date ? when.first_delay() > durable_task::max_date.time_since_epoch()
             : when.first_delay() > durable_task::max_delay)
        refuse(422, "the due time is too far away", date ? "due" : "delay", "give a date before 2262");
    return when;
}

} // namespace cogwheeld
