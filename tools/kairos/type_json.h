// SPDX-License-Identifier: Apache-2.0
//
// Types as JSON, both ways without loss (docs/values-json.md): what stands beside a value whose
// type nobody else tells, such as one in an Any.
#pragma once

#include "kairos/corba/CORBA.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kairos::tools {

/// Members stay in the order of the IDL.
using Json = nlohmann::ordered_json;

/// Finds a type by its IDL name or its repository id; returns one owned by the caller, nil where
/// there is none.
using FindType = std::function<CORBA::TypeCode_ptr(const std::string&)>;

/// How many octets JSON that is made of what others have sent may have, all of it together: what
/// they send in few octets, such as the names of a type's members, may be in it many times. Used by
/// one thread; a copy is what is left at that moment.
class JsonBudget {
  public:
    /// What a value takes beside its text and its name: its place in memory, or its digits.
    static constexpr std::size_t value_octets = 32;

    /// Has no end.
    JsonBudget() = default;
    explicit JsonBudget(std::size_t octets_max) : octets_max_(octets_max), left_(octets_max) {}

    /// Takes so many octets. Throws std::runtime_error, with a message for people, where they are
    /// not left; then nothing is.
    void take(std::size_t octets);
    /// Takes what a value takes that is no text, or the place of one that is.
    void take_value() { take(value_octets); }
    /// Takes what the text takes in JSON, with what must be escaped in it.
    void take_text(std::string_view text);

    [[nodiscard]] bool is_empty() const noexcept { return left_ == 0; }

  private:
    std::size_t octets_max_ = std::numeric_limits<std::size_t>::max();
    std::size_t left_ = octets_max_;
};

/// Returns the type's name where IDL has a word for it ("unsigned long", "string<8>"), else
/// nothing.
[[nodiscard]] std::string idl_word(const CORBA::TypeCode& type);

/// Returns the type as JSON: a string where IDL has a word for it, else an object.
[[nodiscard]] Json json_of(const CORBA::TypeCode& type);
/// The same, as long as the budget lasts; then it throws what that throws.
[[nodiscard]] Json json_of(const CORBA::TypeCode& type, JsonBudget& budget);

/// Returns the type that the JSON describes. Names that IDL has no word for are asked of `find`.
/// Throws std::runtime_error, with a message for people, where it describes none.
[[nodiscard]] CORBA::TypeCode_var type_of(const Json& json, const FindType& find);

/// Returns the label of a union's member as a value of the discriminator: a number, a boolean, a
/// character or the name of an enumerator.
[[nodiscard]] Json label_json(const CORBA::TypeCode& discriminator, std::int64_t label);

/// Returns the label's number: what label_json has made. Throws std::runtime_error where the
/// discriminator has no such value.
[[nodiscard]] std::int64_t label_of(const CORBA::TypeCode& discriminator, const Json& label);

/// How deep JSON may be nested: as deep as values from the wire may.
inline constexpr std::size_t json_depth_max = 128;

/// Parses a text. Throws std::runtime_error where it is no JSON, or is nested too deep.
[[nodiscard]] Json parse_json(const std::string& text);

} // namespace kairos::tools
