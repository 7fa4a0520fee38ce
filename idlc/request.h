// SPDX-License-Identifier: Apache-2.0
//
// What is sent over the wire for an operation or an attribute of the IDL: GIOP knows requests only.
#pragma once

#include "idlc/model.h"

#include <string>
#include <vector>

namespace kairos::idlc {

/// One request: an operation or one half of an attribute.
struct Request {
    const Declaration* declaration = nullptr; ///< Operation or Attribute
    std::string wire_name{};                  ///< "add", "_get_size", "_set_size"
    const Type* result = nullptr;
    std::vector<Parameter> parameters{};
    Declarations raises{};
    bool oneway = false;
    std::vector<std::string> context{}; ///< the names of its context clause

    [[nodiscard]] bool has_result() const noexcept { return result->kind != TypeKind::void_; }
    /// Of an operation of a valuetype there is none.
    [[nodiscard]] const Interface& interface() const { return *as<Interface>(declaration->parent); }
};

/// The requests of an operation or attribute; none of any other declaration.
[[nodiscard]] std::vector<Request> requests_of(const Declaration& declaration);

} // namespace kairos::idlc
