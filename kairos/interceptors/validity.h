// SPDX-License-Identifier: Apache-2.0
//
// What may be asked of a request at which point: tables 16-1 and 16-2 of CORBA 3.3 part 1, as data.
// Immutable; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kairos::interceptors {

/// The columns of both tables.
enum class Point : std::uint8_t {
    send_request,
    send_poll,
    receive_reply,
    receive_exception,
    receive_other,
    receive_request_service_contexts,
    receive_request,
    send_reply,
    send_exception,
    send_other,
    none, ///< outside of all points: nothing may be asked
};

/// The rows of both tables: what both have, then what the client's has, then the server's.
enum class Item : std::uint8_t {
    request_id,
    operation,
    arguments,
    exceptions,
    contexts,
    operation_context,
    result,
    response_expected,
    sync_scope,
    reply_status,
    forward_reference, ///< and only if the status is LOCATION_FORWARD
    get_slot,
    get_request_service_context,
    get_reply_service_context,
    target,
    effective_target,
    effective_profile,
    received_exception,
    received_exception_id,
    get_effective_component,
    get_effective_components,
    get_request_policy,
    add_request_service_context,
    sending_exception,
    server_id,
    orb_id,
    adapter_name,
    object_id,
    adapter_id,
    target_most_derived_interface,
    get_server_policy,
    set_slot,
    target_is_a,
    add_reply_service_context,
};

namespace detail {

/// One bit for each point at which the row's item may be asked for.
constexpr std::uint16_t row(std::string_view client, std::string_view server)
{
    std::uint16_t bits = 0;
    for (std::size_t i = 0; i < client.size(); ++i)
        if (client[i] == 'y') bits |= static_cast<std::uint16_t>(1U << i);
    for (std::size_t i = 0; i < server.size(); ++i)
        if (server[i] == 'y') bits |= static_cast<std::uint16_t>(1U << (i + 5));
    return bits;
}

// In the order of Item. A point a letter, in the order of Point: y for yes.
inline constexpr std::array validity{
    row("yyyyy", "yyyyy"), // request_id
    row("yyyyy", "yyyyy"), // operation
    row("y-y--", "-yy--"), // arguments
    row("y-yyy", "-yyyy"), // exceptions
    row("y-yyy", "-yyyy"), // contexts
    row("y-yyy", "-yy--"), // operation_context
    row("--y--", "--y--"), // result
    row("yyyyy", "yyyyy"), // response_expected
    row("y-yyy", "yyyyy"), // sync_scope
    row("--yyy", "--yyy"), // reply_status
    row("----y", "----y"), // forward_reference
    row("yyyyy", "yyyyy"), // get_slot
    row("y-yyy", "yyyyy"), // get_request_service_context
    row("--yyy", "--yyy"), // get_reply_service_context
    row("yyyyy", "-----"), // target
    row("yyyyy", "-----"), // effective_target
    row("yyyyy", "-----"), // effective_profile
    row("---y-", "-----"), // received_exception
    row("---y-", "-----"), // received_exception_id
    row("y-yyy", "-----"), // get_effective_component
    row("y-yyy", "-----"), // get_effective_components
    row("y-yyy", "-----"), // get_request_policy
    row("y----", "-----"), // add_request_service_context
    row("-----", "---y-"), // sending_exception
    row("-----", "-yyyy"), // server_id
    row("-----", "-yyyy"), // orb_id
    row("-----", "-yyyy"), // adapter_name
    row("-----", "-yyyy"), // object_id
    row("-----", "-yyyy"), // adapter_id
    row("-----", "-y---"), // target_most_derived_interface
    row("-----", "yyyyy"), // get_server_policy
    row("-----", "yyyyy"), // set_slot
    row("-----", "-y---"), // target_is_a
    row("-----", "yyyyy"), // add_reply_service_context
};
static_assert(validity.size() == static_cast<std::size_t>(Item::add_reply_service_context) + 1);

} // namespace detail

/// Returns whether the item may be asked for at this point.
[[nodiscard]] constexpr bool is_valid(Item item, Point point) noexcept
{
    return (detail::validity[static_cast<std::size_t>(item)] >> static_cast<unsigned>(point) &
            1U) != 0;
}

} // namespace kairos::interceptors
