// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The command line: three words, then options. Names and paths go into the request, so they are looked at closely.

#include "program.hpp"

#include "support/command_line.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace http {
namespace {

constexpr std::string_view usage =
    R"(usage: http_get_with_timeout HOST PORT PATH [options]
       http_get_with_timeout             fetches from a server of its own that has bad manners
An HTTP/1.1 GET that ends in time, whatever the server does. The body goes to standard output.

  --connect D     look-up and connection (default 5s)
  --first-byte D  from there to the first byte of the response (default 10s)
  --header D      from there to the end of its header (default 10s)
  --body-idle D   longest pause within the body (default 10s)
  --total D       everything (default 60s)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
Exit code: 0 the whole response, whatever its status; 1 the connection failed, or the response was broken or cut short;
2 bad command line; the limit that ended it: 3 connect, 4 first byte, 5 header, 6 body idle, 7 total.
)";

struct options {
    target to;
    limits most;
    bool self_test = false;
    bool help = false;
};

// Nothing that would end a line or a word of the request.
bool is_clean(std::string_view text) {
    return !text.empty() && std::ranges::none_of(text, [](char c) { return c <= ' ' || c == '\x7f'; });
}

// What others have said goes to a terminal: one line, and no control characters.
std::string printable(std::string text) {
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
    return text;
}

std::string parse_port(std::string_view text) {
    unsigned port = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || rest != text.data() + text.size() || port == 0 || port > 65535)
        throw command_line::usage_error{
            fmt::format("bad port '{}': give a whole number from 1 to 65535", printable(std::string{text}))};
    return std::to_string(port);
}

target parse_target(char** words) {
    target to{words[0], parse_port(words[1]), words[2]};
    if (!is_clean(to.host) || to.host.find_first_of("/[]@") != std::string::npos)
        throw command_line::usage_error{fmt::format("bad host '{}': give a name or an address", printable(to.host))};
    if (!is_clean(to.path) || !to.path.starts_with('/'))
        throw command_line::usage_error{
            fmt::format("bad path '{}': it begins with '/' and has no spaces (write %20)", printable(to.path))};
    return to;
}

options parse_options(int argc, char** argv) {
    constexpr int words = 3;
    options result;
    if (argc <= 1) {
        result.self_test = true;
        return result;
    }
    const std::string_view first = argv[1];
    if (first == "--help" || first == "-h") {
        result.help = true;
        return result;
    }
    const auto end = argv + std::min(argc, words + 1);
    const auto option = std::find_if(argv + 1, end, [](const char* word) { return *word == '-'; });
    if (option != end)
        throw command_line::usage_error{
            fmt::format("give HOST PORT PATH before '{}' (see --help)", printable(*option))};
    if (argc <= words) throw command_line::usage_error{"give HOST PORT PATH (see --help)"};
    result.to = parse_target(argv + 1);

    command_line::reader line{argc - words, argv + words};
    while (line.next()) {
        const auto name = line.name();
        if (name == "--connect") {
            result.most.connect = line.positive_duration();
        } else if (name == "--first-byte") {
            result.most.first_byte = line.positive_duration();
        } else if (name == "--header") {
            result.most.header = line.positive_duration();
        } else if (name == "--body-idle") {
            result.most.body_idle = line.positive_duration();
        } else if (name == "--total") {
            result.most.total = line.positive_duration();
        } else if (name == "--help" || name == "-h") {
            result.help = true;
            return result;
        } else {
            line.unknown();
        }
    }
    return result;
}

int fetch(const options& wanted) {
    asio::io_context io{1};
    wheel timers{io};
    int code = 1;
    const auto print = [](std::string_view piece) {
        if (std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size())
            output::flush(); // throws: enough is fetched
    };
    asio::co_spawn(io, get(timers, wanted.to, wanted.most, print),
                   [&](const std::exception_ptr& failure, const response& answer) {
                       code = exit_code(failure);
                       io.stop();
                       if (code == 0)
                           output::complain("{} {}\n", answer.status, printable(answer.reason));
                       else if (std::ferror(stdout) == 0)
                           output::complain("http_get_with_timeout: {}\n", printable(describe(failure)));
                   });
    io.run();
    output::flush();
    // A look-up that hangs cannot be called off, and the end of `io` would wait for it.
    if (code == static_cast<int>(limit::connect) || code == static_cast<int>(limit::total)) std::_Exit(code);
    return code;
}

} // namespace

int run(int argc, char** argv) {
    return command_line::run("http_get_with_timeout", [&] {
        const options wanted = parse_options(argc, argv);
        if (wanted.help) {
            fmt::print("{}", usage);
            return 0;
        }
        return wanted.self_test ? self_test() : fetch(wanted);
    });
}

} // namespace http
