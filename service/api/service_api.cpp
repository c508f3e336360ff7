// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/service_api.hpp"

#include "api/documents.hpp"
#include "api/problem.hpp"
#include "support/address.hpp"
#include "support/output.hpp"

#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <strings.h>

namespace cogwheeld {

namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// "application/json", with or without parameters.
bool is_json(std::string_view type) noexcept {
    return same_name(type.substr(0, type.find_first_of("; ")), "application/json");
}

/// False if a page of another origin makes the request: another site, or another port of this machine. Browsers say so
/// by one of two fields; other clients have neither.
bool is_of_own_page(const http_request& request) noexcept {
    const auto site = request.field("sec-fetch-site"), origin = request.field("origin");
    if (!site.empty()) return site == "same-origin" || site == "none"; // a proxy may have changed the name of the host
    const auto host = origin.find("://");
    return origin.empty() || (host != origin.npos && same_name(origin.substr(host + 3), request.field("host")));
}

/// The hash that allows the element of this name of the page (Content Security Policy Level 3, hash-source).
std::string source_hash(std::string_view element) {
    const auto from = page_html.find('>', page_html.find(fmt::format("<{}", element))) + 1;
    const auto text = page_html.substr(from, page_html.find(fmt::format("</{}>", element)) - from);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::array<unsigned char, 4 * (SHA256_DIGEST_LENGTH + 2) / 3 + 1> base64{};
    EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
    return fmt::format("'sha256-{}'", reinterpret_cast<const char*>(base64.data()));
}

} // namespace

struct service_api::route {
    enum class access : std::uint8_t { open, token, api }; // api: a token, and not with --worker-only

    std::string_view method, place, action;
    access needs;
    response (service_api::*answer)(http_request&, const target&);
};

std::span<const service_api::route> service_api::routes() noexcept {
    using a = service_api;
    using enum route::access;
    static constexpr std::array all{
        route{"GET", "/", "", open, &a::page},
        route{"GET", "/openapi.json", "", open, &a::description},
        route{"GET", "/healthz", "", open, &a::health},
        route{"GET", "/readyz", "", open, &a::readiness},
        route{"GET", "/metrics", "", token, &a::metrics},
        route{"GET", "/events", "", api, &a::events},
        route{"GET", "/v1/tasks", "", api, &a::list},
        route{"POST", "/v1/tasks", "", api, &a::add},
        route{"POST", "/v1/tasks", "bulk", api, &a::add_all},
        route{"POST", "/v1/tasks", "cancel", api, &a::cancel_all},
        route{"POST", "/v1/tasks", "redrive", api, &a::redrive_all},
        route{"POST", "/v1/tasks", "purge", api, &a::purge_all},
        route{"GET", "/v1/tasks/", "", api, &a::show},
        route{"PATCH", "/v1/tasks/", "", api, &a::change_due},
        route{"DELETE", "/v1/tasks/", "", api, &a::cancel},
        route{"POST", "/v1/tasks/", "run", api, &a::run_now},
        route{"POST", "/v1/tasks/", "pause", api, &a::pause},
        route{"POST", "/v1/tasks/", "resume", api, &a::resume},
        route{"GET", "/v1/dead", "", api, &a::dead},
        route{"POST", "/v1/dead/", "redrive", api, &a::redrive},
        route{"DELETE", "/v1/dead/", "", api, &a::purge},
        route{"GET", "/v1/queue", "", api, &a::counts},
        route{"POST", "/v1/queue", "pause", api, &a::pause_queue},
        route{"POST", "/v1/queue", "resume", api, &a::resume_queue},
    };
    return all;
}

// Errors: refusal: 404 or 405.
const service_api::route* service_api::find(const http_request& request, target& to) {
    const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
    to = target::parse(request.path(), request.query(), method == "POST");
    std::string actions, methods;
    for (const route& r : routes()) {
        if (r.place != to.place) continue;
        if (r.method == method && r.action == to.action) return &r;
        if (r.action.empty()) (methods += methods.empty() ? "" : ", ") += r.method;
        if (!r.action.empty()) (actions += actions.empty() ? ":" : ", :") += r.action;
    }
    if (to.action.empty() && !methods.empty())
        throw refusal{{.status = 405,
                       .detail = fmt::format("there is no {} {}", request.method, request.path()),
                       .remedy = "there are: " + methods,
                       .allow = methods}};
    throw refusal{
        {.status = 404,
         .detail = fmt::format("there is no {} {}", request.method, request.path()),
         .remedy = actions.empty() ? "GET /openapi.json lists what there is" : "POST has the actions " + actions}};
}

service_api::service_api(cogwheel::durable_queue& queue, const settings& wanted, event_hub& hub,
                         const cogwheel::metrics& metrics)
    : queue_{queue},
      hub_{hub},
      metrics_{metrics},
      serves_api_{wanted.serves_api},
      tokens_{wanted.tokens},
      rate_{wanted.rate},
      probe_rate_{wanted.rate} {}

void service_api::change(const settings& wanted) {
    tokens_ = wanted.tokens;
    rate_.change(wanted.rate);
    probe_rate_.change(wanted.rate);
}

std::optional<http_response> service_api::admit(const http_request& request) {
    try {
        const bool probes = request.path() == "/healthz" || request.path() == "/readyz" || request.path() == "/metrics";
        if (const int wait = (probes ? probe_rate_ : rate_).take(request.peer, std::chrono::steady_clock::now());
            wait != 0)
            throw refusal{{.status = 429,
                           .detail = fmt::format("too many requests from {}", request.peer.to_string()),
                           .remedy = "wait as Retry-After says; add many tasks by POST /v1/tasks:bulk",
                           .retry_after = wait}};
        // Without tokens, a page of another site could make a browser on this machine send requests: by itself, or
        // under a name that leads here (DNS rebinding).
        if (tokens_.empty()) {
            // A client of HTTP/1.0 may have none; a browser always has one.
            if (!request.field("host").empty() && !command_line::names_address(request.field("host")))
                throw refusal{{.status = 421,
                               .detail = fmt::format("'{}' is no name of this service", request.field("host")),
                               .remedy = "ask for an address or for localhost, or start it with --token-file"}};
            if (!is_of_own_page(request))
                throw refusal{{.status = 403,
                               .detail = "a page of another site or port makes this request",
                               .remedy = "start the service with --token-file, and send a token"}};
        }
        target to;
        const route& r = *find(request, to);
        if (r.needs != route::access::open && !tokens_.empty() && !tokens_.allow(request.field("authorization")))
            throw refusal{
                {.status = 401,
                 .detail = request.field("authorization").empty() ? "there is no token" : "the token is not known",
                 .remedy = "send Authorization: Bearer TOKEN with one of --token-file"}};
        if (r.needs == route::access::api && !serves_api_)
            throw refusal{{.status = 404,
                           .detail = "this process only sends callbacks (--worker-only)",
                           .remedy = "ask a process without --worker-only"}};
        const bool writes = r.method == "POST" || r.method == "PATCH";
        const auto type = request.field("content-type");
        const bool has_body = !request.field("transfer-encoding").empty() ||
                              (!request.field("content-length").empty() && request.field("content-length") != "0");
        const auto coding = request.field("content-encoding");
        if (writes && has_body && !coding.empty() && !same_name(coding, "identity"))
            throw refusal{{.status = 415,
                           .detail = fmt::format("the content encoding is '{}'", coding),
                           .remedy = "send the body as it is, without Content-Encoding"}};
        if (writes && has_body && !is_json(type))
            throw refusal{{.status = 415,
                           .detail = fmt::format("the content type is '{}'", type),
                           .remedy = "send Content-Type: application/json"}};
        return std::nullopt;
    } catch (const refusal& r) {
        auto answered = r.why().to_response();
        if (r.why().status == 401) answered.fields.emplace_back("WWW-Authenticate", "Bearer");
        return answered;
    }
}

asio::awaitable<http_response> service_api::answer(http_request& request) {
    std::optional<problem> why;
    try {
        target to;
        const route& r = *find(request, to);
        if (r.needs == route::access::api && r.answer != &service_api::events) need_open();
        auto answered = co_await (this->*r.answer)(request, to);
        co_return answered;
    } catch (const refusal& r) {
        why = r.why();
    }
    co_return why->to_response();
}

http_response service_api::refuse(int status) {
    problem p{.status = status, .detail = fmt::format("{}", reason(status))};
    switch (status) {
    case 408:
        p.detail = "the request did not arrive in time";
        break;
    case 413:
        p.detail = "the body is too long";
        p.remedy = "split it, or raise limits.body";
        break;
    case 414:
    case 431:
        p.detail = "the head of the request is too long";
        p.remedy = "shorten it, or raise limits.head";
        break;
    case 417:
        p.detail = "this expectation cannot be met";
        p.remedy = "send no Expect, or 100-continue";
        break;
    case 500:
        p.detail = "the service failed; its log says why";
        break;
    case 503:
        p.detail = "too many connections, or too many bytes at once";
        p.remedy = "try again later";
        p.retry_after = 1;
        break;
    default:
        p.detail = "this is no request of HTTP/1.1";
    }
    auto answered = p.to_response();
    answered.close = status != 500;
    return answered;
}

void service_api::failed(std::string_view what) noexcept {
    try {
        output::complain("cogwheeld: a request failed: {}\n", what);
    } catch (...) { // no memory for the line
    }
}

void service_api::need_open() const {
    if (open_ && !closing_) return;
    const auto trouble = queue_.trouble();
    throw refusal{{.status = 503,
                   .detail = closing_          ? "the service is shutting down"
                             : trouble.empty() ? "the server of the queue cannot be reached yet"
                                               : trouble,
                   .remedy = "try again",
                   .retry_after = 1}};
}

// ---- what is neither a task nor the queue -----------------------------------------------------------------------

asio::awaitable<http_response> service_api::health(http_request&, const target&) {
    co_return http_response{.content_type = "text/plain", .body = "ok\n"};
}

asio::awaitable<http_response> service_api::readiness(http_request&, const target&) {
    need_open();
    std::error_code ec;
    co_await queue_.counts(asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw refusal{problem_of(ec, {})};
    co_return http_response{.content_type = "text/plain", .body = "ready\n"};
}

asio::awaitable<http_response> service_api::metrics(http_request& request, const target&) {
    if (std::error_code ec; open_) {
        const auto counts = co_await queue_.counts(asio::redirect_error(asio::use_awaitable, ec));
        state_.known = !ec;
        state_.damaged = !queue_.trouble().empty();
        if (!ec) state_.counts = counts;
    }
    const auto format = cogwheel::format_for(request.field("accept"));
    http_response r{.content_type = std::string(cogwheel::content_type(format))};
    auto text = metrics_.render(format);
    while (text.next(r.body)) co_await asio::post(asio::use_awaitable);
    co_return r;
}

asio::awaitable<http_response> service_api::events(http_request&, const target&) { co_return hub_.subscribe(); }

asio::awaitable<http_response> service_api::page(http_request&, const target&) {
    // Only what the page itself contains runs, and it speaks to this service alone.
    static const std::string policy =
        fmt::format("default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; "
                    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
                    source_hash("script"), source_hash("style"));
    http_response r{.content_type = "text/html; charset=utf-8", .body = std::string(page_html)};
    r.fields = {
        {"Content-Security-Policy", policy}, {"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}};
    co_return r;
}

asio::awaitable<http_response> service_api::description(http_request&, const target&) {
    co_return http_response{.body = std::string(openapi_json)};
}

} // namespace cogwheeld
