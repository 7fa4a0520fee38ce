// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/polled_channel.h"

#include <poll.h>

namespace kairos::net {

IoResult PolledChannel::read(MutableBytes buffer, ReadFlags flags) noexcept
{
    const bool waits = (static_cast<int>(flags) & MSG_DONTWAIT) == 0;
    if (waits && !limited_ && has_written_) {
        pollfd entry{.fd = plain_.descriptor(), .events = POLLIN, .revents = 0};
        while (::poll(&entry, 1, -1) < 0 && errno == EINTR) {
        }
        has_written_ = false;
    }
    return plain_.read(buffer, flags);
}

} // namespace kairos::net
