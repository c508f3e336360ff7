// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "durable_queue_impl.hpp"
#include "stores.hpp"

#include <cogwheel/durable/durable_queue.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using detail::completion;
using impl = detail::durable_queue_impl;

namespace {

template <class MakeStore>
std::shared_ptr<impl> make_impl(const timer_wheel& wheel, durable_options options, MakeStore make_store) {
    options.validate();
    auto strand = asio::make_strand(wheel.get_executor());
    auto store = make_store(strand, options);
    return std::make_shared<impl>(wheel, std::move(strand), std::move(options), std::move(store));
}

// What does not count with a storage need not be right: above all, there is no address of a server.
durable_options without_server(durable_options options) {
    const durable_options fresh;
    options.redis = fresh.redis;
    options.name = fresh.name;
    options.shards = fresh.shards;
    options.durability = fresh.durability;
    return options;
}

} // namespace

durable_queue::durable_queue(const timer_wheel& wheel, durable_options options)
    : impl_(make_impl(wheel, std::move(options), [&](const impl::strand& on, const durable_options& o) {
          return detail::make_redis_store(wheel, on, o);
      })) {}

durable_queue::durable_queue(const timer_wheel& wheel, task_storage& storage, durable_options options)
    : impl_(make_impl(wheel, without_server(std::move(options)), [&](const impl::strand& on, const durable_options& o) {
          return detail::make_journal_store(on, storage, o);
      })) {}

durable_queue::~durable_queue() { close(); }

durable_queue::executor_type durable_queue::get_executor() const noexcept { return impl_->wheel_executor(); }
const durable_options& durable_queue::options() const noexcept { return impl_->options(); }
std::string durable_queue::trouble() const { return impl_->trouble(); }
void durable_queue::close() noexcept { impl_->close(); }

void durable_queue::start_open(const impl_ptr& i, completion<void> done) { i->run(std::move(done), impl::open); }
void durable_queue::start_schedule(const impl_ptr& i, durable_task t, on_duplicate policy,
                                   completion<durable_receipt> done) {
    i->run(std::move(done), [t = std::move(t), policy](const impl_ptr& self) mutable {
        return impl::schedule(self, std::move(t), policy);
    });
}
void durable_queue::start_schedule_all(const impl_ptr& i, std::vector<durable_task> t, on_duplicate policy,
                                       completion<std::vector<durable_added>> done) {
    i->run(std::move(done), [t = std::move(t), policy](const impl_ptr& self) mutable {
        return impl::schedule_all(self, std::move(t), policy);
    });
}
void durable_queue::start_cancel(const impl_ptr& i, std::string id, completion<durable_cancel_result> done) {
    i->run(std::move(done), [id = std::move(id)](const impl_ptr& self) { return impl::cancel(self, id); });
}
void durable_queue::start_reschedule(const impl_ptr& i, std::string id, task_trigger when,
                                     completion<durable_receipt> done) {
    i->run(std::move(done), [id = std::move(id), when = std::move(when)](const impl_ptr& self) {
        return impl::reschedule(self, id, when);
    });
}
void durable_queue::start_hold(const impl_ptr& i, std::string id, bool held, completion<void> done) {
    i->run(std::move(done), [id = std::move(id), held](const impl_ptr& self) { return impl::hold(self, id, held); });
}
void durable_queue::start_find(const impl_ptr& i, std::string id, completion<std::optional<durable_info>> done) {
    i->run(std::move(done), [id = std::move(id)](const impl_ptr& self) { return impl::find(self, id); });
}
void durable_queue::start_list(const impl_ptr& i, std::string cursor, std::uint32_t count, bool dead,
                               completion<durable_page> done) {
    i->run(std::move(done), [cursor = std::move(cursor), count, dead](const impl_ptr& self) {
        return impl::list(self, cursor, count, dead);
    });
}
void durable_queue::start_redrive(const impl_ptr& i, std::string id, completion<bool> done) {
    i->run(std::move(done), [id = std::move(id)](const impl_ptr& self) { return impl::redrive(self, id); });
}
void durable_queue::start_purge(const impl_ptr& i, std::string id, completion<bool> done) {
    i->run(std::move(done), [id = std::move(id)](const impl_ptr& self) { return impl::purge(self, id); });
}
void durable_queue::start_pause(const impl_ptr& i, bool paused, completion<void> done) {
    i->run(std::move(done), [paused](const impl_ptr& self) { return impl::pause(self, paused); });
}
void durable_queue::start_counts(const impl_ptr& i, completion<durable_counts> done) {
    i->run(std::move(done), impl::counts);
}
void durable_queue::start_audit(const impl_ptr& i, completion<durable_audit> done) {
    i->run(std::move(done), impl::audit);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_BUILT_WITH_ASIO(durable)
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
