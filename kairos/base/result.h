// SPDX-License-Identifier: Apache-2.0
//
// How the core reports what may fail: a value or an Error. Cold paths only; the request path uses
// small enums and sticky failure (cdr/reader.h). The façade turns errors into CORBA exceptions.
#pragma once

#include "kairos/base/check.h"
#include "kairos/base/export.h"

#include <string>
#include <utility>
#include <variant>

namespace kairos {

enum class ErrorCode {
    invalid_argument, ///< an option, address or text that does not parse; → BAD_PARAM
    malformed,        ///< bytes that break the protocol or CDR; → MARSHAL or MessageError
    limit_exceeded,   ///< a limit of base/limits.h or an option; → IMP_LIMIT
    closed,           ///< the peer is gone; → COMM_FAILURE or TRANSIENT
    unreachable,      ///< no connection could be made; → TRANSIENT
    system,           ///< the operating system refused; `system_errno` says why
    not_found,        ///< a name, key or file that is not there
};

struct KAIROS_API Error {
    ErrorCode code = ErrorCode::system;
    std::string reason;   ///< for people: lower case, no full stop, names the option or address
    int system_errno = 0; ///< errno where `code` came from a system call, else 0
};

/// A value of type T or an Error. Reading the wrong one is a programmer's error.
template <typename T>
class [[nodiscard]] KAIROS_API_TYPE Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() &
    {
        KAIROS_CHECK(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const T& value() const&
    {
        KAIROS_CHECK(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() &&
    {
        KAIROS_CHECK(ok());
        return std::move(*std::get_if<0>(&state_));
    }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }

    [[nodiscard]] const Error& error() const
    {
        KAIROS_CHECK(!ok());
        return *std::get_if<1>(&state_);
    }

  private:
    std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] KAIROS_API_TYPE Result<void> {
  public:
    Result() = default;
    Result(Error error) : failed_(true), error_(std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return !failed_; }
    explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] const Error& error() const
    {
        KAIROS_CHECK(failed_);
        return error_;
    }

  private:
    bool failed_ = false;
    Error error_;
};

} // namespace kairos
