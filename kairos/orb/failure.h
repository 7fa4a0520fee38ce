// SPDX-License-Identifier: Apache-2.0
//
// How the request path ends when it does not end well: one cold place that makes CORBA's system
// exceptions, with the minor codes that the OMG or Kairos assigns.
#pragma once

#include "kairos/mapping/exception.h"

#include <string>

namespace kairos::orb {

/// Minor codes of our own, where the OMG has none. The upper 20 bits are "KRO"'s, not registered.
namespace minor_code {
inline constexpr CORBA::ULong base = 0x4b520000;
inline constexpr CORBA::ULong connect_failed = base | 1;      ///< TRANSIENT
inline constexpr CORBA::ULong connection_closed = base | 2;   ///< TRANSIENT, COMM_FAILURE
inline constexpr CORBA::ULong message_error = base | 3;       ///< COMM_FAILURE: the peer said so
inline constexpr CORBA::ULong malformed_reply = base | 4;     ///< COMM_FAILURE, MARSHAL
inline constexpr CORBA::ULong malformed_request = base | 5;   ///< MARSHAL
inline constexpr CORBA::ULong forward_loop = base | 6;        ///< TRANSIENT
inline constexpr CORBA::ULong message_too_large = base | 7;   ///< IMP_LIMIT
inline constexpr CORBA::ULong foreign_exception = base | 9;   ///< UNKNOWN: not a CORBA exception
inline constexpr CORBA::ULong no_reply = base | 10;           ///< INTERNAL: skeleton sent nothing
inline constexpr CORBA::ULong bad_option = base | 11;         ///< BAD_PARAM, INITIALIZE
inline constexpr CORBA::ULong trailing_bytes = base | 12;     ///< MARSHAL
inline constexpr CORBA::ULong other_code_set = base | 13;     ///< TRANSIENT: another call will do
inline constexpr CORBA::ULong no_domains = base | 14;         ///< NO_IMPLEMENT
inline constexpr CORBA::ULong not_sent_in_time = base | 15;   ///< TIMEOUT: nothing was executed
inline constexpr CORBA::ULong no_reply_in_time = base | 16;   ///< TIMEOUT
inline constexpr CORBA::ULong late_call = base | 17;          ///< TIMEOUT: -ORBLateCalls timeout
inline constexpr CORBA::ULong forward_refused = base | 18;    ///< REBIND: the object is elsewhere
inline constexpr CORBA::ULong connect_refused = base | 19;    ///< REBIND: there is no connection
inline constexpr CORBA::ULong no_room_for_oneway = base | 20; ///< TRANSIENT: -ORBOnewayQueue
inline constexpr CORBA::ULong arguments_not_read = base | 21; ///< BAD_INV_ORDER: DSI, `arguments`
inline constexpr CORBA::ULong request_is_over = base | 22;    ///< BAD_INV_ORDER: a ServerRequest
inline constexpr CORBA::ULong too_many_calls = base | 24;     ///< TRANSIENT: -ORBAsynchronousCalls
inline constexpr CORBA::ULong answer_lost = base | 25;        ///< NO_RESPONSE: nobody can give it
inline constexpr CORBA::ULong not_trusted = base | 26;        ///< NO_PERMISSION: who the peer is
inline constexpr CORBA::ULong not_protected = base | 27;      ///< NO_PERMISSION: -ORBTlsClient
inline constexpr CORBA::ULong access_denied = base | 28;      ///< NO_PERMISSION: -ORBAccess
inline constexpr CORBA::ULong no_answer_by_datagram = base | 34; ///< NO_IMPLEMENT: oneways only

/// Minor codes that the OMG assigns (CORBA 3.3 part 2, annex A).
inline constexpr CORBA::ULong no_usable_profile = mapping::omg_minor(2);       ///< TRANSIENT
inline constexpr CORBA::ULong request_discarded = mapping::omg_minor(1);       ///< TRANSIENT
inline constexpr CORBA::ULong unlisted_user_exception = mapping::omg_minor(1); ///< UNKNOWN
inline constexpr CORBA::ULong unknown_operation = mapping::omg_minor(2);       ///< BAD_OPERATION
inline constexpr CORBA::ULong no_such_object = mapping::omg_minor(1);          ///< as omniORB says
inline constexpr CORBA::ULong unknown_adapter = mapping::omg_minor(2);         ///< OBJECT_NOT_EXIST
inline constexpr CORBA::ULong would_deadlock = mapping::omg_minor(3);          ///< BAD_INV_ORDER
inline constexpr CORBA::ULong orb_shut_down = mapping::omg_minor(4);           ///< BAD_INV_ORDER
} // namespace minor_code

template <typename Exception>
[[noreturn, gnu::cold, gnu::noinline]] void
raise(CORBA::ULong minor, CORBA::CompletionStatus completed, std::string_view reason = {})
{
    throw Exception(minor, completed, reason);
}

} // namespace kairos::orb
