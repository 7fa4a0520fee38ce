// SPDX-License-Identifier: Apache-2.0
//
// System exceptions in CORBA::Any (C++ mapping 5.17 and 5.19): kept as CDR has them, under the
// TypeCode of the most derived class. What is extracted is made by the table that raises them.
#include "kairos/mapping/exception.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode.h"

#include <string_view>
#include <utility>

namespace kairos::types {
namespace {

CORBA::SystemException* copy_of(const CORBA::SystemException& exception)
{
    return CORBA::SystemException::_downcast(exception._duplicate());
}

/// Owns the exception that an extraction gives.
struct Held {
    CORBA::SystemException* exception = nullptr;

    Held() = default;
    explicit Held(CORBA::SystemException* adopted) : exception(adopted) {}
    Held(const Held& other) : exception(copy_of(*other.exception)) {}
    Held& operator=(const Held&) = delete;
    ~Held() { delete exception; }
};

/// Only its size counts: what travels is the CDR.
constexpr Table held_table{.op = Op::functions,
                           .is_trivial = false,
                           .is_recursive = false,
                           .is_array = false,
                           .is_viewable = false,
                           .alignment = alignof(Held),
                           .size = sizeof(Held),
                           .detail = nullptr,
                           .count = 0,
                           .wire_bytes_min = 0};
constexpr ValueClass held_class{&held_table, &ValueFunctions<Held>::construct,
                                &ValueFunctions<Held>::copy, &ValueFunctions<Held>::destroy,
                                &ValueFunctions<Held>::free};

struct Known {
    std::string_view id;
    const CORBA::TypeCode* type;
};
#define KAIROS_KNOWN(exception) {CORBA::exception::kairos_id, &CORBA::_kairos_tc_##exception},
constexpr Known known_exceptions[] = {KAIROS_SYSTEM_EXCEPTIONS(KAIROS_KNOWN)};
#undef KAIROS_KNOWN

/// Null for an id that is no system exception's.
const Known* find(std::string_view id)
{
    for (const Known& each : known_exceptions)
        if (each.id == id) return &each;
    return nullptr;
}

/// A new one of its class.
CORBA::SystemException* make(std::string_view id, CORBA::ULong minor,
                             CORBA::CompletionStatus completed)
{
    try {
        mapping::raise_system_exception(id, minor, completed);
    } catch (const CORBA::SystemException& exception) {
        return copy_of(exception);
    }
}

} // namespace

const CORBA::SystemException* extract_system_exception(const CORBA::Any& any,
                                                       const char* repository_id)
{
    const Known* wanted = find(repository_id);
    if (wanted == nullptr || !AnyAccess::holds(any, pointer(*wanted->type))) return nullptr;
    if (const void* found = AnyAccess::find(any, held_class))
        return static_cast<const Held*>(found)->exception;
    AnyAccess::with_reader(any, [&](cdr::Reader& in) {
        (void)in.read_string();
        const auto minor = in.read<CORBA::ULong>();
        const auto completed = in.read<CORBA::ULong>();
        if (in.ok() && completed > CORBA::COMPLETED_MAYBE) in.fail(cdr::Fault::invalid_value);
        if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, cdr::describe(in.fault()));
        const Held held(make(wanted->id, minor, static_cast<CORBA::CompletionStatus>(completed)));
        AnyAccess::add_copy(any, held_class, &held);
    });
    return static_cast<const Held*>(AnyAccess::find(any, held_class))->exception;
}

} // namespace kairos::types

namespace CORBA {

using kairos::types::AnyAccess;

void operator<<=(Any& any, const SystemException& exception)
{
    const kairos::types::Known* known = kairos::types::find(exception._rep_id());
    if (known == nullptr) known = kairos::types::find(UNKNOWN::kairos_id);
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    out.write_string(known->id);
    out.write(exception.minor());
    out.write(static_cast<ULong>(exception.completed()));
    kairos::types::AnyBytes* bytes = AnyAccess::bytes_of(out, 0);
    AnyAccess::set_bytes(any, kairos::types::pointer(*known->type), bytes);
}

void operator<<=(Any& any, SystemException* exception)
{
    if (exception == nullptr)
        throw BAD_PARAM(0, COMPLETED_NO, "a null pointer inserted into an Any");
    const kairos::types::Held adopted(exception);
    any <<= std::as_const(*exception);
}

Boolean operator>>=(const Any& any, const SystemException*& exception)
{
    const TypeCode& type = kairos::types::resolved(AnyAccess::type(any));
    if (type.kind() != tk_except) return false;
    const SystemException* found = kairos::types::extract_system_exception(any, type.id());
    if (found == nullptr) return false;
    exception = found;
    return true;
}

} // namespace CORBA
