// SPDX-License-Identifier: Apache-2.0
//
// The valuetypes of hostile.idl, as a message's environment knows them.
#pragma once

#include "hostile.h"

#include "kairos/values/registry.h"

#include <type_traits>

namespace hostile {

template <typename Base>
class Value : public virtual Base, public virtual CORBA::DefaultValueRefCountBase {
  public:
    Value() = default;
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
};

template <typename Base>
class Factory : public CORBA::ValueFactoryBase {
  private:
    CORBA::ValueBase* create_for_unmarshal() override { return new Value<Base>; }
};

inline kairos::values::Registry& registry()
{
    static kairos::values::Registry& made = []() -> kairos::values::Registry& {
        static kairos::values::Registry known;
        const CORBA::ValueFactoryBase_var holder = new Factory<OBV_Hostile::Holder>;
        const CORBA::ValueFactoryBase_var concrete = new Factory<OBV_Hostile::Concrete>;
        const CORBA::ValueFactoryBase_var none(known.put("IDL:Hostile/Holder:1.0", holder.in()));
        const CORBA::ValueFactoryBase_var other(
            known.put("IDL:Hostile/Concrete:1.0", concrete.in()));
        return known;
    }();
    return made;
}

inline constexpr std::uint32_t value_tag = 0x7FFF'FF00;   ///< of the type that IDL says
inline constexpr std::uint32_t chunked_tag = 0x7FFF'FF08; ///< the same, in chunks
inline constexpr std::uint32_t indirection = 0xFFFF'FFFF;

} // namespace hostile
