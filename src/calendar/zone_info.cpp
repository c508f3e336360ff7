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
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

using detail::zone_rules;

namespace fs = std::filesystem;

constexpr std::string_view own_name = "localtime"; // of the system's zone, if the database does not have it

std::string directory() {
    static const std::string found = [] {
        error_code ignored;
        for (const char* const place :
             {"/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"})
            if (fs::is_directory(place, ignored)) return std::string(place);
        return std::string("/usr/share/zoneinfo");
    }();
    const char* const said = std::getenv("TZDIR");
    return said != nullptr && *said != '\0' ? said : found;
}

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Accepts no dot, and no slash at the start, so that no name leads out of the directory.
bool is_a_name(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
               c == '+' || c == '-';
    };
    return !text.empty() && text.front() != '/' && std::all_of(text.begin(), text.end(), allowed);
}

// Reads each zone once: a thousand tasks ask for the same zone a thousand times. The rules are never destroyed, because
// a zone_info may be used while static objects are destroyed.
const zone_rules* read(std::string_view name, const std::string& path) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::string, std::unique_ptr<const zone_rules>, std::less<>>;
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(path); at != known.end()) return at->second.get();
    try {
        auto rules = std::make_unique<const zone_rules>(name, bytes_of(path));
        return known.emplace(path, std::move(rules)).first->second.get();
    } catch (const std::invalid_argument& e) {
        throw std::invalid_argument("cogwheel::zone_info: '" + std::string(name) + "' cannot be read from " + path +
                                    ": " + e.what());
    }
}

const zone_rules* find(std::string_view name) {
    const std::string in = directory(), path = in + '/' + std::string(name);
    error_code ignored;
    if (is_a_name(name) && fs::is_regular_file(path, ignored)) return read(name, path);
    if (name == own_name && fs::is_regular_file("/etc/localtime", ignored)) return read(name, "/etc/localtime");
    throw std::invalid_argument("cogwheel::zone_info: '" + detail::visible_text(name) +
                                "' is unknown, but must be a name of the tz database, such as Europe/Berlin or UTC; "
                                "there is no such file in " +
                                in + ", is the package tzdata installed?");
}

// Returns true if both, perhaps of two editions of the database, agree from now on for ten changes of the clocks.
bool agree(const zone_rules& a, const zone_rules& b) {
    auto at = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    for (int changes = 0; changes < 10; ++changes) {
        const zone_info::stretch x = a.stretch_at(at), y = b.stretch_at(at);
        if (x.offset != y.offset || x.end != y.end) return false;
        if (x.end == std::chrono::sys_seconds::max()) return true;
        at = x.end;
    }
    return true;
}

// Returns the name of the database file with these bytes, or nothing. Prefers the names in zone1970.tab.
std::string name_of(const std::string& bytes) {
    const fs::path in = directory();
    const auto has = [&](const std::string& name) {
        error_code ignored;
        return is_a_name(name) && fs::is_regular_file(in / name, ignored) &&
               fs::file_size(in / name, ignored) == bytes.size() && bytes_of(in / name) == bytes;
    };
    if (has("UTC")) return "UTC";
    std::ifstream table(in / "zone1970.tab");
    for (std::string countries, place, name, rest; std::getline(table, countries, '\t');) {
        if (countries.starts_with('#')) {
            table.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
            continue;
        }
        std::getline(table, place, '\t');
        std::getline(table, rest);
        name = rest.substr(0, rest.find('\t'));
        if (has(name)) return name;
    }
    std::string first;
    error_code ec;
    for (fs::recursive_directory_iterator at(in, ec), end; !ec && at != end; at.increment(ec)) {
        std::string name = at->path().lexically_relative(in).generic_string();
        const bool odd = name == own_name || name.starts_with("posix");
        if (!odd && (first.empty() || name < first) && has(name)) first = std::move(name);
    }
    return first;
}

} // namespace

zone_info::zone_info(std::string_view name) : rules_(name == zone_info().name() ? nullptr : find(name)) {}

zone_info zone_info::local() { return detail::local_zone("/etc"); }

std::string zone_info::name() const { return rules_ == nullptr ? "UTC" : rules_->name(); }

zone_info::stretch zone_info::stretch_at(std::chrono::sys_seconds at) const {
    using std::chrono::sys_seconds;
    if (rules_ == nullptr) return {sys_seconds::min(), sys_seconds::max(), std::chrono::seconds(0)};
    return rules_->stretch_at(at);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// Systems set the link localtime, the file timezone, or both. The C library reads only localtime. In a container,
// localtime may be a mounted file, while timezone is from the image.
zone_info local_zone(const std::string& etc) {
    const std::string path = etc + "/localtime";
    error_code ec;
    const std::string link = fs::read_symlink(path, ec).generic_string();
    constexpr std::string_view inside = "zoneinfo/";
    if (const std::size_t at = link.rfind(inside); at != std::string::npos) {
        const std::string name = link.substr(at + inside.size());
        if (fs::is_regular_file(directory() + '/' + name, ec)) return zone_info(name);
    }
    std::string name;
    std::ifstream(etc + "/timezone") >> name;
    const bool is_named = is_a_name(name) && fs::is_regular_file(directory() + '/' + name, ec);
    if (!fs::is_regular_file(path, ec)) return is_named ? zone_info(name) : zone_info(); // as the C library
    zone_info own;
    own.rules_ = read(own_name, path);
    if (is_named && agree(*find(name), *own.rules_)) return zone_info(name);
    if (const std::string known = name_of(bytes_of(path)); !known.empty()) return zone_info(known);
    return own;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
