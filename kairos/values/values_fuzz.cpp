// SPDX-License-Identifier: Apache-2.0
//
// Reads values from arbitrary bytes: nothing may be left behind, whatever the graph was going to
// be, and what is accepted can be written and read again. In TAO's form, too.
#include "kairos/base/check.h"
#include "kairos/values/registry.h"
#include "kairos/values/values_testing.h"

#include <vector>

using namespace kairos;
using namespace kairos::values::testing;
using kairos::values::Var;

namespace {

template <typename V>
void add(values::Registry& registry)
{
    const CORBA::ValueFactoryBase_var factory = new Factory<V>;
    const CORBA::ValueFactoryBase_var former = registry.put(V::_kairos_value_type.id, factory.in());
}

/// The message as it was written is read again, and accepted.
void write_again(const Var<CORBA::ValueBase>& value, values::Registry& registry)
{
    cdr::Environment environment;
    environment.value_factories = &registry;
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    out.set_environment(&environment);
    mapping::encode(out, value);
    if (!out.externals().empty()) return;
    cdr::Reader in(out.contiguous(), native_little_endian);
    in.set_environment(&environment);
    Var<CORBA::ValueBase> again;
    mapping::decode(in, again);
    KAIROS_CHECK(in.ok() && in.left() == 0 && again.in() != nullptr);
}

void read(Bytes bytes, bool little_endian, values::Registry& registry)
{
    cdr::Environment environment;
    environment.value_factories = &registry;
    // A message's storage is aligned so.
    std::vector<std::uint64_t> storage(bytes.size() / 8 + 1);
    std::memcpy(storage.data(), bytes.data(), bytes.size());
    cdr::Reader in({reinterpret_cast<const std::byte*>(storage.data()), bytes.size()},
                   little_endian);
    in.set_environment(&environment);
    try {
        Var<CORBA::ValueBase> any;
        mapping::decode(in, any);
        if (in.ok() && any.in() != nullptr) write_again(any, registry);
        Var<Link> link;
        mapping::decode(in, link);
        Var<Base> base;
        mapping::decode(in, base);
        Var<Box> box;
        mapping::decode(in, box);
    } catch (const CORBA::MARSHAL& refused) {
        KAIROS_CHECK(refused.minor() == values::no_factory);
    }
    // Never accepted: the message itself ends cycles.
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    values::Registry registry;
    add<Link>(registry);
    add<Base>(registry);
    add<Bulk>(registry);
    if ((data[0] & 2) != 0) add<Derived>(registry);
    living = 0;
    const Bytes bytes{reinterpret_cast<const std::byte*>(data) + 1, size - 1};
    values::Registry tao(values::Registry::TaoChunks{&registry});
    read(bytes, (data[0] & 1) != 0, (data[0] & 4) != 0 ? tao : registry);
    KAIROS_CHECK(living == 0);
    return 0;
}
