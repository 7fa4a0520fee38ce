// SPDX-License-Identifier: Apache-2.0
#include "idlc/provider.h"

#include <algorithm>
#include <string_view>

namespace kairos::idlc {
namespace {

// One name a line would be three pages.
// clang-format off
/// Pseudo objects of module CORBA, which have C++ mappings of their own, and what goes with them;
/// constants, which C++ unlike typedefs cannot declare twice. Sorted.
constexpr std::string_view facade_names[] = {
    "ARG_IN", "ARG_INOUT", "ARG_OUT", "AbstractBase", "Bounds", "CTX_RESTRICT_SCOPE", "Context",
    "Current", "CustomMarshal", "DEPENDENT_LIST", "DataInputStream", "DataOutputStream",
    "Environment", "Flags", "IN_COPY_VALUE", "NVList", "NamedValue", "ORB", "Object",
    "PRIVATE_MEMBER", "PUBLIC_MEMBER", "PolicyCurrent", "PolicyManager", "Request",
    "ServerRequest", "TypeCode", "TypeCodeFactory", "VM_ABSTRACT", "VM_CUSTOM", "VM_NONE",
    "VM_TRUNCATABLE", "ValueBase", "ValueModifier",
};

/// Declared by idl/orb.idl. Sorted.
constexpr std::string_view orb_type_names[] = {
    "AnySeq", "BAD_POLICY", "BAD_POLICY_TYPE", "BAD_POLICY_VALUE", "BooleanSeq", "CharSeq",
    "CompletionStatus", "DefinitionKind", "DomainManager", "DomainManagersList", "DoubleSeq",
    "EnumMemberSeq", "FloatSeq", "IDLType", "IRObject", "Identifier", "InvalidPolicies",
    "LongDoubleSeq", "LongLongSeq", "LongSeq", "OctetSeq", "ParameterMode", "Policy",
    "PolicyError", "PolicyErrorCode", "PolicyList", "PolicyType", "PolicyTypeSeq", "RepositoryId",
    "SECCONSTRUCTION_POLICY", "ScopedName", "Security", "ServiceDetail", "ServiceDetailType",
    "ServiceInformation", "ServiceOption", "ServiceType", "SetOverrideType", "ShortSeq",
    "StringSeq", "StringValue", "StructMember", "StructMemberSeq", "TCKind", "ULongLongSeq",
    "ULongSeq", "UNSUPPORTED_POLICY", "UNSUPPORTED_POLICY_VALUE", "UShortSeq", "UnionMember",
    "UnionMemberSeq", "ValueMember", "ValueMemberSeq", "VersionSpec", "Visibility", "WCharSeq",
    "WStringSeq", "WStringValue",
};

/// Declared by idl/ir.idl. Sorted.
constexpr std::string_view ir_names[] = {
    "AbstractInterfaceDef", "AbstractInterfaceDefSeq", "AliasDef", "ArrayDef", "AttrDescriptionSeq",
    "AttributeDef", "AttributeDescription", "AttributeMode", "ConstantDef", "ConstantDescription",
    "Contained", "ContainedSeq", "Container", "ContextIdSeq", "ContextIdentifier", "EnumDef",
    "ExcDescriptionSeq", "ExceptionDef", "ExceptionDefSeq", "ExceptionDescription",
    "ExtAttrDescriptionSeq", "ExtAttributeDef", "ExtAttributeDescription", "ExtInitializer",
    "ExtInitializerSeq", "ExtInterfaceDef", "ExtValueDef", "FixedDef", "Initializer",
    "InitializerSeq", "InterfaceAttrExtension", "InterfaceDef", "InterfaceDefSeq",
    "InterfaceDescription", "LocalInterfaceDef", "LocalInterfaceDefSeq", "ModuleDef",
    "ModuleDescription", "NativeDef", "OpDescriptionSeq", "OperationDef", "OperationDescription",
    "OperationMode", "ParDescriptionSeq", "ParameterDescription", "PrimitiveDef", "PrimitiveKind",
    "Repository", "RepositoryIdSeq", "SequenceDef", "StringDef", "StructDef", "TypeDescription",
    "TypedefDef", "UnionDef", "ValueBoxDef", "ValueDef", "ValueDefSeq", "ValueDescription",
    "ValueMemberDef", "WstringDef",
};
// clang-format on
static_assert(std::ranges::is_sorted(facade_names));
static_assert(std::ranges::is_sorted(orb_type_names));
static_assert(std::ranges::is_sorted(ir_names));

} // namespace

Provider provider_of(const Declaration& declaration)
{
    const Declaration* outer = &declaration; // what is directly within a module of file scope
    while (outer->parent != nullptr && outer->parent->parent != nullptr)
        outer = outer->parent;
    if (as<Module>(outer->parent) == nullptr) return Provider::program;
    const std::string_view module = outer->parent->name;
    // All of it is local or native, and taken from kairos/corba/portable_server.h by programs.
    if (module == "PortableServer") return Provider::facade;
    if (module != "CORBA") return Provider::program;
    const std::string_view name = outer->name;
    if (std::ranges::binary_search(facade_names, name)) return Provider::facade;
    if (std::ranges::binary_search(orb_type_names, name)) return Provider::orb_types;
    if (std::ranges::binary_search(ir_names, name)) return Provider::ir;
    return Provider::program;
}

bool is_declared_by_hand(const Enum& enumeration)
{
    return enumeration.scoped_name == "CORBA::TCKind" ||
           enumeration.scoped_name == "CORBA::CompletionStatus";
}

bool is_locality_constrained(const Interface& interface)
{
    const auto is_one = [](const Interface& one) {
        return one.scoped_name == "CORBA::Current" || one.scoped_name == "CORBA::Policy";
    };
    return is_one(interface) ||
           std::ranges::any_of(interface.ancestors,
                               [&](const Interface* ancestor) { return is_one(*ancestor); });
}

} // namespace kairos::idlc
