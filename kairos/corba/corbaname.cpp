// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/corbaname.h"

#include "kairos/corba/invocation.h"
#include "kairos/orb/failure.h"

#include <iterator>
#include <string>

namespace kairos::corba {
namespace {

using mapping::omg_minor;

[[noreturn]] void raise_unresolved(const std::string& reason)
{
    orb::raise<CORBA::BAD_PARAM>(omg_minor(10), CORBA::COMPLETED_NO, "corbaname: " + reason);
}

ior::Name decode_name(cdr::Reader& in)
{
    constexpr std::size_t component_size_min = 2 * (sizeof(CORBA::ULong) + 1);
    ior::Name name;
    for (std::uint32_t left = in.read_length(component_size_min); left != 0 && in.ok(); --left) {
        CORBA::String_var id;
        CORBA::String_var kind;
        mapping::decode_string(in, id);
        mapping::decode_string(in, kind);
        name.push_back({id.in(), kind.in()});
    }
    return name;
}

// --- CosNaming::NamingContext's exceptions, each as what it says ---------------------------------

void not_found(const orb::ExceptionType&, cdr::Reader& body)
{
    constexpr std::string_view reasons[] = {"is not bound", "is not a naming context",
                                            "is a naming context, not an object"};
    (void)body.read_string(); // its repository id
    const auto why = body.read<CORBA::ULong>();
    const ior::Name rest = decode_name(body);
    if (!body.ok() || why >= std::size(reasons))
        orb::raise<CORBA::MARSHAL>(orb::minor_code::malformed_reply, CORBA::COMPLETED_YES,
                                   "NotFound that does not decode");
    const std::string at = rest.empty() ? "the name" : "'" + to_string(rest.front()) + "'";
    raise_unresolved("not found: " + at + " " + std::string(reasons[why]));
}

void cannot_proceed(const orb::ExceptionType&, cdr::Reader&)
{
    raise_unresolved("the naming service cannot proceed to a context of the name");
}

void invalid_name(const orb::ExceptionType&, cdr::Reader&)
{
    raise_unresolved("the naming service says that the name is invalid");
}

constexpr orb::ExceptionType exceptions[] = {
    {"IDL:omg.org/CosNaming/NamingContext/NotFound:1.0", &not_found},
    {"IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0", &cannot_proceed},
    {"IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0", &invalid_name},
};

constexpr orb::Operation resolve{"resolve", orb::Response::required, exceptions};

} // namespace

CORBA::Object_ptr resolve_name(CORBA::Object& context, const ior::Name& name)
{
    Invocation call(context, resolve);
    call.out().write(static_cast<CORBA::ULong>(name.size()));
    for (const ior::NameComponent& component : name) {
        mapping::encode_string(call.out(), component.id.c_str());
        mapping::encode_string(call.out(), component.kind.c_str());
    }
    call.invoke();
    CORBA::Object_var object = decode_reference<CORBA::Object>(call.in());
    call.finish();
    return object._retn();
}

} // namespace kairos::corba
