// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/reply_memory.h"

namespace kairos::orb {

void ReplyMemory::take(const giop::Message& message, giop::Connection& connection)
{
    // Beyond this a new receive buffer for the connection costs less than the copy.
    constexpr std::size_t copied_max = std::size_t{16} << 10;
    taken_ = message;
    if (message.bytes.size() > copied_max || !message.part_begins.empty()) {
        kept_ = connection.keep_messages();
        return;
    }
    memory_->reply.reserve(message.bytes.size(), 0);
    std::memcpy(memory_->reply.data(), message.bytes.data(), message.bytes.size());
    taken_.bytes = {memory_->reply.data(), message.bytes.size()};
}

} // namespace kairos::orb
