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
    /// Decodes the members and throws the exception; throws CORBA::MARSHAL when they are malformed.
    void (*raise)(cdr::Reader& members);
};

struct Operation {
    std::string_view name; ///< as on the wire: attributes are _get_x and _set_x
    Response response = Response::required;
    std::span<const ExceptionType> exceptions = {};
};

} // namespace kairos::orb
