// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A redis-server of a test: on a unix socket in a folder of its own, never on a port, never the system's service. It is
// killed and its folder removed at the end of the scope, also if the test fails.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cogwheel_tests {

class redis_process {
public:
    /// Returns whether redis-server is installed.
    static bool installed() {
        static const bool found = std::system("command -v redis-server >/dev/null 2>&1") == 0;
        return found;
    }

    /// Starts a server, and waits until it accepts connections. Options such as {"--maxmemory", "2mb"}.
    explicit redis_process(std::vector<std::string> options = {}) : options_(std::move(options)) {
        std::string name = (std::filesystem::temp_directory_path() / "cogwheel-redis-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: " + name);
        folder_ = name;
        start();
    }
    redis_process(const redis_process&) = delete;
    redis_process& operator=(const redis_process&) = delete;
    ~redis_process() {
        kill();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::string socket() const { return (folder_ / "redis.sock").string(); }
    const std::filesystem::path& folder() const { return folder_; }
    pid_t pid() const { return pid_; }

    /// kill -9.
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
        if (log_ >= 0) close(log_);
        log_ = -1;
    }
    void start() {
        std::vector<std::string> words{"redis-server",   "--port", "0", "--unixsocket", socket(), "--dir",
                                       folder_.string(), "--save", "",  "--logfile",    ""};
        words.insert(words.end(), options_.begin(), options_.end());
        std::vector<char*> arguments;
        for (std::string& w : words) arguments.push_back(w.data());
        arguments.push_back(nullptr);
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("pipe");
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is killed leaves no server behind
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
            close(ends[1]);
            execvp(arguments[0], arguments.data());
            _exit(127);
        }
        close(ends[1]);
        std::string log;
        char bytes[4096];
        while (log.find("ready to accept connections") == log.npos) {
            const ssize_t n = read(ends[0], bytes, sizeof bytes);
            if (n <= 0) break;
            log.append(bytes, static_cast<std::size_t>(n));
        }
        log_ = ends[0]; // open until the end: the server goes on writing, far less than a pipe holds
        if (log.find("ready to accept connections") == log.npos) {
            kill();
            throw std::runtime_error("redis-server does not start: " + log);
        }
    }

private:
    std::vector<std::string> options_;
    std::filesystem::path folder_;
    pid_t pid_ = -1;
    int log_ = -1;
};

} // namespace cogwheel_tests
