// SPDX-License-Identifier: Apache-2.0
#include "kairos/naming/name.h"

namespace kairos::naming {
namespace {

ior::Name parsed(std::string_view text)
{
    auto name = ior::parse_name(text);
    if (!name) throw CosNaming::NamingContext::InvalidName();
    return std::move(name).value();
}

} // namespace

CosNaming::Name to_idl(const ior::Name& name)
{
    CosNaming::Name result;
    result.length(static_cast<CORBA::ULong>(name.size()));
    for (CORBA::ULong i = 0; i < result.length(); ++i) {
        result[i].id = name[i].id.c_str();
        result[i].kind = name[i].kind.c_str();
    }
    return result;
}

ior::Name from_idl(const CosNaming::Name& name)
{
    ior::Name result;
    for (CORBA::ULong i = 0; i < name.length(); ++i)
        result.push_back({name[i].id.in(), name[i].kind.in()});
    return result;
}

CosNaming::Name to_name(std::string_view text) { return to_idl(parsed(text)); }

std::string to_string(const CosNaming::Name& name)
{
    if (name.length() == 0) throw CosNaming::NamingContext::InvalidName();
    return ior::to_string(from_idl(name));
}

std::string to_url(std::string_view address, std::string_view text)
{
    const ior::Name name = text.empty() ? ior::Name() : parsed(text);
    auto url = ior::to_corbaname(address, name);
    if (!url) throw CosNaming::NamingContextExt::InvalidAddress();
    return std::move(url).value();
}

} // namespace kairos::naming
