// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Adds tasks to the table. If anything fails, the table and the storage are unchanged.
#include "../detail/traceparent.hpp"
#include "locked_scope.hpp"
#include "new_tasks.hpp"

#include <unordered_set>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// Checks a task and makes its entry. Returns nullptr without an error if the existing task is kept.
task_scheduler_impl::entry_ptr task_scheduler_impl::prepare(task&& t, std::shared_ptr<const defined_job> job,
                                                            on_duplicate policy, error_code& refused) {
    refused = stopped_         ? make_error_code(errc::stopped)
              : t.name.empty() ? make_error_code(task_errc::no_name)
                               : t.when.check();
    if (!refused && t.most_at_once == 0) refused = task_errc::bad_times;
    if (!refused && !t.traceparent.empty() && !is_traceparent(t.traceparent)) refused = task_errc::bad_trace;
    if (refused) return nullptr;
    if (job == nullptr) {
        const auto defined = jobs_.find(t.job);
        if (defined == jobs_.end()) refused = task_errc::unknown_job;
        if (refused) return nullptr;
        job = defined->second;
    } else {
        t.job.clear(); // a task with its own job has no name to find that job by
    }
    const entry_ptr old = entry_named(t.name);
    const bool exists = (old != nullptr && !old->ended) || idle_.contains(t.name);
    const bool ending = old != nullptr && old->cancelled && !old->ended; // only its job still runs: nothing to keep
    if (exists && policy == on_duplicate::reject) refused = errc::duplicate_key;
    if (refused || (exists && policy == on_duplicate::keep && !ending)) return nullptr;
    auto entry = std::make_shared<task_entry>(shared_from_this(), std::move(t), std::move(job), options_.misfire_grace);
    if (const auto until = entry->spec.when.until())
        entry->machine.ends_at(point_of(*wheel_, entry->spec.when, *until));
    entry->machine.begin(present_of(*wheel_, entry->spec.when));
    if (!entry->machine.next()) refused = task_errc::never;
    return refused ? nullptr : entry;
}

error_code task_scheduler_impl::add(task t, std::shared_ptr<const defined_job> job, on_duplicate policy) {
    locked_scope s(*this);
    s.drop(job); // destroyed without the lock if the task is refused
    error_code refused;
    const entry_ptr entry = prepare(std::move(t), std::move(job), policy, refused);
    if (entry == nullptr) return refused;
    s.drop(entry);
    new_tasks arriving(*this);
    refused = arriving.admit(entry);
    if (refused) return refused;
    if (recorder_.keeps(*entry)) recorder_.storage()->save(recorder_.record_of(*entry));
    arriving.settle(s);
    return {};
}

task_batch_result task_scheduler_impl::add_all(std::vector<task> tasks, on_duplicate policy) {
    locked_scope s(*this);
    task_batch_result result;
    new_tasks arriving(*this);
    std::vector<task_record> records;
    std::unordered_set<std::string> names;
    tasks_.reserve(tasks_.size() + tasks.size());
    for (task& t : tasks) {
        if (names.contains(t.name) && policy != on_duplicate::keep) result.refused = errc::duplicate_key;
        if (result.refused) break;
        const entry_ptr entry =
            names.insert(t.name).second ? prepare(std::move(t), nullptr, policy, result.refused) : nullptr;
        s.drop(entry);
        if (entry != nullptr) result.refused = arriving.admit(entry);
        if (result.refused) break;
        if (entry != nullptr && recorder_.keeps(*entry)) records.push_back(recorder_.record_of(*entry));
        ++result.added;
    }
    if (!records.empty()) recorder_.storage()->save_all(records);
    arriving.settle(s);
    return result;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
