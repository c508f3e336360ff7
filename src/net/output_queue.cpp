// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/net/detail/output_queue.hpp>

#if COGWHEEL_LINUX
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::optional<std::size_t> output_queue([[maybe_unused]] std::intptr_t socket) noexcept {
#ifdef SIOCOUTQ
    int bytes = 0;
    if (::ioctl(static_cast<int>(socket), SIOCOUTQ, &bytes) == 0 && bytes >= 0) return static_cast<std::size_t>(bytes);
#endif
    return {};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
