// SPDX-License-Identifier: Apache-2.0
//
// DynSequence and DynArray. What holds numbers keeps them in one piece until somebody asks for one
// of them alone.
#pragma once

#include "kairos/dynany/node.h"

#include <cstdint>

namespace kairos::dynany {

class Elements : public Node {
  public:
    void read(Input& in) override;
    void write(Output& out) override;
    [[nodiscard]] bool same(Node& other, Compared& compared) override;
    void clear() noexcept override { components_.clear(); }
    [[nodiscard]] CORBA::ULong count() override;
    [[nodiscard]] Node& at(CORBA::ULong index) override { return *expanded()[index]; }
    [[nodiscard]] Elements* as_elements() noexcept override { return this; }

    [[nodiscard]] bool is_array() const noexcept { return kind() == CORBA::tk_array; }
    [[nodiscard]] CORBA::TCKind element_kind() const;
    /// Throws InvalidValue unless there can be so many elements.
    void require_length(CORBA::ULong length) const;

  protected:
    Elements(Tree& tree, const CORBA::TypeCode& type);

    /// Adds elements of default value, or destroys those at the end.
    void resize(CORBA::ULong length);
    template <typename Sequence>
    [[nodiscard]] Sequence* values();
    template <typename Sequence>
    [[nodiscard]] Sequence* nodes();
    /// Of Anys or DynAnys, of the elements' type each.
    template <typename Sequence>
    void set_elements_to(const Sequence& elements);

  private:
    /// Where the elements are.
    enum class Form : std::uint8_t {
        defaults,   ///< nowhere: those of an array that nobody has set
        packed,     ///< numbers, in `packed_`
        components, ///< in `components_`
    };

    [[nodiscard]] Components& expanded();
    void pack_defaults();

    Form form_;
    CORBA::Any packed_;
    Components components_;
};

/// The operations that the two have in common, in an interface each.
template <typename Interface>
class ElementsOf : public Elements, public virtual Interface {
  public:
    ElementsOf(Tree& tree, const CORBA::TypeCode& type) : Elements(tree, type) {}

    DynamicAny::AnySeq* get_elements() override;
    void set_elements(const DynamicAny::AnySeq& value) override;
    DynamicAny::DynAnySeq* get_elements_as_dyn_any() override;
    void set_elements_as_dyn_any(const DynamicAny::DynAnySeq& value) override;
};

using Array = ElementsOf<DynamicAny::DynArray>;

class Sequence final : public ElementsOf<DynamicAny::DynSequence> {
  public:
    using ElementsOf::ElementsOf;

    CORBA::ULong get_length() override;
    void set_length(CORBA::ULong len) override;
};

} // namespace kairos::dynany
