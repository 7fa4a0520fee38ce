// SPDX-License-Identifier: Apache-2.0
//
// Priority inversions as a server commits them: a request of the high client that was dispatched
// after one of a low client that arrived later, because it waited: its thread lost the processor,
// handed it to another thread, or served the low one itself. (What another processor does meanwhile
// is no inversion.) A request has arrived when the server has read its last byte, and is dispatched
// when its servant begins; so what still lies in the kernel has not arrived. arrivals.cpp has a
// recv() that stands before libc's and looks for the GIOP requests in what was read: their last
// octet is the number of the client (load.h). So nothing of this needs the ORB's help, and any ORB
// can be looked at. A request that it does not find, because it came in parts, is not stamped; that
// can hide an inversion, never invent one. Any thread.
#pragma once

#include "bench/load.h"

namespace kairos::bench {

/// From now on recv() looks for requests. Programs that know better call `arrived` themselves.
void watch_arrivals() noexcept;

void forget_arrivals() noexcept;
void arrived(std::uint8_t number) noexcept;
void dispatched(std::uint8_t number) noexcept;
/// A thread of the server has been given real-time priority.
void note_raised() noexcept;
[[nodiscard]] Findings arrivals_seen() noexcept;

/// The last octets of the whole GIOP requests in what was read from a connection.
template <typename Use>
void for_each_request(const unsigned char* data, std::size_t size, Use&& use)
{
    constexpr std::size_t header = 12;
    constexpr unsigned char request = 0;
    while (size > header && data[0] == 'G' && data[1] == 'I' && data[2] == 'O' && data[3] == 'P') {
        const bool little_endian = (data[6] & 1) != 0;
        std::size_t body = 0;
        for (int i = 0; i < 4; ++i)
            body = body << 8 | data[little_endian ? 11 - i : 8 + i];
        if (body == 0 || body > size - header) return;
        if (data[7] == request) use(data[header + body - 1]);
        data += header + body;
        size -= header + body;
    }
}

} // namespace kairos::bench
