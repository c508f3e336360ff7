// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "command.hpp"

#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration)

namespace cron {
namespace {

using namespace std::chrono_literals;

// How often is looked who is left of a group: those of its processes that are not our children tell nobody.
constexpr auto look_again = 20ms;

// Reads the groups there are, line by line; the last line counts. $1: tenths of a second between SIGTERM and SIGKILL.
constexpr const char* guardian_script = R"(
trap '' HUP INT QUIT TERM
while read -r now; do groups=$now; done
tell() {
  left=
  for group in $groups; do kill -s "$1" -- "-$group" && left="$left $group"; done
  groups=$left
}
tell TERM
tenths=$1
while [ "$tenths" -gt 0 ]; do
  tell 0
  [ -n "$groups" ] || exit 0
  sleep 0.1
  tenths=$((tenths - 1))
done
tell KILL
)";

/// /bin/sh in a process group of its own. Not told of signals that we ignore.
class shell {
public:
    explicit shell(const char* const* arguments) : arguments_{arguments} {
        ::posix_spawnattr_init(&attributes_);
        ::posix_spawn_file_actions_init(&files_);
        sigset_t none, ignored_here;
        sigemptyset(&none);
        sigemptyset(&ignored_here);
        sigaddset(&ignored_here, SIGPIPE);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &ignored_here);
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~shell() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&files_);
    }
    shell(const shell&) = delete;
    shell& operator=(const shell&) = delete;

    void input_from(int descriptor) { ::posix_spawn_file_actions_adddup2(&files_, descriptor, STDIN_FILENO); }
    void nothing_at(int standard) { ::posix_spawn_file_actions_addopen(&files_, standard, "/dev/null", O_RDWR, 0); }
    pid_t start() {
        pid_t child = 0;
        const int failed =
            ::posix_spawn(&child, "/bin/sh", &files_, &attributes_, const_cast<char**>(arguments_), environ);
        if (failed != 0) throw std::system_error(failed, std::generic_category(), "/bin/sh");
        return child;
    }

private:
    const char* const* arguments_;
    posix_spawnattr_t attributes_{};
    posix_spawn_file_actions_t files_{};
};

/// A child that is under way.
class process {
public:
    process(guardian& guard, const std::string& command) : guard_{guard} {
        const char* arguments[] = {"sh", "-c", command.c_str(), nullptr};
        shell sh(arguments);
        sh.nothing_at(
            STDIN_FILENO); // the table may come from there, and a terminal would stop who reads it in the background
        group_ = sh.start();
        guard_.add(group_);
    }
    // One that has not ended is the guardian's.
    ~process() {
        if (status_) guard_.remove(group_);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    bool has_ended() {
        int status = 0;
        if (!status_ && ::waitpid(group_, &status, WNOHANG) == group_) status_ = status;
        return status_.has_value();
    }
    /// Its shell, or another one of its group. The number is nobody else's until then.
    bool has_left_any() {
        has_ended(); // else it would count
        return ::kill(-group_, 0) == 0 || errno == EPERM;
    }
    void tell(int signal) const { ::kill(-group_, signal); }

    void throw_if_failed() const {
        if (WIFSIGNALED(*status_)) throw std::runtime_error(fmt::format("ended by signal {}", WTERMSIG(*status_)));
        if (WEXITSTATUS(*status_) != 0) throw std::runtime_error(fmt::format("exit code {}", WEXITSTATUS(*status_)));
    }

private:
    guardian& guard_;
    pid_t group_ = 0;
    std::optional<int> status_;
};

} // namespace

guardian::guardian(std::chrono::nanoseconds grace) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    pipe_ = ends[1];
    const std::string tenths = std::to_string(std::chrono::ceil<std::chrono::milliseconds>(grace).count() / 100 + 1);
    const char* arguments[] = {"sh", "-c", guardian_script, "cron_guardian", tenths.c_str(), nullptr};
    shell sh(arguments);
    sh.input_from(ends[0]);
    sh.nothing_at(STDOUT_FILENO); // else who reads ours would wait for its end, too
    sh.nothing_at(STDERR_FILENO);
    try {
        process_ = sh.start();
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    ::close(ends[0]);
}

guardian::~guardian() {
    ::close(pipe_);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void guardian::add(pid_t group) {
    groups_.insert(group);
    tell();
}

void guardian::remove(pid_t group) {
    groups_.erase(group);
    tell();
}

void guardian::tell() {
    const std::string line = fmt::format("{}\n", fmt::join(groups_, " "));
    for (std::size_t done = 0; done < line.size();) {
        const auto n = ::write(pipe_, line.data() + done, line.size() - done);
        if (n < 0 && errno != EINTR) return; // it has been killed
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

asio::awaitable<void> run_command(cogwheel::timer_wheel& wheel, guardian& guard, const std::string& command,
                                  std::chrono::nanoseconds grace) {
    asio::signal_set ends(co_await asio::this_coro::executor, SIGCHLD); // before there is one: none is missed
    process child(guard, command);
    co_await asio::this_coro::throw_if_cancelled(false); // what is cancelled still has to end its processes
    const auto state = co_await asio::this_coro::cancellation_state;
    std::error_code ignored;
    while (!child.has_ended() && state.cancelled() == asio::cancellation_type::none)
        co_await ends.async_wait(asio::redirect_error(asio::use_awaitable, ignored)); // the end of one, maybe another

    if (state.cancelled() != asio::cancellation_type::none) {
        child.tell(SIGTERM);
        const auto last = std::chrono::steady_clock::now() + grace;
        while (child.has_left_any()) {
            if (std::chrono::steady_clock::now() >= last) {
                child.tell(SIGKILL);
                break;
            }
            co_await wheel.async_wait(look_again, asio::redirect_error(asio::use_awaitable, ignored));
        }
        while (!child.has_ended()) co_await ends.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    child.throw_if_failed();
}

} // namespace cron
