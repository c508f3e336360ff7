// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a receiver of webhooks decides. Copy receiver::judge() and seen_ids into your server, whatever it is built on.
#pragma once

#include "http_request.hpp"

#include <cogwheel/durable/webhook_signature.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

/// The last ids, up to a number. A sender tries for hours: in your server, keep them where the data is, and insert the
/// id in the same transaction as the work.
class seen_ids {
public:
    explicit seen_ids(std::size_t most) : most_{most} {}

    /// False if the id is here already.
    bool insert(const std::string& id) {
        if (!ids_.insert(id).second) return false;
        order_.push_back(id);
        if (order_.size() > most_) {
            ids_.erase(order_.front());
            order_.pop_front();
        }
        return true;
    }
    void erase(const std::string& id) {
        ids_.erase(id);
        std::erase(order_, id);
    }

private:
    std::size_t most_;
    std::unordered_set<std::string> ids_;
    std::deque<std::string> order_; // the oldest first
};

struct verdict {
    int status = 200;
    std::string words{};
    bool failed = false; // the work; the status may be any
};

class receiver {
public:
    struct options {
        std::vector<cogwheel::webhook_key> keys{};
        std::chrono::seconds tolerance = std::chrono::minutes{5};
        std::size_t remembered = 10'000;
        unsigned fail_percent = 0; // for demonstrations: of the deliveries
        int fail_status = 503;
    };

    explicit receiver(options wanted) : options_{std::move(wanted)}, seen_{options_.remembered} {}

    /// Sender and message are checked, then the id, then comes the work.
    verdict judge(const http_request& request) {
        const std::string id{request.header("webhook-id")};
        const auto now = std::chrono::system_clock::now();
        const std::error_code refused = cogwheel::verify_webhook(options_.keys,
                                                                 {.id = id,
                                                                  .timestamp = request.header("webhook-timestamp"),
                                                                  .signature = request.header("webhook-signature")},
                                                                 request.body, now, options_.tolerance);
        if (refused == cogwheel::webhook_errc::wrong_signature) return {401, refused.message()};
        if (refused) return {400, refused.message()};
        if (!seen_.insert(id)) return {200, "repeated"}; // done before: the sender has missed the answer
        if (work(request)) return {200, "new"};
        seen_.erase(id); // so that the next attempt does the work
        return {options_.fail_status, "failed", true};
    }

private:
    // Here your program does what it was called for.
    bool work(const http_request&) {
        failures_due_ += options_.fail_percent; // spread evenly: a demonstration looks the same each time
        const bool fails = failures_due_ >= 100;
        if (fails) failures_due_ -= 100;
        return !fails;
    }

    options options_;
    seen_ids seen_;
    unsigned failures_due_ = 0;
};
