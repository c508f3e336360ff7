// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "http/request_parser.hpp"

#include "http/node_parser.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include <strings.h>

namespace cogwheeld {

// The callbacks note what is wrong, and stop the parser.
class request_parser::machine {
public:
    explicit machine(const request_limits& limits) : limits_{limits} { begin(); }

    void begin() {
        node::begin(parser_, callbacks());
        parser_.data = this;
        request_ = {};
        name_.clear();
        in_value_ = continues_ = keeps_alive_ = has_end_of_head_ = false;
        hosts_ = status_ = 0;
        head_bytes_ = 0;
        stage_ = stage::idle;
    }

    std::size_t take(std::string_view bytes) {
        if (stage_ == stage::complete || stage_ == stage::refused || bytes.empty()) return 0;
        const bool in_head = stage_ == stage::idle || stage_ == stage::head;
        if (in_head) {
            stage_ = stage::head;
            bytes = bytes.substr(0, limits_.head - head_bytes_ + 1);
        }
        const std::size_t repeated = std::exchange(has_end_of_head_, false) ? 1 : 0;
        std::size_t taken = repeated + node::execute(parser_, callbacks(), bytes.substr(repeated));
        if (status_ == 0) status_ = node::refusal(parser_);
        if (in_head) {
            const bool complete = stage_ != stage::head && status_ == 0;
            head_bytes_ += taken + (complete && !node::takes_whole_head ? 1 : 0);
            if (status_ == 0 && head_bytes_ > limits_.head)
                status_ = request_.fields.empty() && name_.empty() ? 414 : 431;
            // The last byte of a head comes again: with it the parser goes on, also where no body follows.
            has_end_of_head_ = complete && node::takes_whole_head;
            if (has_end_of_head_) --taken;
        }
        if (status_ != 0) stage_ = stage::refused;
        return taken;
    }

    stage stage_ = stage::idle;
    int status_ = 0;
    bool keeps_alive_ = false, continues_ = false;
    http_request request_;

private:
    static machine& of(node::parser* p) noexcept { return *static_cast<machine*>(p->data); }

    // Calls a member. Returns what the callback is to return.
    template <class Member, class... Arguments>
    static int call(node::parser* p, Member member, Arguments... arguments) noexcept {
        machine& self = of(p);
        try {
            (self.*member)(arguments...);
        } catch (const std::bad_alloc&) {
            self.status_ = 503;
        }
        return self.status_ == 0 ? node::go_on : node::refuse;
    }

    static const node::callbacks& callbacks() noexcept {
        static const node::callbacks all = [] {
            node::callbacks s;
            node::prepare(s);
            s.on_url = [](node::parser* p, const char* at, std::size_t n) {
                return call(p, &machine::on_target, at, n);
            };
            s.on_header_field = [](node::parser* p, const char* at, std::size_t n) {
                return call(p, &machine::on_name, at, n);
            };
            s.on_header_value = [](node::parser* p, const char* at, std::size_t n) {
                return call(p, &machine::on_value, at, n);
            };
            s.on_headers_complete = [](node::parser* p) {
                const int answer = call(p, &machine::on_head);
                return answer == node::go_on ? node::pause(*p) : answer;
            };
            s.on_body = [](node::parser* p, const char* at, std::size_t n) {
                return call(p, &machine::on_body, at, n);
            };
            s.on_message_complete = [](node::parser* p) {
                of(p).stage_ = stage::complete;
                return node::pause(*p);
            };
            return s;
        }();
        return all;
    }

    void on_target(const char* at, std::size_t n) { request_.target.append(at, n); }

    void on_name(const char* at, std::size_t n) {
        if (stage_ == stage::body) return; // a trailer
        if (in_value_) end_field();
        std::transform(at, at + n, std::back_inserter(name_),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    }

    void on_value(const char* at, std::size_t n) {
        if (stage_ == stage::body) return;
        in_value_ = true;
        value_.append(at, n);
    }

    void end_field() {
        // RFC 9112, 5.1. The older parser lets "Transfer-Encoding : chunked" pass as a field of another name.
        if (name_.find(' ') != name_.npos) status_ = 400;
        value_.erase(value_.find_last_not_of(" \t") + 1);
        hosts_ += name_ == "host" ? 1 : 0;
        const auto same = std::find_if(request_.fields.begin(), request_.fields.end(),
                                       [&](const auto& f) { return f.first == name_; });
        if (same == request_.fields.end() && request_.fields.size() == request_limits::fields)
            status_ = 431;
        else if (same == request_.fields.end())
            request_.fields.emplace_back(std::move(name_), std::move(value_));
        else
            (same->second += ", ") += value_;
        name_.clear();
        value_.clear();
        in_value_ = false;
    }

    void on_head() {
        if (!name_.empty()) end_field();
        parser_.upgrade = parser_.method == HTTP_CONNECT ? 1 : 0; // RFC 9110, 7.8: a server may ignore Upgrade
        request_.method = node::method_name(parser_);
        keeps_alive_ = node::keeps_alive(parser_);
        const bool http11 = parser_.http_major == 1 && parser_.http_minor == 1;
        if (parser_.http_major != 1 || parser_.http_minor > 1) status_ = 505;
        take_absolute_form();
        if (hosts_ > 1 || (http11 && hosts_ == 0)) status_ = 400; // RFC 9112, 3.2
        if (parser_.upgrade != 0) status_ = 501;
        if (const auto expects = request_.field("expect"); http11 && !expects.empty()) {
            continues_ = strncasecmp(expects.data(), "100-continue", expects.size()) == 0;
            if (!continues_) status_ = 417;
        }
        const bool has_length = (parser_.flags & node::has_length) != 0;
        if (has_length && parser_.content_length > limits_.body) status_ = 413;
        stage_ = stage::body;
    }

    // "GET http://host:80/path": the host of the target counts, not that of the field (RFC 9112, 3.2.2).
    void take_absolute_form() {
        std::string& target = request_.target;
        const std::size_t scheme = target.find("://");
        if (target.starts_with('/') || scheme == target.npos) return;
        const std::size_t end = std::min(target.find_first_of("/?#", scheme + 3), target.size());
        const auto found = std::find_if(request_.fields.begin(), request_.fields.end(),
                                        [](const auto& f) { return f.first == "host"; });
        if (found != request_.fields.end()) found->second = target.substr(scheme + 3, end - scheme - 3);
        target.erase(0, end);
        if (!target.starts_with('/')) target.insert(0, 1, '/');
    }

    void on_body(const char* at, std::size_t n) {
        if (n > limits_.body - request_.body.size())
            status_ = 413;
        else
            request_.body.append(at, n);
    }

    const request_limits limits_;
    node::parser parser_{};
    std::string name_, value_;
    bool in_value_ = false;
    int hosts_ = 0;
    std::size_t head_bytes_ = 0;
    bool has_end_of_head_ = false;
};

request_parser::request_parser(const request_limits& limits) : machine_{std::make_unique<machine>(limits)} {}
request_parser::~request_parser() = default;

std::size_t request_parser::take(std::string_view bytes) { return machine_->take(bytes); }
void request_parser::next() { machine_->begin(); }
request_parser::stage request_parser::where() const noexcept { return machine_->stage_; }
int request_parser::refusal() const noexcept { return machine_->status_; }
bool request_parser::keeps_alive() const noexcept { return machine_->keeps_alive_; }
bool request_parser::waits_for_continue() const noexcept { return machine_->continues_; }
http_request& request_parser::request() noexcept { return machine_->request_; }

} // namespace cogwheeld
