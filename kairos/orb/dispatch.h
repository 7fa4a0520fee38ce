// SPDX-License-Identifier: Apache-2.0
//
// From a parsed request to the servant and back: the one place where what a servant throws becomes
// a reply. Station 8 of the request walk (docs/TOUR.md).
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/locate.h"
#include "kairos/giop/request.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"

#include <exception>

namespace kairos::orb {

class Adapter;

enum class Served : std::uint8_t {
    yes,
    held,      ///< the adapter holds requests: offer it again later
    malformed, ///< answered, but the arguments could not be understood
    elsewhere, ///< not here: the connection is left to another server
};

/// Serves one request. Every exception is answered; only std::bad_alloc comes out, when there is no
/// memory even for an answer. `text` says how text travels; may be null.
[[nodiscard]] KAIROS_API Served dispatch(Orb& orb, const giop::Request& request,
                                         const cdr::TextForm* text, ReplyChannel& channel,
                                         UpcallMemory& memory);

/// Has observers hear of a request, then `adapter` serve it, as Adapter::dispatch does; but for
/// std::bad_alloc, what is thrown is answered.
[[nodiscard]] bool dispatch_observed(Adapter& adapter, Upcall& upcall,
                                     UpcallObservation& observation);
/// Answers a request with this exception, of any kind.
void answer(Upcall& upcall, const std::exception_ptr& exception);

/// Writes to the log that a servant threw what CORBA does not know.
void log_foreign_exception(std::string_view operation, const char* what) noexcept;

/// Returns where an object is, and writes to `body` what belongs into the answer to a
/// LocateRequest.
[[nodiscard]] giop::LocateStatus location_of(Orb& orb, Bytes object_key, giop::Version version,
                                             cdr::Writer& body);
/// Answers a LocateRequest.
void answer_locate(Orb& orb, const giop::LocateRequest& request, ReplyChannel& channel,
                   UpcallMemory& memory);

} // namespace kairos::orb
