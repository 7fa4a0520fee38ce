// SPDX-License-Identifier: Apache-2.0
//
// A DynAny of an Any from arbitrary octets: what an Any takes, a DynAny takes or refuses; it is
// walked through, copied, and gives the same octets again. The first octet is the byte order.
#include "kairos/base/check.h"
#include "kairos/corba/orb.h"
#include "kairos/dynany/dynamic_any.h"
#include "kairos/orb/orb.h"

#include <vector>

namespace cdr = kairos::cdr;

namespace {

CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        int argc = 1;
        char name[] = "fuzz";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "dynany");
    }();
    return made.in();
}

DynamicAny::DynAnyFactory_ptr factory()
{
    static const DynamicAny::DynAnyFactory_var made = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("DynAnyFactory");
        return DynamicAny::DynAnyFactory::_narrow(object);
    }();
    return made.in();
}

std::vector<std::byte> encoded(DynamicAny::DynAny_ptr object)
{
    const CORBA::Any_var any = object->to_any();
    const cdr::Environment environment;
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    out.set_environment(&environment);
    kairos::mapping::encode(out, any.in());
    return {out.contiguous().begin(), out.contiguous().end()};
}

/// Asks for so many components in all: a graph of values may have paths without end.
void walk(DynamicAny::DynAny_ptr object, int& components)
{
    object->rewind();
    for (CORBA::ULong i = 0; i < object->component_count() && --components > 0; ++i) {
        const DynamicAny::DynAny_var component = object->current_component();
        walk(component, components);
        (void)object->next();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    std::vector<std::byte> bytes;
    for (std::size_t i = 1; i < size; ++i)
        bytes.push_back(static_cast<std::byte>(data[i]));
    // Without factories: values stay as they came.
    cdr::Environment environment;
    environment.orb = &orb()->_kairos_core();
    environment.orb_owner = environment.orb;
    cdr::Reader in(bytes, (data[0] & 1) != 0);
    in.set_environment(&environment);
    try {
        CORBA::Any any;
        kairos::mapping::decode(in, any);
        if (!in.ok()) return 0;
        const DynamicAny::DynAny_var object = factory()->create_dyn_any(any);
        const std::vector<std::byte> first = encoded(object);
        const DynamicAny::DynAny_var copy = object->copy();
        KAIROS_CHECK(encoded(copy) == first);
        KAIROS_CHECK(copy->equal(object));
        int components = 1000;
        walk(object, components);
        KAIROS_CHECK(encoded(object) == first);
        object->destroy();
    } catch (const CORBA::IMP_LIMIT&) {
    } catch (const DynamicAny::DynAnyFactory::InconsistentTypeCode&) {
    }
    return 0;
}
