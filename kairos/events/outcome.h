// SPDX-License-Identifier: Apache-2.0
//
// What a service makes of the end of a call of one of its clients. Values.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"

#include <exception>
#include <string>

namespace kairos::events {

enum class Outcome : std::uint8_t {
    done,
    not_received, ///< nobody had it: it may be sent again
    unanswered,   ///< nobody knows whether somebody had it
    refused,      ///< the client has raised something
    gone,         ///< there is no such client, or it does not want any more
    put_off,      ///< this process makes too many calls, or has no memory
    elsewhere,    ///< not sent: it takes a connection to be made, or a forward
    over,         ///< the ORB was shut down
};

/// What a call of `client` ended with; null for results.
[[nodiscard]] KAIROS_API Outcome outcome_of(const std::exception_ptr& failure,
                                            CORBA::Object_ptr client) noexcept;
/// Why no call could be made of it. Only this process says so, while the above may be a peer's
/// word.
[[nodiscard]] KAIROS_API Outcome outcome_of_making(const std::exception_ptr& failure,
                                                   CORBA::Object_ptr client) noexcept;
/// Whether a peer was connected to when the call failed, which others may take.
[[nodiscard]] bool was_reached(const std::exception_ptr& failure) noexcept;
/// The failure as people read it. One that is not null.
[[nodiscard]] std::string text_of(const std::exception_ptr& failure);
/// Where a reference leads, for the log.
[[nodiscard]] std::string address_of(CORBA::Object_ptr object);
/// Whether the object is in this process: calls of it are made at once, however long they take.
[[nodiscard]] KAIROS_API bool is_here(CORBA::Object_ptr object) noexcept;

} // namespace kairos::events
