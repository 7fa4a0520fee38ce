// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes for the tests of this module, written as kairos-idl would write them, but shorter.
#pragma once

#include "kairos/values/marshal.h"

namespace kairos::values::testing {

/// Values that were made and not deleted.
inline int living = 0;

/// valuetype Link { public string name; public Link next; };
class Link : public CORBA::DefaultValueRefCountBase {
  public:
    static constexpr Type _kairos_value_type{.id = "IDL:L:1.0"};
    explicit Link(const char* text = "") : name(text) { ++living; }
    ~Link() override { --living; }
    CORBA::ValueBase* _copy_value() override { return nullptr; }
    const Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(cdr::Writer& out) const override
    {
        mapping::encode(out, name);
        mapping::encode(out, next);
    }
    void _kairos_decode(cdr::Reader& in) override
    {
        mapping::decode(in, name);
        mapping::decode(in, next);
    }
    void _kairos_clear() override { next = static_cast<Link*>(nullptr); }

    mapping::StringMember name;
    Var<Link> next;
};

/// valuetype Base { public long number; };
class Base : public CORBA::DefaultValueRefCountBase {
  public:
    static constexpr Type _kairos_value_type{.id = "IDL:B:1.0"};
    explicit Base(CORBA::Long value = 0) : number(value) { ++living; }
    ~Base() override { --living; }
    CORBA::ValueBase* _copy_value() override { return nullptr; }
    const Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(cdr::Writer& out) const override { mapping::encode(out, number); }
    void _kairos_decode(cdr::Reader& in) override { mapping::decode(in, number); }

    CORBA::Long number;
};

/// valuetype Derived : truncatable Base { public Base inner; public octet last; };
class Derived : public Base {
  public:
    static constexpr Type _kairos_value_type{.id = "IDL:D:1.0",
                                             .truncated = &Base::_kairos_value_type};
    using Base::Base;
    const Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(cdr::Writer& out) const override
    {
        Base::_kairos_encode(out);
        mapping::encode(out, inner);
        mapping::encode(out, last);
    }
    void _kairos_decode(cdr::Reader& in) override
    {
        Base::_kairos_decode(in);
        mapping::decode(in, inner);
        mapping::decode(in, last);
    }
    void _kairos_clear() override { inner = static_cast<Base*>(nullptr); }

    Var<Base> inner;
    CORBA::Octet last = 0;
};

/// valuetype Bulk : truncatable Base { public string text; public sequence<double> numbers; };
class Bulk : public Base {
  public:
    static constexpr Type _kairos_value_type{.id = "IDL:K:1.0",
                                             .truncated = &Base::_kairos_value_type};
    using Base::Base;
    const Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(cdr::Writer& out) const override
    {
        Base::_kairos_encode(out);
        mapping::encode(out, text);
        mapping::encode(out, numbers);
    }
    void _kairos_decode(cdr::Reader& in) override
    {
        Base::_kairos_decode(in);
        mapping::decode(in, text);
        mapping::decode(in, numbers);
    }

    mapping::StringMember text;
    mapping::UnboundedSequence<CORBA::Double> numbers;
};

/// valuetype Box long;
class Box : public CORBA::DefaultValueRefCountBase {
  public:
    static CORBA::ValueBase* make() { return new Box; }
    static constexpr Type _kairos_value_type{.id = "IDL:X:1.0", .create = &make};
    explicit Box(CORBA::Long value = 0) : boxed(value) {}
    CORBA::ValueBase* _copy_value() override { return new Box(*this); }
    const Type& _kairos_type() const override { return _kairos_value_type; }
    void _kairos_encode(cdr::Writer& out) const override { mapping::encode(out, boxed); }
    void _kairos_decode(cdr::Reader& in) override { mapping::decode(in, boxed); }

    CORBA::Long boxed;
};

template <typename V>
class Factory : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new V; }
};

} // namespace kairos::values::testing
