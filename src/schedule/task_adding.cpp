// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How tasks come into the table: whatever goes wrong, it is as before, and so is the storage.
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
    const bool record = written_down(*entry);
    if (record) options_.storage->save(record_of(*entry));
    try {
        refused = install(s, entry);
    } catch (...) {
        if (record) undo_record(entry->spec.name);
        throw;
    }
    if (refused && record) undo_record(entry->spec.name);
    return refused;
}

// Written down first, all at once; what cannot be armed then is taken back.
task_batch_result task_core::add_all(std::vector<task> tasks, on_duplicate policy) {
    section s(*this);
    task_batch_result result;
    std::vector<entry_ptr> entries;
    std::vector<task_record> records;
    std::unordered_set<std::string_view> names;
    entries.reserve(tasks.size());
    for (task& t : tasks) {
        entry_ptr entry = prepare(std::move(t), nullptr, policy, result.refused);
        if (entry != nullptr && !names.insert(entry->spec.name).second) {
            entry = nullptr;
            if (policy != on_duplicate::keep) result.refused = schedule_errc::duplicate_key;
        }
        if (result.refused) break;
        if (entry != nullptr && written_down(*entry)) records.push_back(record_of(*entry));
        entries.push_back(std::move(entry));
    }
    for (const entry_ptr& entry : entries) s.drop(entry);
    tasks_.reserve(tasks_.size() + entries.size());
    if (!records.empty()) options_.storage->save_all(records);
    std::size_t n = 0;
    const auto take_back = [&] {
        for (; n != entries.size(); ++n)
            if (entries[n] != nullptr && written_down(*entries[n])) undo_record(entries[n]->spec.name);
    };
    try {
        for (; n != entries.size(); ++n, ++result.added) {
            const std::error_code full = entries[n] != nullptr ? install(s, entries[n]) : std::error_code();
            if (!full) continue;
            result.refused = full;
            break;
        }
    } catch (...) {
        take_back();
        throw;
    }
    take_back();
    return result;
}

// Refused, or thrown: the table is as before.
std::error_code task_core::install(section& s, const entry_ptr& entry) {
    const auto [place, fresh] = tasks_.try_emplace(entry->spec.name, nullptr);
    std::error_code refused;
    try {
        refused = arm(*entry);
    } catch (...) {
        if (fresh) tasks_.erase(place);
        throw;
    }
    if (refused) {
        if (fresh) tasks_.erase(place);
        return refused;
    }
    const entry_ptr old = std::exchange(place->second, entry);
    if (old != nullptr) {
        if (written_down(*old) && !written_down(*entry)) erase(*old);
        remove(s, old);
    }
    notify(task_event::kind::added, entry->spec.name, 0, {});
    return {};
}

bool task_core::written_down(const task_entry& e) const noexcept {
    return options_.storage != nullptr && !e.spec.job.empty();
}

// The record of a task that was not added after all: its predecessor's is valid again.
void task_core::undo_record(const std::string& name) noexcept {
    const entry_ptr old = entry_named(name);
    if (old != nullptr && !old->ended && written_down(*old)) {
        save(*old);
        return;
    }
    try {
        options_.storage->erase(name);
    } catch (...) {
        notify(task_event::kind::unrecorded, name, 0, words_of(std::current_exception()));
    }
}

} // namespace cogwheel::detail
