// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "metrics_rendering.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

std::string label(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    append_escaped(text, value, true);
    return text += '"';
}

/// Calls the source, unless it has been removed. Returns false after the last step.
template <class Sample>
bool step(metric_source<Sample>& source, wheel_cursor& cursor, Sample& sample, bool& present) {
    const std::lock_guard lock(source.mutex);
    if (source.removed) return present = false;
    return source.step(cursor, sample);
}

template <class Sample>
class group_of final : public metric_group {
public:
    explicit group_of(const metric_source_list<Sample>& sources) : table_(table_of<Sample>()) {
        for (const auto& s : sources) sources_.push_back({s, label(table_.label, s->name)});
    }

    std::size_t sources() const noexcept override { return sources_.size(); }
    bool sample(std::size_t i, wheel_cursor& cursor) override {
        source& s = sources_[i];
        return step(*s.of, cursor, s.sample, s.present);
    }

    std::string_view json_name() const noexcept override { return table_.group; }
    std::string_view source_name(std::size_t i) const noexcept override { return sources_[i].of->name; }
    std::size_t families() const noexcept override { return table_.metrics.size(); }
    const metric_description& family(std::size_t f) const noexcept override { return table_.metrics[f].what; }
    bool is_present(std::size_t i) const noexcept override { return sources_[i].present; }
    bool belongs(std::size_t, std::size_t) const noexcept override { return true; }
    const std::string& labels(std::size_t i) const noexcept override { return sources_[i].labels; }
    void write(std::size_t f, std::size_t i, metric_sink& to) const override {
        table_.metrics[f].read(sources_[i].sample, to);
    }

private:
    struct source {
        std::shared_ptr<metric_source<Sample>> of;
        std::string labels;
        Sample sample{};
        bool present = true;
    };

    metric_table<Sample> table_;
    std::vector<source> sources_;
};

/// The counters and gauges of the user; each name is a family.
class user_group final : public metric_group {
public:
    explicit user_group(const std::vector<std::shared_ptr<user_source>>& values) {
        for (const auto& v : values) {
            std::size_t f = 0;
            while (f < families_.size() && families_[f].name != v->name) ++f;
            if (f == families_.size())
                families_.push_back(
                    {v->name, v->what.is_counter ? metric_type::counter : metric_type::gauge, {}, v->what.help});
            std::string all;
            for (const auto& [name, text] : v->what.labels) {
                if (!all.empty()) all += ',';
                all += label(name, text);
            }
            std::string series = all.empty() ? v->name : v->name + '{' + all + '}';
            values_.push_back({v, f, std::move(all), std::move(series)});
        }
    }

    std::size_t sources() const noexcept override { return values_.size(); }
    bool sample(std::size_t i, wheel_cursor& cursor) override {
        value& v = values_[i];
        return step<user_sample>(*v.of, cursor, v.sample, v.present);
    }

    std::string_view json_name() const noexcept override { return "values"; }
    std::string_view source_name(std::size_t i) const noexcept override { return values_[i].series; }
    bool is_flat() const noexcept override { return true; }
    std::size_t families() const noexcept override { return families_.size(); }
    const metric_description& family(std::size_t f) const noexcept override { return families_[f]; }
    bool is_present(std::size_t i) const noexcept override { return values_[i].present; }
    bool belongs(std::size_t i, std::size_t f) const noexcept override { return values_[i].family == f; }
    const std::string& labels(std::size_t i) const noexcept override { return values_[i].labels; }
    void write(std::size_t, std::size_t i, metric_sink& to) const override { to.value(values_[i].sample.value); }

private:
    struct value {
        std::shared_ptr<user_source> of;
        std::size_t family;
        std::string labels, series;
        user_sample sample{};
        bool present = true;
    };

    std::vector<metric_description> families_;
    std::vector<value> values_;
};

} // namespace

template <class Sample>
void metrics_rendering::add_group(const metric_source_list<Sample>& sources) {
    if (!sources.empty()) groups_.push_back(std::make_unique<group_of<Sample>>(sources));
}

metrics_rendering::metrics_rendering(metrics_format format, const metric_sources& sources,
                                     const std::vector<std::shared_ptr<user_source>>& values)
    : format_(format), text_(format) {
    std::apply([this](const auto&... list) { (add_group(list), ...); }, sources);
    if (!values.empty()) groups_.push_back(std::make_unique<user_group>(values));
}

bool metrics_rendering::next(std::string& out) {
    if (!sampled_) {
        if (sampling()) return true;
        sampled_ = true;
        group_ = 0;
        out.reserve(out.size() + expected_size()); // so that no slice copies the text of earlier slices
    }
    return format_ == metrics_format::json ? write_json(out) : write_text(out);
}

// Returns an estimate of the text's size: a metric has 4 lines on average.
std::size_t metrics_rendering::expected_size() const noexcept {
    constexpr std::size_t bytes_per_metric = 4 * 80;
    std::size_t metrics = 0;
    for (const auto& group : groups_) metrics += group->families() * (group->is_flat() ? 1 : group->sources());
    return metrics * bytes_per_metric;
}

// Takes one step of one source. Returns false if there is no source left.
bool metrics_rendering::sampling() {
    while (group_ < groups_.size() && source_ == groups_[group_]->sources()) {
        ++group_;
        source_ = 0;
    }
    if (group_ == groups_.size()) return false;
    if (!groups_[group_]->sample(source_, cursor_)) {
        ++source_;
        cursor_ = {};
    }
    return true;
}

// Writes family by family, because the lines of a family must stand together.
bool metrics_rendering::write_text(std::string& out) {
    const std::size_t enough = text_.lines() + lines_at_a_time;
    for (; group_ < groups_.size(); ++group_, family_ = 0) {
        const metric_group& group = *groups_[group_];
        for (; family_ < group.families(); ++family_, source_ = 0) {
            if (source_ == 0) text_.begin_family(group.family(family_));
            for (; source_ < group.sources(); ++source_) {
                if (!group.is_present(source_) || !group.belongs(source_, family_)) continue;
                if (text_.lines() >= enough) return true;
                text_.begin_source(out, group.labels(source_));
                group.write(family_, source_, text_);
            }
        }
    }
    if (format_ == metrics_format::openmetrics) out += "# EOF\n";
    return false;
}

// Writes source by source: each is an object with a member for each metric. One slice is at most one source.
bool metrics_rendering::write_json(std::string& out) {
    constexpr std::string_view prefix = "cogwheel_";
    if (!begun_) {
        json_.open('{');
        begun_ = true;
        source_ = 0;
    }
    if (group_ == groups_.size()) {
        json_.close('}');
        out += json_.take();
        return false;
    }
    const metric_group& group = *groups_[group_];
    if (source_ == 0) {
        json_.key(group.json_name());
        json_.open('{');
    }
    if (source_ < group.sources() && !group.is_present(source_)) {
        ++source_; // removed meanwhile
    } else if (source_ < group.sources()) {
        const auto write_members = [&] {
            for (std::size_t f = 0; f < group.families(); ++f) {
                std::string_view name = group.family(f).name;
                if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
                members_.begin_member(name);
                group.write(f, source_, members_);
                members_.end_member();
            }
        };
        if (group.is_flat()) {
            members_.begin_member(group.source_name(source_));
            group.write(0, source_, members_);
        } else {
            json_.key(group.source_name(source_));
            json_.open('{');
            write_members();
            json_.close('}');
        }
        ++source_;
    } else {
        json_.close('}');
        ++group_;
        source_ = 0;
    }
    out += json_.take();
    return true;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
