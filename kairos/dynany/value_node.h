// SPDX-License-Identifier: Apache-2.0
//
// DynValue and DynValueBox: places that refer to a value of a valuetype, or to none. Several places
// of a tree may refer to the same.
#pragma once

#include "kairos/dynany/members.h"
#include "kairos/dynany/value_state.h"

namespace kairos::dynany {

class ValueNode : public Node, public virtual DynamicAny::DynValueCommon {
  public:
    void read(Input& in) override;
    void write(Output& out) override;
    [[nodiscard]] bool same(Node& other, Compared& compared) override;
    void clear() noexcept override { state_.reset(); }
    [[nodiscard]] CORBA::ULong count() override;
    [[nodiscard]] Node& at(CORBA::ULong index) override { return *state_->members[index]; }
    [[nodiscard]] ValueNode* as_value() noexcept override { return this; }

    /// A new value of this type. Throws NO_IMPLEMENT for an abstract valuetype.
    [[nodiscard]] virtual std::shared_ptr<ValueState> make_state() = 0;

    CORBA::Boolean is_null() override;
    void set_to_null() override;
    void set_to_value() override;

  protected:
    using Node::Node;

    /// The value. Throws InvalidValue where there is none.
    [[nodiscard]] const ValueState& state() const;

  private:
    std::shared_ptr<ValueState> state_;
};

class Value final : public ValueNode, public virtual DynamicAny::DynValue {
  public:
    Value(Tree& tree, const CORBA::TypeCode& type) : ValueNode(tree, type) {}

    [[nodiscard]] std::shared_ptr<ValueState> make_state() override;

    char* current_member_name() override;
    CORBA::TCKind current_member_kind() override;
    DynamicAny::NameValuePairSeq* get_members() override;
    void set_members(const DynamicAny::NameValuePairSeq& value) override;
    DynamicAny::NameDynAnyPairSeq* get_members_as_dyn_any() override;
    void set_members_as_dyn_any(const DynamicAny::NameDynAnyPairSeq& value) override;

  private:
    template <typename Pairs>
    void set_all(const Pairs& value);
};

class ValueBox final : public ValueNode, public virtual DynamicAny::DynValueBox {
  public:
    ValueBox(Tree& tree, const CORBA::TypeCode& type) : ValueNode(tree, type) {}

    [[nodiscard]] std::shared_ptr<ValueState> make_state() override;

    CORBA::Any* get_boxed_value() override;
    void set_boxed_value(const CORBA::Any& boxed) override;
    DynamicAny::DynAny_ptr get_boxed_value_as_dyn_any() override;
    void set_boxed_value_as_dyn_any(DynamicAny::DynAny_ptr boxed) override;

  private:
    /// Throws TypeMismatch unless it is the type of what is in the box.
    void require_boxed(CORBA::TypeCode& type) const;
};

} // namespace kairos::dynany
