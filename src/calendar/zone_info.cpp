// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Finds and reads the file of a zone, and keeps its rules.
#include "zone_rules.hpp"

#include <cogwheel/detail/visible_text.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

namespace {

using detail::zone_rules;

std::string directory() {
    const char* const said = std::getenv("TZDIR");
    return said != nullptr && *said != '\0' ? said : "/usr/share/zoneinfo";
}

// Accepts no dot and no slash at the start, so that no name leads out of the directory.
bool is_a_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
               c == '+' || c == '-';
    };
    return !text.empty() && text.front() != '/' && std::all_of(text.begin(), text.end(), allowed);
}

// Reads each zone once, because a schedule of a thousand tasks asks for the same zone a thousand times. The rules are
// never destroyed, because a zone_info is a value that may be used while static objects are destroyed.
const zone_rules* find(std::string_view name) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::string, std::unique_ptr<const zone_rules>, std::less<>>;
    const std::string in = directory();
    const std::string path = in + '/' + std::string(name);
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(path); at != known.end()) return at->second.get();
    error_code ignored;
    if (!is_a_name(name) || !std::filesystem::is_regular_file(path, ignored))
        throw std::invalid_argument(
            "cogwheel::zone_info: '" + detail::visible_text(name) +
            "' is unknown, but must be a name of the tz database, such as Europe/Berlin or UTC; "
            "there is no such file in " +
            in + ", is the package tzdata installed?");
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    try {
        auto rules = std::make_unique<const zone_rules>(name, bytes);
        return known.emplace(path, std::move(rules)).first->second.get();
    } catch (const std::invalid_argument& e) {
        throw std::invalid_argument("cogwheel::zone_info: '" + std::string(name) + "' cannot be read from " + path +
                                    ": " + e.what());
    }
}

} // namespace

zone_info::zone_info(std::string_view name) : rules_(name == zone_info().name() ? nullptr : find(name)) {}

// Systems set the link /etc/localtime, the file /etc/timezone, or both. The link comes first.
zone_info zone_info::local() {
    error_code ec;
    const std::string link = std::filesystem::read_symlink("/etc/localtime", ec).string();
    constexpr std::string_view inside = "zoneinfo/";
    if (const std::size_t at = link.rfind(inside); at != std::string::npos)
        return zone_info(link.substr(at + inside.size()));
    std::string name;
    std::ifstream file("/etc/timezone");
    if (file >> name) return zone_info(name);
    throw std::runtime_error(
        "cogwheel::zone_info: the system's own zone cannot be found out: /etc/localtime is no link "
        "into a directory zoneinfo, and there is no /etc/timezone; name the zone");
}

std::string zone_info::name() const { return rules_ == nullptr ? "UTC" : rules_->name(); }

zone_stretch zone_info::stretch_at(std::chrono::sys_seconds at) const {
    using std::chrono::sys_seconds;
    if (rules_ == nullptr) return {sys_seconds::min(), sys_seconds::max(), std::chrono::seconds(0)};
    return rules_->stretch_at(at);
}

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
