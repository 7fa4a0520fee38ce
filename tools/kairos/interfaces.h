// SPDX-License-Identifier: Apache-2.0
//
// Interfaces as `kairos call` and `kairos describe` know them, wherever that is from: IDL files, or
// the Interface Repository that an object names. Operations with the types of what they take and
// give, so that they can be called without stubs, and shown.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/ir/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::tools {

struct KnownParameter {
    enum class Direction : std::uint8_t { in, out, inout };
    Direction direction = Direction::in;
    std::string name;
    CORBA::TypeCode_var type;

    [[nodiscard]] bool is_given() const noexcept { return direction != Direction::out; }
};

/// One request: an operation, or one half of an attribute.
struct KnownOperation {
    std::string wire_name;   ///< "add", "_get_size", "_set_size"
    std::string name;        ///< "add", "size"
    std::string declared_in; ///< the interface's IDL name
    CORBA::TypeCode_var result;
    std::vector<KnownParameter> parameters;
    std::vector<CORBA::TypeCode_var> raises;
    std::vector<std::string> contexts;
    bool is_oneway = false;
    bool is_attribute = false;
    bool is_readonly = false; ///< of "_get_size": there is no "_set_size"
};

struct KnownInterface {
    std::string id;                           ///< its repository id
    std::string name;                         ///< its IDL name, "Demo::Echo"
    std::vector<std::string> bases{};         ///< IDL names of the direct ones
    std::vector<std::string> ancestors{};     ///< ids of all
    std::vector<KnownOperation> operations{}; ///< those of its bases first
    /// Returns the request that people mean by a name and so many arguments: an attribute's name
    /// without any reads it, with one writes it. Null for none.
    [[nodiscard]] const KnownOperation* find(std::string_view name, std::size_t arguments) const;
};

class Interfaces {
  public:
    /// Adds what an IDL file declares and includes. Returns false where it has errors; `said` then
    /// is, and else may be, what the compiler says.
    [[nodiscard]] bool add_idl(const std::string& path,
                               const std::vector<std::string>& include_directories,
                               std::string& said);
    /// Adds what the object's Interface Repository says of it, and returns that; null where the
    /// object names none. Throws CORBA's exceptions.
    const KnownInterface* add_interface_of(CORBA::Object_ptr object);
    /// Adds what an Interface Repository has under the id of an interface, and returns that; null
    /// for none. Throws CORBA's exceptions.
    const KnownInterface* add_interface(CORBA::Repository_ptr repository, const std::string& id);

    /// Finds by repository id or IDL name, with or without "::" in front. Null for none.
    [[nodiscard]] const KnownInterface* find(const std::string& id_or_name) const;
    /// Returns the most derived of the known interfaces that the object has, as its reference says,
    /// or else the object, which is asked. Null for none. Throws CORBA's exceptions.
    [[nodiscard]] const KnownInterface* find_of(CORBA::Object_ptr object) const;
    /// Returns a type that an IDL file declares, by repository id or IDL name, owned by the caller;
    /// nil for none.
    [[nodiscard]] CORBA::TypeCode_var type(const std::string& id_or_name) const;

    /// Returns whether something other than a module has this IDL name.
    [[nodiscard]] bool declares(const std::string& name) const;

    [[nodiscard]] const std::map<std::string, KnownInterface>& all() const noexcept
    {
        return interfaces_; // by id
    }

  private:
    const KnownInterface* add_definition(CORBA::InterfaceDef_ptr definition);

    std::map<std::string, KnownInterface> interfaces_;
    std::map<std::string, CORBA::TypeCode_var> types_; // by id, and by name
};

} // namespace kairos::tools
