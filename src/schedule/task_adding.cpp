// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How tasks come into the table: whatever goes wrong, it is as before, and so is the storage.
#include <cogwheel/schedule/detail/task_arrivals.hpp>
#include <cogwheel/schedule/detail/task_section.hpp>

#include <unordered_set>

namespace cogwheel::detail {

// nullptr without an error: the one that is there is kept.
task_core::entry_ptr task_core::prepare(task&& t, std::shared_ptr<const defined_job> job, on_duplicate policy,
                                        std::error_code& refused) {
    refused = stopped_         ? make_error_code(errc::stopped)
              : t.name.empty() ? make_error_code(schedule_errc::no_name)
                               : t.when.check();
    if (refused) return nullptr;
    if (job == nullptr) {
        const auto defined = jobs_.find(t.job);
        if (defined == jobs_.end()) refused = schedule_errc::unknown_job;
        if (refused) return nullptr;
        job = defined->second;
    } else {
        t.job.clear(); // one that was handed over is not found again by a name
    }
    if (const entry_ptr old = entry_named(t.name); old != nullptr && !old->ended && policy != on_duplicate::replace) {
        if (policy == on_duplicate::reject) refused = schedule_errc::duplicate_key;
        return nullptr;
    }
    auto entry = std::make_shared<task_entry>(shared_from_this(), std::move(t), std::move(job), options_.misfire_grace);
    entry->machine.begin(present_of(entry->spec.when));
    if (!entry->machine.next()) refused = schedule_errc::never;
    return refused ? nullptr : entry;
}

std::error_code task_core::add(task t, std::shared_ptr<const defined_job> job, on_duplicate policy) {
    section s(*this);
    s.drop(job); // should it be refused
    std::error_code refused;
    const entry_ptr entry = prepare(std::move(t), std::move(job), policy, refused);
    if (entry == nullptr) return refused;
    s.drop(entry);
    arrivals arriving(*this);
    refused = arriving.admit(entry);
    if (refused) return refused;
    if (written_down(*entry)) options_.storage->save(record_of(*entry));
    arriving.settle(s);
    return {};
}

task_batch_result task_core::add_all(std::vector<task> tasks, on_duplicate policy) {
    section s(*this);
    task_batch_result result;
    arrivals arriving(*this);
    std::vector<task_record> records;
    std::unordered_set<std::string> names;
    tasks_.reserve(tasks_.size() + tasks.size());
    for (task& t : tasks) {
        if (names.contains(t.name) && policy != on_duplicate::keep) result.refused = schedule_errc::duplicate_key;
        if (result.refused) break;
        const entry_ptr entry =
            names.insert(t.name).second ? prepare(std::move(t), nullptr, policy, result.refused) : nullptr;
        s.drop(entry);
        if (entry != nullptr) result.refused = arriving.admit(entry);
        if (result.refused) break;
        if (entry != nullptr && written_down(*entry)) records.push_back(record_of(*entry));
        ++result.added;
    }
    if (!records.empty()) options_.storage->save_all(records);
    arriving.settle(s);
    return result;
}

bool task_core::written_down(const task_entry& e) const noexcept {
    return options_.storage != nullptr && !e.spec.job.empty();
}

} // namespace cogwheel::detail
