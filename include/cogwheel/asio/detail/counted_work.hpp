// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Outstanding work, counted by the executor itself where it can. An executor_work_guard keeps a second copy, which goes after
// the work: the context may be destroyed in between, and a strand's last copy looks for its service there.
#pragma once

#include <cogwheel/asio/detail/before_asio.hpp>

#include <asio/execution/outstanding_work.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/prefer.hpp>

#include <type_traits>

namespace cogwheel::detail {

template <class Executor,
          bool = asio::can_prefer<const Executor&, asio::execution::outstanding_work_t::tracked_t>::value>
struct work_counter {
    using type = std::decay_t<
        typename asio::prefer_result<const Executor&, asio::execution::outstanding_work_t::tracked_t>::type>;
    static type of(const Executor& e) { return asio::prefer(e, asio::execution::outstanding_work.tracked); }
};
template <class Executor>
struct work_counter<Executor, false> {
    using type = asio::executor_work_guard<Executor>;
    static type of(const Executor& e) { return type(e); }
};

/// Work for as long as it lives. What else needs the context is to be destroyed before it, and so declared after it.
template <class Executor>
class counted_work {
public:
    explicit counted_work(const Executor& e) : counter_(work_counter<Executor>::of(e)) {}

private:
    typename work_counter<Executor>::type counter_;
};

/// An executor, with work for as long as it lives.
template <class Executor>
class working_executor {
public:
    explicit working_executor(const Executor& e) : work_(e), executor_(e) {}

    const Executor& get() const noexcept { return executor_; }

private:
    counted_work<Executor> work_;
    Executor executor_;
};

} // namespace cogwheel::detail
