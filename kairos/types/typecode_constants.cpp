// SPDX-License-Identifier: Apache-2.0
//
// The TypeCodes of module CORBA: basic types, system exceptions and the few others that programs
// name. All of it constant data.
#include "kairos/types/typecode.h"

#include "kairos/mapping/exception.h"

#define KAIROS_DEFINE_TYPE(name, ...)                                                              \
    constinit const TypeCode _kairos_tc_##name{kairos::types::__VA_ARGS__};                        \
    constinit const TypeCode_ptr _tc_##name = kairos::types::pointer(_kairos_tc_##name);
#define KAIROS_DEFINE_BASIC_TYPE(kind, name) KAIROS_DEFINE_TYPE(name, basic_type(kind))
#define KAIROS_DEFINE_EXCEPTION(exception)                                                         \
    KAIROS_DEFINE_TYPE(exception,                                                                  \
                       struct_type(tk_except, exception::kairos_id, #exception, minor_completed))

namespace CORBA {
namespace {

constexpr kairos::types::TypeCodeMember statuses[] = {
    {"COMPLETED_YES"}, {"COMPLETED_NO"}, {"COMPLETED_MAYBE"}};
/// What every system exception consists of (CORBA 3.3 part 1, 8.1).
constexpr kairos::types::TypeCodeMember minor_completed[] = {
    {"minor", &_kairos_tc_ulong}, {"completed", &_kairos_tc_completion_status}};

} // namespace

KAIROS_BASIC_TYPES(KAIROS_DEFINE_BASIC_TYPE)
KAIROS_DEFINE_TYPE(string, text_type(tk_string, 0))
KAIROS_DEFINE_TYPE(wstring, text_type(tk_wstring, 0))
KAIROS_DEFINE_TYPE(Object, named_type(tk_objref, "IDL:omg.org/CORBA/Object:1.0", "Object"))
KAIROS_DEFINE_TYPE(ValueBase, value_type(tk_value, "IDL:omg.org/CORBA/ValueBase:1.0", "ValueBase",
                                         VM_NONE, nullptr))
KAIROS_DEFINE_TYPE(AbstractBase, named_type(tk_abstract_interface,
                                            "IDL:omg.org/CORBA/AbstractBase:1.0", "AbstractBase"))
KAIROS_DEFINE_TYPE(completion_status,
                   struct_type(tk_enum, "IDL:omg.org/CORBA/completion_status:1.0",
                               "completion_status", statuses))
KAIROS_SYSTEM_EXCEPTIONS(KAIROS_DEFINE_EXCEPTION)

} // namespace CORBA
