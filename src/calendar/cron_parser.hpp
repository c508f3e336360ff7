// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Parses a cron expression from left to right. Each error names the column.
#pragma once

#include <cogwheel/calendar/cron.hpp>

#include <span>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Fills a cron_expression. Errors: cron_error, from parse().
class cron_parser {
public:
    cron_parser(std::string_view text, cron_expression& out) : text_(text), out_(out) {}

    void parse();

private:
    /// The values that a field may have.
    struct field {
        const char* name;
        int lowest, highest;
        std::span<const std::string_view> names; // the first one is that of `lowest`
    };
    struct range {
        int from, to, step;
    };

    [[noreturn]] void refuse(const std::string& why) const { refuse_at(position_, why); }
    [[noreturn]] void refuse_at(std::size_t position, const std::string& why) const;

    std::string here() const;
    bool at_end() const { return position_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[position_]; }
    bool take(char c);
    bool take_letters(std::string_view word); // upper or lower case; does not check what follows
    void skip_blanks();
    std::size_t count_fields() const;

    void macro();
    template <class Item>
    std::size_t list(Item item);
    std::uint64_t plain_field(const field&);
    void days_of_month();
    void days_of_week();
    std::uint64_t ranges(const field&);
    int value(const field&);
    int number(const char* what, int lowest, int highest);
    static bool has_a_day(const cron_expression&);
    void require_a_day(std::size_t days_begin, std::size_t weekdays_begin) const;

    std::string_view text_;
    cron_expression& out_;
    std::size_t position_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
