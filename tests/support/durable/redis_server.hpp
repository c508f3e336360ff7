// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Real redis-server processes for tests: on a unix socket in a temporary folder, and on a free TCP port if a test asks
// for it. A server dies with its object, and also if the test program is killed.
#pragma once

#include "support/durable/plain_redis.hpp"
#include "support/durable/redis_program.hpp"
#include "support/durable/reserved_port.hpp"
#include "support/durable/smoke_process.hpp"

#include <cogwheel/durable/redis_options.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <sys/stat.h>

namespace cogwheel_tests {

/// A folder that is removed with all it holds.
class temporary_folder {
public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "cogwheel-redis-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct redis_server_options {
    std::vector<std::string> arguments{}; // such as {"--requirepass", "secret"}; after the default ones
    std::uint16_t port = 0;               // of TCP without TLS; 0: none
    bool tls = false;                     // a free port with TLS; certificates in tls_files()
    std::string sentinel{};               // the text of a configuration file: runs a sentinel. Needs `port`
    std::string password{};               // with which call() logs in
};

class redis_server {
public:
    /// Returns whether the program is there. Tests say that they skip, and return, if it is not.
    static bool installed() { return !redis_program().empty(); }

    /// Starts the server, and waits until it answers. Errors: std::runtime_error with the end of its log.
    explicit redis_server(redis_server_options o = {}) : options_(std::move(o)) {
        if (options_.tls) make_certificate();
        start();
    }

    const temporary_folder& folder() const { return folder_; }
    std::string socket() const { return folder_ / "redis.sock"; }
    cogwheel::redis_address address() const { return {.host = {}, .path = socket()}; }
    cogwheel::redis_address tcp_address() const { return {.host = "127.0.0.1", .port = options_.port}; }
    cogwheel::redis_address tls_address() const { return {.host = "localhost", .port = tls_port_}; }
    /// The server's certificate is its own authority; it is for "localhost".
    std::string certificate() const { return folder_ / "cert.pem"; }
    std::string key() const { return folder_ / "key.pem"; }
    pid_t pid() const { return process_.pid(); }

    /// Options of a client for address().
    cogwheel::redis_options client() const {
        cogwheel::redis_options o;
        o.addresses = {address()};
        return o;
    }

    void start() {
        process_ = child_process(command_line());
        if (!eventually([&] { return !process_.running() || ready(); }, std::chrono::seconds(20)) ||
            !process_.running())
            throw std::runtime_error(redis_program() + " does not start: " + log_tail());
    }
    /// SIGKILL.
    void kill() { process_.kill(); }
    void restart() {
        kill();
        start();
    }
    void stop() { process_.signal(SIGSTOP); }
    void cont() { process_.signal(SIGCONT); }

    /// Runs a command on a connection of its own, and returns its reply as text: a number in decimal, an array as
    /// lines, an error as it is, nil as "(nil)".
    std::string call(const std::vector<std::string>& arguments) const {
        constexpr std::chrono::seconds limit{5};
        try {
            plain_redis c =
                options_.sentinel.empty() ? plain_redis(socket(), limit) : plain_redis(options_.port, limit);
            if (!options_.password.empty()) c(cogwheel::redis_command{"AUTH", options_.password});
            cogwheel::redis_command command;
            for (const auto& a : arguments) command.add(a);
            return text_of(c(command));
        } catch (const std::runtime_error&) {
            return "(no connection)";
        }
    }

    std::string log_tail() const {
        std::ifstream in(folder_ / "log");
        std::string all((std::istreambuf_iterator<char>(in)), {});
        return all.size() > 2000 ? all.substr(all.size() - 2000) : all;
    }

private:
    static std::string text_of(const cogwheel::redis_reply& r) {
        using kind = cogwheel::redis_reply::kind;
        if (r.what() == kind::integer) return std::to_string(r.integer());
        if (r.is_nil()) return "(nil)";
        std::string all = r.text();
        for (const auto& e : r.elements()) all += text_of(e) + "\n";
        return all;
    }

    bool ready() const {
        const auto answer = call({"PING"});
        return answer == "PONG" || answer.starts_with("NOAUTH") || answer.starts_with("NOPERM");
    }

    std::vector<std::string> command_line() {
        std::vector<std::string> all{redis_program()};
        if (!options_.sentinel.empty()) {
            std::ofstream(folder_ / "sentinel.conf")
                << "port " << options_.port << "\ndir " << folder_.path() << "\nlogfile " << folder_ / "log" << '\n'
                << options_.sentinel;
            all.insert(all.end(), {folder_ / "sentinel.conf", "--sentinel"});
            return all;
        }
        all.insert(all.end(), {"--port", std::to_string(options_.port), "--bind", "127.0.0.1", "--unixsocket", socket(),
                               "--dir", folder_.path(), "--save", "", "--logfile", folder_ / "log"});
        if (options_.tls) {
            tls_port_ = reserved_tcp_port();
            all.insert(all.end(), {"--tls-port", std::to_string(tls_port_), "--tls-cert-file", certificate(),
                                   "--tls-key-file", key(), "--tls-ca-cert-file", certificate()});
        }
        all.insert(all.end(), options_.arguments.begin(), options_.arguments.end());
        return all;
    }

    void make_certificate() {
        const std::string command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
                                    "-addext subjectAltName=DNS:localhost -keyout " +
                                    key() + " -out " + certificate() + " >/dev/null 2>&1";
        if (std::system(command.c_str()) != 0) throw std::runtime_error("openssl makes no certificate");
    }

    redis_server_options options_;
    temporary_folder folder_; // before the process: removed after it
    std::uint16_t tls_port_ = 0;
    child_process process_;
};

} // namespace cogwheel_tests
