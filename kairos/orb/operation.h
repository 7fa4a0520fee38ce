// SPDX-License-Identifier: Apache-2.0
//
// What generated code says about an operation: constant data that stub and skeleton share.
#pragma once

#include "kairos/cdr/reader.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace kairos::orb {

enum class Response : std::uint8_t {
    none,     ///< oneway: the caller does not wait
    required, ///< twoway
};

/// One user exception of a raises clause.
struct ExceptionType {
    std::string_view repository_id;
    /// Decodes the exception, from its repository id on, which is this one, and throws it; throws
    /// CORBA::MARSHAL when it is malformed.
    void (*raise)(const ExceptionType& type, cdr::Reader& body);
};

struct Operation {
    std::string_view name; ///< as on the wire: attributes are _get_x and _set_x
    Response response = Response::required;
    std::span<const ExceptionType> exceptions = {};
};

} // namespace kairos::orb
