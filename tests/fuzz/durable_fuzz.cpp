// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Any bytes for everything in durable/ that parses: the replies of servers, URLs, webhooks, stored tasks. The first
// byte chooses the parser. The tests replay the same bodies.
#include "fuzz/redis_fuzz.hpp"
#include "fuzz/webhook_fuzz.hpp"
#include "src/durable/task_envelope.hpp"

#include <cstdint>
#include <span>

namespace {

void fuzz_envelope(std::span<const std::uint8_t> data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    const auto envelope = cogwheel::detail::decode_envelope(text);
    if (!envelope) return;
    cogwheel_tests::demand(envelope->body.size() < text.size(), "an envelope is longer than its body");
    cogwheel_tests::demand(text.ends_with(envelope->body), "the body is the end of an envelope");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> rest(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        cogwheel_tests::fuzz_redis(rest);
        break;
    case 1:
        cogwheel_tests::fuzz_webhook(rest);
        break;
    default:
        fuzz_envelope(rest);
    }
    return 0;
}
