// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Renders a text in slices: first takes a sample of each source, then writes the metrics.
#pragma once

#include "metric_tables.hpp"

#include <cogwheel/observe/metrics.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The sources of one type, with their samples. Writes the metrics of its table, as the caller asks for them.
class metric_group {
public:
    virtual ~metric_group() = default;
    virtual std::size_t sources() const noexcept = 0;
    /// Takes one step of the sample of source `i`. Returns false after the last one.
    virtual bool sample(std::size_t i, wheel_cursor& cursor) = 0;

    virtual std::string_view json_name() const noexcept = 0;
    virtual std::string_view source_name(std::size_t i) const noexcept = 0;
    virtual std::size_t families() const noexcept = 0;
    virtual const metric_description& family(std::size_t f) const noexcept = 0;
    virtual bool is_present(std::size_t i) const noexcept = 0; ///< false: removed before its sample
    virtual bool belongs(std::size_t i, std::size_t f) const noexcept = 0;
    virtual bool is_flat() const noexcept { return false; } ///< each source has one value: JSON needs no object for it
    virtual const std::string& labels(std::size_t i) const noexcept = 0; ///< see text_sink
    virtual void write(std::size_t f, std::size_t i, metric_sink& to) const = 0;
};

class metrics_rendering {
public:
    metrics_rendering(metrics_format format, const metric_sources& sources,
                      const std::vector<std::shared_ptr<user_source>>& values);

    bool next(std::string& out);

private:
    static constexpr std::size_t lines_at_a_time = 200;

    template <class Sample>
    void add_group(const metric_source_list<Sample>& sources);
    bool sampling();
    std::size_t expected_size() const noexcept;
    bool write_text(std::string& out);
    bool write_json(std::string& out);

    metrics_format format_;
    std::vector<std::unique_ptr<metric_group>> groups_;
    text_sink text_;
    json_writer json_;
    json_sink members_{json_};

    // The place where the next slice continues.
    bool sampled_ = false;
    std::size_t group_ = 0, family_ = 0, source_ = 0;
    wheel_cursor cursor_;
    bool begun_ = false; // JSON: the document, or the object of the group, is open
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
