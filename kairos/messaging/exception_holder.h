// SPDX-License-Identifier: Apache-2.0
//
// How a call has failed, as the value that a reply handler is given (CORBA 3.3 part 1, 17.7.2). A
// handler in another process gets it as octets, which name the exception by its repository id.
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/operation.h"

#include "kairos/messaging/MessagingAMI.h"

#include <exception>

namespace kairos::messaging {

/// Returns a holder, owned by the caller, that raises this exception: it and, where it is none of
/// CORBA's, UNKNOWN.
[[nodiscard]] KAIROS_API Messaging::ExceptionHolder*
make_exception_holder(const std::exception_ptr& exception);

/// Makes a user exception known to the process, so that holders which were received can raise it.
/// Generated code has one of each, for the life of its library.
class KAIROS_API KnownException {
  public:
    explicit KnownException(const orb::ExceptionType& type) noexcept;
    ~KnownException();
    KnownException(const KnownException&) = delete;
    KnownException& operator=(const KnownException&) = delete;

  private:
    friend const orb::ExceptionType* known_exception(std::string_view id) noexcept;

    const orb::ExceptionType type_;
    KnownException* next_ = nullptr;
};

/// Returns the user exception of this repository id; null if nobody has made it known.
[[nodiscard]] const orb::ExceptionType* known_exception(std::string_view id) noexcept;

} // namespace kairos::messaging
