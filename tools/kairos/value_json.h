// SPDX-License-Identifier: Apache-2.0
//
// Values of IDL types as JSON, both ways without loss (docs/values-json.md). Values are taken apart
// and put together by DynAny: no type need be compiled.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/dynany/dynamic_any.h"
#include "tools/kairos/type_json.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace kairos::tools {

/// What a ValueJson does for others than the user who has started the program.
struct ValueJsonOptions {
    /// Borrowed: what all values together may have as JSON. Null: as much as they have.
    JsonBudget* budget = nullptr;
    /// Returns the object that a text refers to, owned by the caller, or nil. Throws
    /// std::runtime_error or CORBA::Exception. None: the ORB's string_to_object.
    std::function<CORBA::Object_ptr(const std::string&)> find_object{};
};

/// Used by one thread at a time.
class ValueJson {
  public:
    /// Borrows the ORB. `find` knows the types that values of type any may name.
    ValueJson(CORBA::ORB_ptr orb, FindType find, ValueJsonOptions options = {});

    /// Returns the value, without its type, as JSON. Throws std::runtime_error for what JSON has
    /// no form for: an object that is in this process only, a value within itself, one that is
    /// larger than the budget.
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
    ValueJsonOptions options_;
};

/// Inserts what a text means of whose type no more needs to be said: true or false, a number, text
/// in quotes, or else the text itself.
void insert_plain(CORBA::Any& any, const std::string& text);

} // namespace kairos::tools
