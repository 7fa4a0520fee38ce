// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/locate.h"

#include "kairos/base/limits.h"
#include "kairos/giop/control.h"

#include <limits>

namespace kairos::giop {

std::string_view describe(LocateStatus status) noexcept
{
    switch (status) {
    case LocateStatus::unknown_object:
        return "UNKNOWN_OBJECT";
    case LocateStatus::object_here:
        return "OBJECT_HERE";
    case LocateStatus::object_forward:
        return "OBJECT_FORWARD";
    case LocateStatus::object_forward_perm:
        return "OBJECT_FORWARD_PERM";
    case LocateStatus::system_exception:
        return "LOC_SYSTEM_EXCEPTION";
    case LocateStatus::needs_addressing_mode:
        return "LOC_NEEDS_ADDRESSING_MODE";
    }
    return "unknown status";
}

cdr::Fault parse(const Message& message, LocateRequest& request) noexcept
{
    request.version = message.version;
    request.little_endian = message.little_endian;
    cdr::Reader reader = message.reader();
    request.request_id = reader.read<std::uint32_t>();
    if (message.version >= version_1_2) {
        read_target(reader, request.target);
    } else {
        request.target.disposition = AddressingDisposition::key;
        request.target.key = reader.read_octets();
        if (request.target.key.size() > limits::object_key_max)
            reader.fail(cdr::Fault::bound_exceeded);
    }
    return reader.fault();
}

cdr::Fault parse(const Message& message, LocateReply& reply) noexcept
{
    reply.version = message.version;
    reply.little_endian = message.little_endian;
    cdr::Reader reader = message.reader();
    reply.request_id = reader.read<std::uint32_t>();
    reply.status = static_cast<LocateStatus>(reader.read<std::uint32_t>());
    reply.body = reader;
    const LocateStatus last = message.version >= version_1_2 ? LocateStatus::needs_addressing_mode
                                                             : LocateStatus::object_forward;
    if (reply.status > last) reader.fail(cdr::Fault::invalid_value);
    return reader.fault();
}

MutableBytes prepend_locate_reply(const Body& body, Version version, std::uint32_t request_id,
                                  LocateStatus status) noexcept
{
    constexpr std::size_t size = locate_reply_header_size;
    const std::size_t message_size = size - header_size + body.size;
    if (size > body.headroom || message_size > std::numeric_limits<std::uint32_t>::max()) return {};
    if (version < version_1_2 && status == LocateStatus::object_forward_perm)
        status = LocateStatus::object_forward; // the nearest that the peer knows
    std::byte* const start = body.begin - size;
    const auto wire_status = static_cast<std::uint32_t>(status);
    write_header(start, version, MessageType::locate_reply,
                 static_cast<std::uint32_t>(message_size));
    std::memcpy(start + header_size, &request_id, 4);
    std::memcpy(start + header_size + 4, &wire_status, 4);
    return {start, size};
}

cdr::Fault parse(const Message& message, CancelRequest& cancel) noexcept
{
    cdr::Reader reader = message.reader();
    cancel.request_id = reader.read<std::uint32_t>();
    return reader.fault();
}

} // namespace kairos::giop
