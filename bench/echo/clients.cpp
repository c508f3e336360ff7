// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See clients.hpp.
#include "echo/clients.hpp"

#include "machine.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::echo {

namespace {

constexpr unsigned patience_seconds = 60;

struct order {
    std::uint64_t requests = 0; // none: connect
    std::uint64_t seed = 0;
    std::uint16_t port = 0;
};

template <class T>
bool read_all(int fd, T& object) {
    return ::recv(fd, &object, sizeof object, MSG_WAITALL) == static_cast<ssize_t>(sizeof object);
}

template <class T>
bool write_all(int fd, const T& object) {
    return ::send(fd, &object, sizeof object, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof object);
}

void need_descriptors(std::size_t connections) {
    const rlim_t needed = connections + 64;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < needed)
        throw std::runtime_error(fmt::format(
            "RLIMIT_NOFILE: a hard limit of {} descriptors is too low for {} connections; raise it: ulimit -Hn {}",
            limit.rlim_max, connections, needed));
    if (limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot raise RLIMIT_NOFILE");
}

// The first allowed processor that is not the server's; if there is none, that.
void pin_beside(int servers) {
    unpin();
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (i != servers && CPU_ISSET(static_cast<unsigned>(i), &allowed)) {
            pin(i);
            return;
        }
    pin(servers);
}

report carry_out(load& clients, const order& o, std::size_t connections) {
    report r;
    try {
        if (o.requests != 0) return clients.run(o.requests, o.seed);
        clients.connect(connections, o.port);
    } catch (const std::exception& e) {
        std::strncpy(r.error, e.what(), sizeof r.error - 1);
    }
    return r;
}

// What the child does. The alarm kills it: whoever waits for a report then sees the end of the sockets.
void obey(int orders, std::size_t connections) {
    load clients;
    for (order o; read_all(orders, o);) {
        ::alarm(patience_seconds);
        const report r = carry_out(clients, o, connections);
        ::alarm(0);
        if (!write_all(orders, r)) return;
    }
}

} // namespace

clients::clients(std::size_t connections) : connections_(connections) {
    need_descriptors(connections);
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot make a pair of sockets");
    const int servers_cpu = ::sched_getcpu();
    const pid_t server = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != server) ::_exit(1);
        // The leg's answers go there: their reader must see it when the leg dies.
        const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        ::dup2(nowhere, STDIN_FILENO);
        ::dup2(nowhere, STDOUT_FILENO);
        ::close(ends[0]);
        try {
            pin_beside(servers_cpu);
            obey(ends[1], connections);
        } catch (const std::exception&) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    const int error = errno;
    ::close(ends[1]);
    orders_ = ends[0];
    if (child_ < 0) {
        ::close(orders_);
        throw std::system_error(error, std::generic_category(), "cannot start the clients");
    }
}

clients::~clients() {
    ::close(orders_);
    int status = 0;
    ::waitpid(child_, &status, 0); // it obeys, and sees the end, or its alarm comes
}

void clients::connect(std::uint16_t port) { write_all(orders_, order{0, 0, port}); }

void clients::ask(std::uint64_t requests, std::uint64_t seed) { write_all(orders_, order{requests, seed, 0}); }

report clients::answer() {
    report r;
    if (!read_all(orders_, r))
        throw std::runtime_error(fmt::format("the clients are gone, or were not done after {} s", patience_seconds));
    if (r.error[0] != '\0') throw std::runtime_error(fmt::format("the clients: {}", r.error));
    return r;
}

} // namespace bench::echo
