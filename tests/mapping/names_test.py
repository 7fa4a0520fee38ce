#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What the test mapping.names runs.
"""Whether our headers have the names of the OMG's API: those that its IDL declares (as Debian's
package omniorb-idl has it) by the tables of the C++ mapping, and those that the mapping declares
itself. Each that is missing is named; what is missing on purpose stands in the tables below, with
the reason, and is an error when it is there after all.

names_test.py KAIROS_IDL COMPILER SOURCE_DIR GENERATED_DIR IDL_DIR
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

IDL_FILES = ["poa.idl", "corbaidl.idl", "ir.idl"]

HEADERS = ["kairos/corba/CORBA.h", "kairos/corba/abstract_base.h", "kairos/corba/valuetypes.h",
           "kairos/ir/ir.h", "kairos/mapping/fixed_point.h"]

# What the mapping puts beside a name, by the kind of the declaration (C++ mapping, 5.23 and 5.6).
SUFFIXES = {
    "interface": ["", "_ptr", "_var", "_out"],
    "valuetype": ["", "_var", "_out"],
    "struct": ["", "_var", "_out"],
    "union": ["", "_var", "_out"],
    "enum": ["", "_out"],
    "exception": [""],
}

# Pseudo objects and what else the mapping declares in module CORBA without IDL.
PSEUDO_OBJECTS = ["ORB", "Object", "Policy", "TypeCode", "NamedValue", "NVList", "Request",
                  "Context", "ContextList", "ExceptionList", "Environment"]
BASIC_TYPES = ["Boolean", "Char", "WChar", "Octet", "Short", "UShort", "Long", "ULong", "LongLong",
               "ULongLong", "Float", "Double", "LongDouble"]
SYSTEM_EXCEPTIONS = """UNKNOWN BAD_PARAM NO_MEMORY IMP_LIMIT COMM_FAILURE INV_OBJREF NO_PERMISSION
    INTERNAL MARSHAL INITIALIZE NO_IMPLEMENT BAD_TYPECODE BAD_OPERATION NO_RESOURCES NO_RESPONSE
    PERSIST_STORE BAD_INV_ORDER TRANSIENT FREE_MEM INV_IDENT INV_FLAG INTF_REPOS BAD_CONTEXT
    OBJ_ADAPTER DATA_CONVERSION OBJECT_NOT_EXIST TRANSACTION_REQUIRED TRANSACTION_ROLLEDBACK
    INVALID_TRANSACTION INV_POLICY CODESET_INCOMPATIBLE REBIND TIMEOUT TRANSACTION_UNAVAILABLE
    TRANSACTION_MODE BAD_QOS INVALID_ACTIVITY ACTIVITY_COMPLETED ACTIVITY_REQUIRED""".split()
TYPES = (["CORBA::" + name + suffix for name in PSEUDO_OBJECTS for suffix in ("_ptr", "_var")] +
         ["CORBA::" + name for name in PSEUDO_OBJECTS] +
         ["CORBA::" + name + "_out" for name in PSEUDO_OBJECTS] +
         ["CORBA::" + name + suffix for name in BASIC_TYPES for suffix in ("", "_out")] +
         ["CORBA::" + name for name in SYSTEM_EXCEPTIONS] +
         """CORBA::Any CORBA::Any_ptr CORBA::Any_var CORBA::Any_out CORBA::String_var
         CORBA::String_out CORBA::WString_var CORBA::WString_out CORBA::Exception CORBA::LocalObject
         CORBA::UserException CORBA::SystemException CORBA::UnknownUserException CORBA::Fixed
         CORBA::ValueBase CORBA::ValueBase_var CORBA::ValueBase_out CORBA::ValueFactory
         CORBA::ValueFactoryBase CORBA::ValueFactoryBase_var CORBA::DefaultValueRefCountBase
         CORBA::CustomMarshal CORBA::DataInputStream CORBA::DataOutputStream CORBA::AbstractBase
         CORBA::AbstractBase_ptr CORBA::AbstractBase_var CORBA::AbstractBase_out
         CORBA::CompletionStatus CORBA::TCKind CORBA::Flags CORBA::ORBid
         CORBA::ORB::ObjectId CORBA::ORB::ObjectIdList CORBA::ORB::ObjectIdList_var
         CORBA::ORB::ObjectIdList_out CORBA::ORB::InvalidName CORBA::ORB::RequestSeq
         CORBA::TypeCode::Bounds CORBA::TypeCode::BadKind
         CORBA::Any::from_boolean CORBA::Any::from_char CORBA::Any::from_wchar
         CORBA::Any::from_octet CORBA::Any::from_string CORBA::Any::from_wstring
         CORBA::Any::from_fixed CORBA::Any::to_boolean CORBA::Any::to_char CORBA::Any::to_wchar
         CORBA::Any::to_octet CORBA::Any::to_string CORBA::Any::to_wstring CORBA::Any::to_fixed
         CORBA::Any::to_object CORBA::Any::to_value CORBA::Any::to_abstract_base
         PortableServer::Servant PortableServer::ServantBase PortableServer::ServantBase_var
         PortableServer::RefCountServantBase
         PortableServer::DynamicImplementation CORBA::ServerRequest CORBA::ServerRequest_ptr
         CORBA::ServerRequest_var
         """.split())
OTHERS = """CORBA::string_alloc CORBA::string_dup CORBA::string_free CORBA::wstring_alloc
    CORBA::wstring_dup CORBA::wstring_free CORBA::is_nil CORBA::release CORBA::add_ref
    CORBA::remove_ref CORBA::ORB_init CORBA::ARG_IN CORBA::ARG_OUT CORBA::ARG_INOUT
    CORBA::IN_COPY_VALUE CORBA::OUT_LIST_MEMORY CORBA::DEPENDENT_LIST CORBA::COMPLETED_YES
    CORBA::COMPLETED_NO CORBA::COMPLETED_MAYBE PortableServer::ObjectId_to_string
    PortableServer::string_to_ObjectId CORBA::_tc_null CORBA::_tc_void CORBA::_tc_short
    CORBA::_tc_long CORBA::_tc_ushort CORBA::_tc_ulong CORBA::_tc_float CORBA::_tc_double
    CORBA::_tc_boolean CORBA::_tc_char CORBA::_tc_octet CORBA::_tc_any CORBA::_tc_TypeCode
    CORBA::_tc_Object CORBA::_tc_string CORBA::_tc_longlong CORBA::_tc_ulonglong
    CORBA::_tc_longdouble CORBA::_tc_wchar CORBA::_tc_wstring
    CORBA::_tc_ValueBase CORBA::tk_null CORBA::tk_local_interface CORBA::tk_event
    CORBA::tk_fixed""".split()

# Operations of pseudo objects: members by these names.
MEMBERS = {
    "CORBA::ORB": """id object_to_string string_to_object create_list create_operation_list
        create_named_value create_exception_list create_context_list get_default_context
        create_environment send_multiple_requests_oneway send_multiple_requests_deferred
        poll_next_response get_next_response list_initial_services resolve_initial_references
        register_initial_reference create_struct_tc create_union_tc create_enum_tc create_alias_tc
        create_exception_tc create_interface_tc create_string_tc create_wstring_tc create_fixed_tc
        create_sequence_tc create_recursive_tc create_array_tc create_value_tc create_value_box_tc
        create_native_tc create_abstract_interface_tc create_local_interface_tc work_pending
        perform_work run shutdown destroy create_policy register_value_factory
        unregister_value_factory lookup_value_factory get_service_information""",
    "CORBA::Object": """_duplicate _nil _narrow _is_a _non_existent _is_equivalent
        _hash _get_interface _create_request _get_policy _get_policy_overrides
        _set_policy_overrides _validate_connection _repository_id _get_component _get_orb
        _request""",
    "CORBA::TypeCode": """equal equivalent get_compact_typecode kind id name member_count
        member_name member_type member_label discriminator_type default_index length content_type
        fixed_digits fixed_scale member_visibility type_modifier concrete_base_type""",
    "CORBA::NVList": "count add add_item add_value add_item_consume add_value_consume item remove",
    "CORBA::Request": """target operation arguments result env ctx add_in_arg add_inout_arg
        add_out_arg set_return_type return_value invoke send_oneway send_deferred get_response
        poll_response exceptions contexts""",
    "PortableServer::ServantBase": """_default_POA _get_interface _is_a _non_existent _add_ref
        _remove_ref _refcount_value _get_component""",
}

# Why a name is not there.
ABSENT = {}


def names_of(declarations, found):
    """The names of types and of values that these declarations stand for in C++."""
    for one in declarations:
        name = one.get("scoped_name", "")
        kind = one["kind"]
        inner = one.get("declarations", [])
        if kind in SUFFIXES:
            found["type"].update(name + suffix for suffix in SUFFIXES[kind])
        elif kind == "typedef":
            found["type"].add(name)
            if one["type"]["kind"] == "sequence":
                found["type"].update((name + "_var", name + "_out"))
        elif kind == "constant":
            found["value"].add(name)
        if kind == "enum":
            scope = name.rpartition("::")[0]
            found["value"].update(f"{scope}::{each['name']}" for each in one["enumerators"])
        if kind in ("operation", "attribute"):
            found["member"].add(name)
        names_of(inner, found)


def source_of(found):
    lines = [f'#include "{header}"' for header in HEADERS]
    number = 0
    where = {}

    def put(name, line):
        lines.append(line)
        where[len(lines)] = name

    for name in sorted(found["type"]):
        number += 1
        put(name, f"using Type{number} = {name};")
    for name in sorted(found["value"]):
        scope, _, own = name.rpartition("::")
        number += 1
        if scope.count("::") == 0:
            put(name, f"namespace value{number} {{ using {name}; }}")
        else:
            put(name, f"struct Value{number} : {scope} {{ using {scope}::{own}; }};")
    for name in sorted(found["member"]):
        scope, _, own = name.rpartition("::")
        number += 1
        put(name, f"auto member{number} = &{scope}::{own};")
    return "\n".join(lines) + "\n", where


def main():
    compiler_of_idl, compiler, source_dir, generated_dir, idl_dir = sys.argv[1:6]
    found = {"type": set(TYPES), "value": set(OTHERS), "member": set()}
    for scope, members in MEMBERS.items():
        found["member"].update(f"{scope}::{name}" for name in members.split())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for idl in IDL_FILES:
            subprocess.run([compiler_of_idl, "--backend", "json", "-I", idl_dir, "-o", folder,
                            pathlib.Path(idl_dir) / idl], check=True)
            document = json.loads((folder / idl).with_suffix(".json").read_text("utf-8"))
            names_of(document["declarations"], found)
        text, where = source_of(found)
        source = folder / "names.cpp"
        source.write_text(text, encoding="utf-8")
        made = subprocess.run(
            [compiler, "-std=c++20", "-fsyntax-only", "-w", "-fmax-errors=0", "-I", source_dir,
             "-I", generated_dir, "-I", f"{generated_dir}/kairos/corba", source],
            capture_output=True, text=True, check=False)
    missing = set()
    strange = []
    for place, line, message in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$",
                                           made.stderr, re.M):
        name = where.get(int(line)) if place == str(source) else None
        if name is None:
            strange.append(f"{place}:{line}: {message}")
        elif name not in found["member"] or "is not a member of" in message:
            missing.add(name) # else it is overloaded
    unexplained = sorted(missing - ABSENT.keys())
    stale = sorted(ABSENT.keys() - missing)
    for name in unexplained:
        print(f"{name} is missing")
    for name in stale:
        print(f"{name} is there, or no name of the OMG's: the table of exceptions says otherwise")
    for line in strange:
        print(line)
    total = sum(len(names) for names in found.values())
    print(f"{total} names, {len(missing)} of them missing")
    return 1 if unexplained or stale or strange or not total else 0


if __name__ == "__main__":
    sys.exit(main())
