// SPDX-License-Identifier: Apache-2.0
//
// By the calls that create definitions, as any client of a repository makes them. `kairos ifr load
// mib.idl` makes the same calls for a repository of its own.
#include "definitions.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace {

constexpr const char* version = "1.0";

std::string id_of(const std::string& name) { return "IDL:MIB/" + name + ":1.0"; }

class Definitions {
  public:
    explicit Definitions(CORBA::Repository_ptr repository)
        : repository_(repository), module_(repository->create_module("IDL:MIB:1.0", "MIB", version))
    {
    }

    CORBA::IDLType_var primitive(CORBA::PrimitiveKind kind)
    {
        return repository_->get_primitive(kind);
    }
    CORBA::IDLType_var sequence_of(CORBA::IDLType_ptr element)
    {
        return repository_->create_sequence(0, element);
    }
    CORBA::IDLType_var alias(const char* name, CORBA::IDLType_ptr of)
    {
        return module_->create_alias(id_of(name).c_str(), name, version, of);
    }
    CORBA::IDLType_var enumeration(const char* name, std::initializer_list<const char*> values)
    {
        CORBA::EnumMemberSeq members;
        for (const char* value : values) {
            members.length(members.length() + 1);
            members[members.length() - 1] = value;
        }
        return module_->create_enum(id_of(name).c_str(), name, version, members);
    }

    using Members = std::initializer_list<std::pair<const char*, CORBA::IDLType_ptr>>;
    CORBA::IDLType_var structure(const char* name, Members members)
    {
        return module_->create_struct(id_of(name).c_str(), name, version, members_of(members));
    }
    CORBA::ExceptionDef_var exception(const char* name, Members members)
    {
        return module_->create_exception(id_of(name).c_str(), name, version, members_of(members));
    }

    CORBA::InterfaceDef_var interface(const char* name)
    {
        return module_->create_interface(id_of(name).c_str(), name, version,
                                         CORBA::InterfaceDefSeq());
    }

  private:
    static CORBA::StructMemberSeq members_of(Members members)
    {
        CORBA::StructMemberSeq sequence;
        for (const auto& [name, type] : members) {
            sequence.length(sequence.length() + 1);
            CORBA::StructMember& member = sequence[sequence.length() - 1];
            member.name = name;
            member.type = CORBA::TypeCode::_duplicate(CORBA::_tc_void); // type_def counts
            member.type_def = CORBA::IDLType::_duplicate(type);
        }
        return sequence;
    }

    CORBA::Repository_ptr repository_;
    CORBA::ModuleDef_var module_;
};

void add_attributes(CORBA::InterfaceDef_ptr interface, const char* of, CORBA::IDLType_ptr type,
                    std::initializer_list<const char*> names,
                    CORBA::AttributeMode mode = CORBA::ATTR_READONLY)
{
    for (const char* name : names)
        CORBA::AttributeDef_var(interface->create_attribute(
            id_of(std::string(of) + "/" + name).c_str(), name, version, type, mode));
}

} // namespace

void define_mib(CORBA::Repository_ptr repository)
{
    Definitions mib(repository);
    CORBA::IDLType_var number = mib.primitive(CORBA::pk_long);
    CORBA::IDLType_var large = mib.primitive(CORBA::pk_ulonglong);
    CORBA::IDLType_var text = mib.primitive(CORBA::pk_string);
    CORBA::IDLType_var word = mib.primitive(CORBA::pk_ulong);
    CORBA::IDLType_var ticks = mib.alias("TimeTicks", word);
    CORBA::IDLType_var counter = mib.alias("Counter", large);

    CORBA::InterfaceDef_var system = mib.interface("System");
    add_attributes(system, "System", text, {"sysDescr", "sysObjectID"});
    add_attributes(system, "System", ticks, {"sysUpTime"});
    add_attributes(system, "System", text, {"sysContact"}, CORBA::ATTR_NORMAL);
    add_attributes(system, "System", text, {"sysName"});
    add_attributes(system, "System", text, {"sysLocation"}, CORBA::ATTR_NORMAL);
    add_attributes(system, "System", number, {"sysServices"});

    CORBA::IDLType_var status = mib.enumeration("Status", {"up", "down", "testing"});
    CORBA::IDLType_var entry = mib.structure("IfEntry", {{"ifIndex", number},
                                                         {"ifDescr", text},
                                                         {"ifType", number},
                                                         {"ifMtu", number},
                                                         {"ifSpeed", large},
                                                         {"ifPhysAddress", text},
                                                         {"ifAdminStatus", status},
                                                         {"ifOperStatus", status},
                                                         {"ifInOctets", counter},
                                                         {"ifOutOctets", counter}});
    CORBA::IDLType_var entries = mib.sequence_of(entry);
    CORBA::IDLType_var table = mib.alias("IfTable", entries);
    CORBA::ExceptionDef_var missing =
        mib.exception("NoSuchInterface", {{"ifIndex", number}, {"reason", text}});

    CORBA::InterfaceDef_var one = mib.interface("NetworkInterface");
    add_attributes(one, "NetworkInterface", number, {"ifIndex"});
    add_attributes(one, "NetworkInterface", text, {"ifDescr"});
    add_attributes(one, "NetworkInterface", number, {"ifType", "ifMtu"});
    add_attributes(one, "NetworkInterface", large, {"ifSpeed"});
    add_attributes(one, "NetworkInterface", text, {"ifPhysAddress"});
    add_attributes(one, "NetworkInterface", status, {"ifAdminStatus"}, CORBA::ATTR_NORMAL);
    add_attributes(one, "NetworkInterface", status, {"ifOperStatus"});
    add_attributes(one, "NetworkInterface", counter,
                   {"ifInOctets", "ifInPkts", "ifInDiscards", "ifInErrors", "ifOutOctets",
                    "ifOutPkts", "ifOutDiscards", "ifOutErrors"});

    CORBA::InterfaceDef_var all = mib.interface("Interfaces");
    add_attributes(all, "Interfaces", number, {"ifNumber"});
    CORBA::OperationDef_var list = all->create_operation(
        id_of("Interfaces/ifTable").c_str(), "ifTable", version, table, CORBA::OP_NORMAL,
        CORBA::ParDescriptionSeq(), CORBA::ExceptionDefSeq(), CORBA::ContextIdSeq());
    CORBA::ParDescriptionSeq parameters;
    parameters.length(1);
    parameters[0].name = "ifIndex";
    parameters[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void); // type_def counts
    parameters[0].type_def = CORBA::IDLType::_duplicate(number);
    parameters[0].mode = CORBA::PARAM_IN;
    CORBA::ExceptionDefSeq raises;
    raises.length(1);
    raises[0] = CORBA::ExceptionDef::_duplicate(missing);
    CORBA::OperationDef_var find =
        all->create_operation(id_of("Interfaces/find").c_str(), "find", version, one,
                              CORBA::OP_NORMAL, parameters, raises, CORBA::ContextIdSeq());
}
