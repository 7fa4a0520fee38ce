// SPDX-License-Identifier: Apache-2.0
//
// Values of IDL types as JSON, both ways without loss (docs/values-json.md). Values are taken apart
// and put together by DynAny: no type need be compiled.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/dynany/dynamic_any.h"
#include "tools/kairos/type_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace kairos::tools {

/// Used by one thread at a time.
class ValueJson {
  public:
    /// Borrows the ORB. `find` knows the types that values of type any may name.
    ValueJson(CORBA::ORB_ptr orb, FindType find);

    /// Returns the value, without its type, as JSON. Throws std::runtime_error for what JSON has
    /// no form for: an object that is in this process only, a value within itself.
    [[nodiscard]] Json json_of(const CORBA::Any& value) const;
    /// Returns an Any with a value of this type. Throws std::runtime_error where the JSON is no
    /// such value; the message says where in it, and what was expected.
    [[nodiscard]] CORBA::Any_var value_of(const Json& json, CORBA::TypeCode_ptr type) const;

  private:
    struct Writer;
    struct Reader;

    CORBA::ORB_ptr orb_;
    DynamicAny::DynAnyFactory_var factory_;
    FindType find_;
};

} // namespace kairos::tools
