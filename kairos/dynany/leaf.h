// SPDX-License-Identifier: Apache-2.0
//
// DynAnys without components: numbers, texts, references, TypeCodes, Anys. The value is in an Any
// of the DynAny's type.
#pragma once

#include "kairos/dynany/node.h"

namespace kairos::dynany {

class Leaf : public Node {
  public:
    Leaf(Tree& tree, const CORBA::TypeCode& type);

    void read(Input& in) override;
    void write(Output& out) override;
    [[nodiscard]] bool same(Node& other, Compared& compared) override;
    void take(Node& from) override;
    void load(const CORBA::Any& any, bool may_truncate) override;
    [[nodiscard]] CORBA::Any store() override;
    [[nodiscard]] bool can_have_components() const override { return false; }
    [[nodiscard]] Leaf* as_leaf() noexcept override { return this; }

    [[nodiscard]] const CORBA::Any& value() const noexcept { return value_; }
    /// Takes a value of an equivalent type.
    void set_any(const CORBA::Any& any);
    /// Takes what can be inserted into an Any.
    template <typename T>
    void set(const T& value)
    {
        CORBA::Any any;
        any <<= value;
        set_any(any);
    }
    /// The value of a whole number, an enum or a character, as labels of unions have it.
    [[nodiscard]] CORBA::LongLong number() const;
    void set_number(CORBA::LongLong number);

  private:
    CORBA::Any value_;
};

/// A DynEnum.
class Enumeration final : public Leaf, public virtual DynamicAny::DynEnum {
  public:
    using Leaf::Leaf;

    char* get_as_string() override;
    void set_as_string(const char* value) override;
    CORBA::ULong get_as_ulong() override;
    void set_as_ulong(CORBA::ULong value) override;
};

/// A DynFixed.
class FixedNumber final : public Leaf, public virtual DynamicAny::DynFixed {
  public:
    using Leaf::Leaf;

    char* get_value() override;
    CORBA::Boolean set_value(const char* val) override;
};

} // namespace kairos::dynany
