// SPDX-License-Identifier: Apache-2.0
//
// DynUnion: the discriminator and, if that selects one, a member. The discriminator's DynAny may be
// changed by whoever has it: every operation looks first.
#pragma once

#include "kairos/dynany/leaf.h"

namespace kairos::dynany {

class UnionNode final : public Node, public virtual DynamicAny::DynUnion {
  public:
    UnionNode(Tree& tree, const CORBA::TypeCode& type);

    void read(Input& in) override;
    void write(Output& out) override;
    [[nodiscard]] bool same(Node& other, Compared& compared) override;
    void clear() noexcept override { components_.clear(); }
    [[nodiscard]] CORBA::ULong count() override;
    [[nodiscard]] Node& at(CORBA::ULong index) override { return *components_[index]; }

    DynamicAny::DynAny_ptr get_discriminator() override;
    void set_discriminator(DynamicAny::DynAny_ptr d) override;
    void set_to_default_member() override;
    void set_to_no_active_member() override;
    CORBA::Boolean has_no_active_member() override;
    CORBA::TCKind discriminator_kind() override;
    DynamicAny::DynAny_ptr member() override;
    char* member_name() override;
    CORBA::TCKind member_kind() override;

  private:
    [[nodiscard]] Leaf& discriminator() const { return *components_[0]->as_leaf(); }
    [[nodiscard]] CORBA::ULong none() const noexcept { return data().count; }
    /// The index of the member that the discriminator selects; `none` for no member.
    [[nodiscard]] CORBA::ULong selected();
    /// Makes the member that the discriminator selects the active one.
    void follow();
    /// A value of the discriminator that no member has. False if there is none.
    [[nodiscard]] bool find_unused(CORBA::LongLong& label);
    [[nodiscard]] bool has_default() const noexcept { return data().detail >= 0; }
    [[nodiscard]] Node& active();

    Components components_; // the discriminator, and the active member
    CORBA::ULong active_;   // its index in the type
};

} // namespace kairos::dynany
