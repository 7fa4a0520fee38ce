// SPDX-License-Identifier: Apache-2.0
//
// An ORB with its DynAnyFactory, and Anys as they travel.
#pragma once

#include "dynany.h"
#include "rebuild.h"

#include <kairos/corba/CORBA.h>
#include <kairos/orb/orb.h>
#include <kairos/types/any_access.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dynany_test {

inline CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "dynany");
    }();
    return made.in();
}

inline da::DynAnyFactory_ptr factory()
{
    static const da::DynAnyFactory_var made = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("DynAnyFactory");
        return da::DynAnyFactory::_narrow(object);
    }();
    return made.in();
}

template <typename T>
CORBA::Any any_of(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

inline da::DynAny_var dyn(const CORBA::Any& any) { return factory()->create_dyn_any(any); }
template <typename T>
da::DynAny_var dyn_of(const T& value)
{
    return dyn(any_of(value));
}
inline da::DynAny_var dyn(CORBA::TypeCode_ptr type)
{
    return factory()->create_dyn_any_from_type_code(type);
}
/// The Any as it travels.
inline std::vector<std::byte> octets(const CORBA::Any& any)
{
    kairos::cdr::Environment environment;
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    const kairos::cdr::Writer::CopyAll copies(out);
    out.set_environment(&environment);
    kairos::mapping::encode(out, any);
    return {out.contiguous().begin(), out.contiguous().end()};
}
inline std::vector<std::byte> octets(DynAny* object)
{
    const CORBA::Any_var any = object->to_any();
    return octets(any.in());
}

/// The Any as one that was received: nobody has extracted anything.
inline CORBA::Any received(const CORBA::Any& any)
{
    const std::vector<std::byte> bytes = octets(any);
    kairos::cdr::Reader in(bytes, kairos::native_little_endian);
    kairos::cdr::Environment environment;
    environment.orb = &orb()->_kairos_core();
    environment.orb_owner = environment.orb;
    in.set_environment(&environment);
    CORBA::Any copy;
    kairos::mapping::decode(in, copy);
    EXPECT_TRUE(in.ok());
    return copy;
}

} // namespace dynany_test
