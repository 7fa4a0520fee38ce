// SPDX-License-Identifier: Apache-2.0
//
// LocateRequest and LocateReply (CORBA 3.3 part 2, 9.4.5 and 9.4.6). LocateRequests are built by
// RequestTemplate::locate. No state.
//
// The body of a LocateReply follows its header at once, at offset 20, in every version: 1.2 aligns
// only Request and Reply bodies to eight. What it can hold (an IOR, a system exception, a short)
// needs no more than four, so it is encoded like any other body.
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/reply.h"
#include "kairos/giop/request.h"

namespace kairos::giop {

struct LocateRequest {
    Version version;
    bool little_endian = native_little_endian;
    std::uint32_t request_id = 0;
    TargetAddress target;
};
[[nodiscard]] KAIROS_API cdr::Fault parse(const Message& message, LocateRequest& request) noexcept;

/// Values as on the wire. The last three exist in GIOP 1.2 only.
enum class LocateStatus : std::uint32_t {
    unknown_object,
    object_here,
    object_forward,        ///< body: an IOR
    object_forward_perm,   ///< body: an IOR
    system_exception,      ///< body: SystemExceptionBody
    needs_addressing_mode, ///< body: a short, AddressingDisposition
};
[[nodiscard]] std::string_view describe(LocateStatus status) noexcept;

struct LocateReply {
    Version version;
    bool little_endian = native_little_endian;
    std::uint32_t request_id = 0;
    LocateStatus status = LocateStatus::unknown_object;
    cdr::Reader body;
};
[[nodiscard]] KAIROS_API cdr::Fault parse(const Message& message, LocateReply& reply) noexcept;

inline constexpr std::size_t locate_reply_header_size = header_size + 8;
/// Headroom to reserve for the header of a LocateReply: a multiple of eight.
inline constexpr std::size_t locate_reply_headroom = 24;

/// Writes the header of a LocateReply, 20 bytes, so that it ends where `body` begins, and returns
/// it as prepend_reply does.
[[nodiscard]] MutableBytes prepend_locate_reply(const Body& body, Version version,
                                                std::uint32_t request_id,
                                                LocateStatus status) noexcept;

} // namespace kairos::giop
