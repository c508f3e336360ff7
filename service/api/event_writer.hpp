// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The JSON of events, and of short answers. Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <cogwheel/durable/durable_worker.hpp>

#include <string>
#include <string_view>

namespace cogwheeld {

/// What a worker reports: {"at":..,"kind":"retry","id":..,"attempt":2,"message":..}
std::string event_json(const cogwheel::durable_event&);

/// What a client has made happen: {"at":..,"kind":"scheduled","id":..}
std::string happened_json(std::string_view kind, std::string_view id);

/// {"id":..,"result":"cancelled"}
std::string result_json(std::string_view id, std::string_view result);

/// A worker: {"name":..,"held":..,"in_flight":..,"begun":..,"done":..,..,"late_ms":{"p50":..,"p99":..,"max":..}}
std::string worker_json(std::string_view name, const cogwheel::durable_worker_stats&);

} // namespace cogwheeld
