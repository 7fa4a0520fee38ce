// SPDX-License-Identifier: Apache-2.0
//
// The messages without a body: CancelRequest, CloseConnection, MessageError (CORBA 3.3 part 2,
// 9.4.4, 9.4.7, 9.4.8). Complete when returned, in this machine's byte order. No state.
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/message.h"

#include <array>

namespace kairos::giop {

[[nodiscard]] inline std::array<std::byte, header_size + 4>
cancel_request(Version version, std::uint32_t request_id) noexcept
{
    std::array<std::byte, header_size + 4> message;
    write_header(message.data(), version, MessageType::cancel_request, 4);
    std::memcpy(message.data() + header_size, &request_id, sizeof request_id);
    return message;
}

[[nodiscard]] inline std::array<std::byte, header_size> close_connection(Version version) noexcept
{
    std::array<std::byte, header_size> message;
    write_header(message.data(), version, MessageType::close_connection, 0);
    return message;
}

[[nodiscard]] inline std::array<std::byte, header_size> message_error(Version version) noexcept
{
    std::array<std::byte, header_size> message;
    write_header(message.data(), version, MessageType::message_error, 0);
    return message;
}

struct CancelRequest {
    std::uint32_t request_id = 0;
};
[[nodiscard]] KAIROS_API cdr::Fault parse(const Message& message, CancelRequest& cancel) noexcept;

} // namespace kairos::giop
