// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/channel.h"

#include "kairos/base/coarse_clock.h"
#include "kairos/base/log.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kairos::datagrams {

namespace {

struct Refused {
    Refusal::Why why = Refusal::Why::none;
    std::size_t octets = 0;
    std::chrono::nanoseconds since{}; // by coarse_now()
};

/// Who was refused asks for another connection at once. What is older is of a call that ended
/// before it did so, as by its deadline.
constexpr std::chrono::seconds refused_lately{1};

// The calling thread's.
constinit thread_local Refused refused;

net::IoResult failed(int error)
{
    return {.error = error, .status = net::IoResult::Status::failed};
}

} // namespace

void Refusal::set(Why why, std::size_t octets) noexcept
{
    refused = {why, octets, why == Why::none ? std::chrono::nanoseconds() : coarse_now()};
}

void Refusal::raise_if_any(const std::string& where)
{
    const auto [why, octets, since] = std::exchange(refused, {});
    if (why != Why::none && coarse_now() - since > refused_lately) return;
    switch (why) {
    case Why::none:
        return;
    case Why::expects_answer:
        orb::raise<CORBA::NO_IMPLEMENT>(
            orb::minor_code::no_answer_by_datagram, CORBA::COMPLETED_NO,
            "a call that expects an answer: " + where +
                " takes oneways only; call by a reference that has another way, such as iiop://");
    case Why::too_large:
        orb::raise<CORBA::IMP_LIMIT>(orb::minor_code::message_too_large, CORBA::COMPLETED_NO,
                                     "a message of " + std::to_string(octets) +
                                         " octets is more than goes to " + where +
                                         " at once; call by a reference that has another way, "
                                         "such as iiop://");
    case Why::other_version:
        orb::raise<CORBA::NO_IMPLEMENT>(orb::minor_code::no_answer_by_datagram, CORBA::COMPLETED_NO,
                                        where + " is called by GIOP 1.2 only (-ORBGIOPVersion)");
    case Why::is_cut:
        orb::raise<CORBA::IMP_LIMIT>(orb::minor_code::message_too_large, CORBA::COMPLETED_NO,
                                     "a message longer than -ORBFragmentSize: to " + where +
                                         " nothing is sent in fragments");
    }
}

/// Nobody answers: what comes is no message, or what the system heard of the last one.
net::IoResult Channel::take(MutableBytes, bool) noexcept
{
    std::array<std::byte, 64> octets;
    constexpr int at_once_max = 16;
    for (int i = 0; i < at_once_max; ++i)
        if (receive(MutableBytes(octets)).status == net::IoResult::Status::would_block) break;
    return {.status = net::IoResult::Status::would_block};
}

net::IoResult Channel::put(std::span<const iovec> segments) noexcept
{
    std::array<std::byte, 24> beginning;
    std::size_t copied = 0;
    std::size_t size = 0;
    for (const iovec& each : segments) {
        const std::size_t part = std::min(beginning.size() - copied, each.iov_len);
        if (part != 0) std::memcpy(beginning.data() + copied, each.iov_base, part);
        copied += part;
        size += each.iov_len;
    }
    using Why = Refusal::Why;
    Why why = Why::none;
    switch (look_at(Bytes(beginning).first(copied))) {
    case Sendable::yes:
        if (size > datagram_octets_max || segments.size() > net::Socket::segments_max)
            why = Why::too_large;
        break;
    case Sendable::passed_over:
        return {.bytes = size};
    case Sendable::expects_answer:
        why = Why::expects_answer;
        break;
    case Sendable::other_version:
        why = Why::other_version;
        break;
    case Sendable::is_cut:
        why = Why::is_cut;
        break;
    }
    Refusal::set(why, size);
    if (why != Why::none) {
        // Where another thread sends for the caller (-ORBConnection active), only the log says it.
        log::write_limited(log::Level::warning, 0,
                           log::Line()
                               << "a message of " << size << " octets was not sent in a datagram: "
                               << (why == Why::expects_answer ? "it expects an answer"
                                   : why == Why::too_large    ? "it is too large"
                                   : why == Why::is_cut       ? "it is longer than -ORBFragmentSize"
                                                              : "it is not of GIOP 1.2"));
        return failed(EMSGSIZE);
    }
    net::IoResult sent = send(segments);
    // What the system heard of an earlier one, as that nobody listens there, is told once.
    if (!sent.ok() && sent.status != net::IoResult::Status::would_block && sent.error != EMSGSIZE)
        sent = send(segments);
    if (sent.error == EMSGSIZE) Refusal::set(Why::too_large, size);
    return sent;
}

} // namespace kairos::datagrams
