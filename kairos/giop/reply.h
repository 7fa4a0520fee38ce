// SPDX-License-Identifier: Apache-2.0
//
// Reply messages (CORBA 3.3 part 2, 9.4.3): a view of one received, and the header put in front of
// an encoded body. Stations 7 and 10 of the request walk (docs/TOUR.md). No state.
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/message.h"

namespace kairos::giop {

/// Values as on the wire. The last two exist in GIOP 1.2 only.
enum class ReplyStatus : std::uint32_t {
    no_exception,
    user_exception,        ///< body: repository id, then the members
    system_exception,      ///< body: SystemExceptionBody
    location_forward,      ///< body: an IOR
    location_forward_perm, ///< body: an IOR
    needs_addressing_mode, ///< body: a short, AddressingDisposition
};
[[nodiscard]] std::string_view describe(ReplyStatus status) noexcept;

struct Reply {
    Version version;
    bool little_endian = native_little_endian;
    std::uint32_t request_id = 0;
    ReplyStatus status = ReplyStatus::no_exception;
    ServiceContexts contexts;
    cdr::Reader body;
};

/// Reads a message of type reply. Allocates nothing; `reply` borrows the message.
[[nodiscard]] KAIROS_API cdr::Fault parse(const Message& message, Reply& reply) noexcept;

/// Bytes that `prepend_reply` may need in front of a body: an upper bound, a multiple of eight.
[[nodiscard]] constexpr std::size_t reply_headroom(std::size_t contexts_size = 0) noexcept
{
    return align_up(24 + contexts_size + 24, 8);
}

/// Writes the header of a reply without service contexts so that it ends where `body` begins, and
/// returns it: the first bytes of the message. Empty if the headroom does not suffice or the
/// message exceeds GIOP's 4 GiB. A function of its own, so that the compiler keeps it with its one
/// caller: the call path.
[[nodiscard]] MutableBytes prepend_reply(const Body& body, Version version,
                                         std::uint32_t request_id, ReplyStatus status) noexcept;
/// Writes the header of a reply with service contexts, an encoded list, so that it ends where
/// `body` begins, and returns it: the first bytes of the message. Empty if the headroom does not
/// suffice or the message exceeds GIOP's 4 GiB.
[[nodiscard]] MutableBytes prepend_reply(const Body& body, Version version,
                                         std::uint32_t request_id, ReplyStatus status,
                                         Bytes contexts) noexcept;
/// Writes the header of a reply that holds a system exception in place of serving the request, so
/// that it ends where `body`, the exception, begins, and returns it: the first bytes of the
/// message. Empty if the headroom does not suffice or the message exceeds GIOP's 4 GiB.
[[nodiscard]] MutableBytes prepend_refusal(const Body& body, Version version,
                                           std::uint32_t request_id) noexcept;

/// The body of a system exception, also in a LocateReply (9.4.3.2).
struct SystemExceptionBody {
    std::string_view repository_id; ///< borrowed
    std::uint32_t minor = 0;
    std::uint32_t completion = 0; ///< COMPLETED_YES, COMPLETED_NO, COMPLETED_MAYBE

    void write(cdr::Writer& writer) const;
    /// Failure is the reader's: also when `completion` is none of the three.
    [[nodiscard]] static SystemExceptionBody read(cdr::Reader& reader) noexcept;
};

} // namespace kairos::giop
