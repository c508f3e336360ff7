// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/tasks/task_storage.hpp>

#include <span>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void memory_storage::save(const task_record& record) { tasks_.insert_or_assign(record.task.name, record); }

void memory_storage::save_all(std::span<const task_record> records) {
    decltype(tasks_) fresh;
    for (const task_record& record : records) fresh.insert_or_assign(record.task.name, record);
    while (!fresh.empty()) { // throws nothing
        if (const auto at = tasks_.find(fresh.begin()->first); at != tasks_.end()) tasks_.erase(at);
        tasks_.insert(fresh.extract(fresh.begin()));
    }
}

void memory_storage::erase(std::string_view name) {
    if (const auto at = tasks_.find(name); at != tasks_.end()) tasks_.erase(at);
}

task_storage::contents memory_storage::load() {
    contents all;
    for (const auto& [name, record] : tasks_) all.tasks.push_back(record);
    return all;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
