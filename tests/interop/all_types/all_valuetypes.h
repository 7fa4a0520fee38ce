// SPDX-License-Identifier: Apache-2.0
//
// The classes behind the valuetypes of all_types.idl, their factories, and what is needed to tell
// them apart. Plain mapping code, for any ORB. Any thread.
#pragma once

#ifdef PEER_OMNIORB
#include "all_types.hh"
#else
#include "all_types_skel.h"

#include <kairos/corba/CORBA.h>
#endif

#include <type_traits>

namespace all {

/// Another owner.
template <typename V>
V* share(V* value)
{
    CORBA::add_ref(value);
    return value;
}

/// Graphs of these have cycles, which counting does not end.
class NodeImpl : public virtual OBV_All::Node, public virtual CORBA::DefaultValueRefCountBase {
  public:
    NodeImpl();
    ~NodeImpl() override;
    NodeImpl(const NodeImpl&) = delete;
    NodeImpl& operator=(const NodeImpl&) = delete;

    /// Cuts the edges of all that are left, at the end of the program.
    static void cut_all();
};

class CounterImpl : public virtual OBV_All::Counter,
                    public virtual CORBA::DefaultValueRefCountBase {
  public:
    CORBA::Long next() override
    {
        count(count() + 1);
        return count();
    }
};

class CardImpl : public virtual OBV_All::Card, public virtual CORBA::DefaultValueRefCountBase {
  public:
    char* title_of() override { return CORBA::string_dup(title()); }
};

#ifndef NO_CUSTOM
class RouteImpl : public virtual OBV_All::Route, public virtual CORBA::DefaultValueRefCountBase {
  public:
    void marshal(CORBA::DataOutputStream* out) override;
    void unmarshal(CORBA::DataInputStream* in) override;
};
#endif

/// Values of each type but Deeper can be received.
void register_factories(CORBA::ORB_ptr orb);

/// The first of `Vs` that a `T` converts to a pointer to; void without one.
template <typename T, typename... Vs>
struct FirstOf {
    using type = void;
};
template <typename T, typename V, typename... Vs>
struct FirstOf<T, V, Vs...> {
    using type = typename std::conditional_t<std::is_convertible_v<T, V*>, std::type_identity<V>,
                                             FirstOf<T, Vs...>>::type;
};

#ifdef NO_CUSTOM
#define CUSTOM_VALUETYPES
#else
#define CUSTOM_VALUETYPES , All::Route
#endif
/// The valuetype that a variable, member, element or pointer of type T has; void for other types.
template <typename T>
using ValuetypeOf = typename FirstOf<T, All::Node, All::Derived, All::Base, All::Counter, All::Card,
                                     All::NumberBox, All::NameBox, All::ProseBox, All::PointBox,
                                     All::NamesBox, All::ReferenceBox CUSTOM_VALUETYPES>::type;
#undef CUSTOM_VALUETYPES

/// An empty one, owned by the caller.
template <typename V>
V* new_value()
{
    if constexpr (std::is_same_v<V, All::Node>)
        return new NodeImpl;
    else if constexpr (std::is_same_v<V, All::Base>)
        return new OBV_All::Base;
    else if constexpr (std::is_same_v<V, All::Derived>)
        return new OBV_All::Derived;
    else if constexpr (std::is_same_v<V, All::Counter>)
        return new CounterImpl;
    else if constexpr (std::is_same_v<V, All::Card>)
        return new CardImpl;
#ifndef NO_CUSTOM
    else if constexpr (std::is_same_v<V, All::Route>)
        return new RouteImpl;
#endif
    else
        return new V; // a box
}

} // namespace all
