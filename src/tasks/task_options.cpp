// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of jobs and schedulers. Each message names the value, the range and the remedy.
#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_options.hpp>

#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void job_options::validate() const {
    if (attempts < 1) throw std::invalid_argument("cogwheel::job_options: attempts is 0, but must be at least 1");
    if (timeout && *timeout <= std::chrono::nanoseconds::zero())
        throw std::invalid_argument("cogwheel::job_options: timeout is " + detail::words(*timeout) +
                                    ", but must be above zero; leave it out for no limit");
}

void task_scheduler_options::validate() const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::task_scheduler_options: " + why);
    };
    constexpr auto zero = std::chrono::nanoseconds::zero();
    constexpr std::size_t most_threads = 4096;
    if (misfire_grace < zero) refuse("misfire_grace is " + detail::words(misfire_grace) + ", but must be zero or more");
    if (recheck <= zero)
        refuse("recheck is " + detail::words(recheck) + ", but must be above zero; a minute suits most schedules");
    if (storage_pause <= zero)
        refuse("storage_pause is " + detail::words(storage_pause) +
               ", but must be above zero; a second suits a full disk");
    if (pool.threads > most_threads)
        refuse("pool.threads is " + std::to_string(pool.threads) + ", but must be 0 (as many as the machine has) .. " +
               std::to_string(most_threads));
    if (pool.queue > std::numeric_limits<std::size_t>::max() - most_threads)
        refuse("pool.queue is " + std::to_string(pool.queue) +
               ", but must be below 2^63; full_policy::wait() has no limit");
    if (pool.when_full.limit() < zero)
        refuse("pool.when_full waits for " + detail::words(pool.when_full.limit()) +
               ", but must wait for zero or more");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
