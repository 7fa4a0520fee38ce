// SPDX-License-Identifier: Apache-2.0
//
// DynStruct: structs and exceptions.
#pragma once

#include "kairos/dynany/members.h"

namespace kairos::dynany {

class Structure final : public Node, public virtual DynamicAny::DynStruct {
  public:
    Structure(Tree& tree, const CORBA::TypeCode& type);

    void read(Input& in) override;
    void write(Output& out) override;
    [[nodiscard]] bool same(Node& other, Compared& compared) override;
    void clear() noexcept override { components_.clear(); }
    [[nodiscard]] CORBA::ULong count() override;
    [[nodiscard]] Node& at(CORBA::ULong index) override { return *components_[index]; }
    [[nodiscard]] bool can_have_components() const override { return data().count != 0; }

    char* current_member_name() override;
    CORBA::TCKind current_member_kind() override;
    DynamicAny::NameValuePairSeq* get_members() override;
    void set_members(const DynamicAny::NameValuePairSeq& value) override;
    DynamicAny::NameDynAnyPairSeq* get_members_as_dyn_any() override;
    void set_members_as_dyn_any(const DynamicAny::NameDynAnyPairSeq& value) override;

  private:
    Components components_;
};

} // namespace kairos::dynany
