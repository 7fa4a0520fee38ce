// SPDX-License-Identifier: Apache-2.0
//
// What a gateway knows of interfaces: the operations, the types of what they take and give, and
// what of that has to be looked at when it passes. Values; an Interface that others can see does
// not change any more.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::gateway {

/// What is in values of some types, as far as a message with them may or may not pass as it is.
struct Contents {
    /// References, Anys, TypeCodes and values of valuetypes: they are looked at wherever they are.
    bool has_more = false;
    bool has_characters = false; ///< chars and strings
    bool has_wide = false;       ///< wide ones

    /// Adds what values of this type may have in them.
    KAIROS_API void add(const CORBA::TypeCode& type);
};

/// One request: an operation, or one half of an attribute.
class KAIROS_API Operation {
  public:
    enum class Direction : std::uint8_t { in, out, inout };

    /// Makes an operation without parameters that gives a value of this type. Shares the TypeCode.
    explicit Operation(CORBA::TypeCode_ptr result);

    /// Adds a parameter, in the order of the IDL. Shares the TypeCode.
    void add(Direction direction, CORBA::TypeCode_ptr type);
    /// Adds an exception of the raises clause. Shares the TypeCode; throws BAD_TYPECODE unless it
    /// is an exception's.
    void add_exception(CORBA::TypeCode_ptr type);
    /// Says that requests have the properties of a context clause behind the arguments.
    void set_context();

    /// What requests consist of, and replies: the result first.
    [[nodiscard]] const std::vector<CORBA::TypeCode_var>& given() const noexcept { return given_; }
    [[nodiscard]] const std::vector<CORBA::TypeCode_var>& returned() const noexcept
    {
        return returned_;
    }
    [[nodiscard]] Contents contents_given() const noexcept { return in_; }
    [[nodiscard]] Contents contents_returned() const noexcept { return out_; }
    [[nodiscard]] bool has_context() const noexcept { return has_context_; }
    /// Returns the type of an exception of the raises clause, which stays the operation's; null for
    /// others.
    [[nodiscard]] const CORBA::TypeCode* exception(std::string_view repository_id) const noexcept;

  private:
    std::vector<CORBA::TypeCode_var> given_;
    std::vector<CORBA::TypeCode_var> returned_;
    std::vector<CORBA::TypeCode_var> exceptions_;
    Contents in_;
    Contents out_;
    bool has_context_ = false;
};

/// The operations of an interface and its bases, by their names on the wire: "_get_size".
struct KAIROS_API Interface {
    std::string id; ///< its repository id
    std::map<std::string, Operation, std::less<>> operations{};
};

/// Who knows interfaces: programs implement it. Any thread.
class KAIROS_API Interfaces {
  public:
    Interfaces() = default;
    Interfaces(const Interfaces&) = delete;
    Interfaces& operator=(const Interfaces&) = delete;
    virtual ~Interfaces() = default;

    /// Returns the interface of an object, the most derived one that is known; null if none is. May
    /// ask the object: the reference has the gateway's limit of time. Called once for each object,
    /// and again when the gateway has forgotten it or this threw: what it throws, the client gets.
    [[nodiscard]] virtual std::shared_ptr<const Interface>
    interface_of(CORBA::Object_ptr target) = 0;
    /// Returns a type by its repository id, owned by the caller; nil if it is not known. Asked for
    /// values of derived types and for exceptions that no raises clause names.
    [[nodiscard]] virtual CORBA::TypeCode_ptr type(std::string_view repository_id) = 0;
};

} // namespace kairos::gateway
