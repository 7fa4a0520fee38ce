// SPDX-License-Identifier: Apache-2.0
//
// What every DynAny is to this module: a node in a tree of components. There is a class for each
// way in which a kind of type has components, in a file of its name; Leaf has none. Everything that
// goes from one DynAny to another, or between one and an Any, goes through CDR (transfer.h).
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/dynany/DynamicAny.h"
#include "kairos/dynany/tree.h"

#include <set>
#include <utility>
#include <vector>

namespace kairos::dynany {

class Elements;
class Input;
class Leaf;
class Node;
class Output;
class ValueNode;
class ValueState;

using NodePtr = IntrusivePtr<Node>;
using DynamicAny::DynAny;

/// Owns a component: gone from here it is destroyed, whoever else refers to it.
class Component {
  public:
    explicit Component(NodePtr node) noexcept : node_(std::move(node)) {}
    Component(Component&& other) noexcept = default;
    Component& operator=(Component&& other) noexcept
    {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Component();

    [[nodiscard]] Node& operator*() const noexcept { return *node_; }
    Node* operator->() const noexcept { return node_.get(); }

  private:
    NodePtr node_;
};
using Components = std::vector<Component>;

/// Pairs of values that are taken to be equal while they are compared: they may hold themselves.
using Compared = std::set<std::pair<const ValueState*, const ValueState*>>;

class Node : public virtual DynamicAny::DynAny {
  public:
    void add_ref() noexcept { _add_ref(); }
    void release() noexcept { _remove_ref(); }

    // The value, as the classes below have it. Types were found to be equivalent.
    /// Replaces the value by the one that is read. Fails `in`, or throws, for what is none.
    virtual void read(Input& in) = 0;
    /// Writes the value as its type says.
    virtual void write(Output& out) = 0;
    [[nodiscard]] virtual bool same(Node& other, Compared& compared) = 0;
    /// Replaces the value by another DynAny's.
    virtual void take(Node& from);
    /// Destroys the components.
    virtual void clear() noexcept {}
    [[nodiscard]] virtual CORBA::ULong count() { return 0; }
    /// The component of this number, which is below `count`.
    [[nodiscard]] virtual Node& at(CORBA::ULong index);
    /// Whether there are values of this type that have components.
    [[nodiscard]] virtual bool can_have_components() const { return true; }
    [[nodiscard]] virtual Leaf* as_leaf() noexcept { return nullptr; }
    [[nodiscard]] virtual Elements* as_elements() noexcept { return nullptr; }
    [[nodiscard]] virtual ValueNode* as_value() noexcept { return nullptr; }

    /// Replaces the value by that of an Any of an equivalent type. Throws InvalidValue for what is
    /// none; MustTruncate for values that would become one of their bases, unless they may.
    virtual void load(const CORBA::Any& any, bool may_truncate = true);
    [[nodiscard]] virtual CORBA::Any store();
    /// Gives the DynAny an owner's part in its tree: it is no component, but what a factory made.
    void make_root(std::shared_ptr<Tree> tree) noexcept { root_of_ = std::move(tree); }
    /// From now on everything raises OBJECT_NOT_EXIST, for the components as well.
    void end() noexcept;
    /// The tree; null where the DynAny was destroyed, or the tree is ending.
    [[nodiscard]] std::shared_ptr<Tree> kept_tree() const noexcept;

    [[nodiscard]] CORBA::TypeCode& declared_type() const noexcept { return *type_.in(); }
    /// The parameters of the type, behind its aliases.
    [[nodiscard]] const types::TypeCodeData& data() const noexcept { return data_; }
    [[nodiscard]] CORBA::TCKind kind() const noexcept { return data_.kind; }
    /// The tree. Throws OBJECT_NOT_EXIST when the DynAny was destroyed.
    [[nodiscard]] Tree& tree() const;
    /// Throws TypeMismatch for types that are not equivalent to this one's.
    void require_type(CORBA::TypeCode_ptr type) const;

    CORBA::TypeCode_ptr type() override;
    void assign(DynamicAny::DynAny_ptr dyn_any) override;
    void from_any(const CORBA::Any& value) override;
    CORBA::Any* to_any() override;
    CORBA::Boolean equal(DynamicAny::DynAny_ptr dyn_any) override;
    void destroy() override;
    DynamicAny::DynAny_ptr copy() override;

    CORBA::Boolean seek(CORBA::Long index) override;
    void rewind() override;
    CORBA::Boolean next() override;
    CORBA::ULong component_count() override;
    DynamicAny::DynAny_ptr current_component() override;

    // scalars.cpp
    void insert_boolean(CORBA::Boolean value) override;
    void insert_octet(CORBA::Octet value) override;
    void insert_char(CORBA::Char value) override;
    void insert_short(CORBA::Short value) override;
    void insert_ushort(CORBA::UShort value) override;
    void insert_long(CORBA::Long value) override;
    void insert_ulong(CORBA::ULong value) override;
    void insert_float(CORBA::Float value) override;
    void insert_double(CORBA::Double value) override;
    void insert_string(const char* value) override;
    void insert_reference(CORBA::Object_ptr value) override;
    void insert_typecode(CORBA::TypeCode_ptr value) override;
    void insert_longlong(CORBA::LongLong value) override;
    void insert_ulonglong(CORBA::ULongLong value) override;
    void insert_longdouble(CORBA::LongDouble value) override;
    void insert_wchar(CORBA::WChar value) override;
    void insert_wstring(const CORBA::WChar* value) override;
    void insert_any(const CORBA::Any& value) override;
    void insert_dyn_any(DynamicAny::DynAny_ptr value) override;
    void insert_val(CORBA::ValueBase* value) override;
    void insert_abstract(CORBA::AbstractBase_ptr value) override;

    CORBA::Boolean get_boolean() override;
    CORBA::Octet get_octet() override;
    CORBA::Char get_char() override;
    CORBA::Short get_short() override;
    CORBA::UShort get_ushort() override;
    CORBA::Long get_long() override;
    CORBA::ULong get_ulong() override;
    CORBA::Float get_float() override;
    CORBA::Double get_double() override;
    char* get_string() override;
    CORBA::Object_ptr get_reference() override;
    CORBA::TypeCode_ptr get_typecode() override;
    CORBA::LongLong get_longlong() override;
    CORBA::ULongLong get_ulonglong() override;
    CORBA::LongDouble get_longdouble() override;
    CORBA::WChar get_wchar() override;
    CORBA::WChar* get_wstring() override;
    CORBA::Any* get_any() override;
    DynamicAny::DynAny_ptr get_dyn_any() override;
    CORBA::ValueBase* get_val() override;
    CORBA::AbstractBase_ptr get_abstract() override;

    // sequences.cpp
    void insert_boolean_seq(const CORBA::BooleanSeq& value) override;
    void insert_octet_seq(const CORBA::OctetSeq& value) override;
    void insert_char_seq(const CORBA::CharSeq& value) override;
    void insert_short_seq(const CORBA::ShortSeq& value) override;
    void insert_ushort_seq(const CORBA::UShortSeq& value) override;
    void insert_long_seq(const CORBA::LongSeq& value) override;
    void insert_ulong_seq(const CORBA::ULongSeq& value) override;
    void insert_float_seq(const CORBA::FloatSeq& value) override;
    void insert_double_seq(const CORBA::DoubleSeq& value) override;
    void insert_longlong_seq(const CORBA::LongLongSeq& value) override;
    void insert_ulonglong_seq(const CORBA::ULongLongSeq& value) override;
    void insert_longdouble_seq(const CORBA::LongDoubleSeq& value) override;
    void insert_wchar_seq(const CORBA::WCharSeq& value) override;
    CORBA::BooleanSeq* get_boolean_seq() override;
    CORBA::OctetSeq* get_octet_seq() override;
    CORBA::CharSeq* get_char_seq() override;
    CORBA::ShortSeq* get_short_seq() override;
    CORBA::UShortSeq* get_ushort_seq() override;
    CORBA::LongSeq* get_long_seq() override;
    CORBA::ULongSeq* get_ulong_seq() override;
    CORBA::FloatSeq* get_float_seq() override;
    CORBA::DoubleSeq* get_double_seq() override;
    CORBA::LongLongSeq* get_longlong_seq() override;
    CORBA::ULongLongSeq* get_ulonglong_seq() override;
    CORBA::LongDoubleSeq* get_longdouble_seq() override;
    CORBA::WCharSeq* get_wchar_seq() override;

  protected:
    Node(Tree& tree, const CORBA::TypeCode& type);
    ~Node() override;

    /// The component at the current position. Throws TypeMismatch where the type has none,
    /// InvalidValue where the position is -1.
    [[nodiscard]] Node& current();
    /// The number of the current component, -1 for none.
    [[nodiscard]] CORBA::Long position();

  private:
    /// What insert and get operations are about: the DynAny itself or its current component, if
    /// that is of this kind; else TypeMismatch.
    [[nodiscard]] Leaf& leaf(CORBA::TCKind kind);
    [[nodiscard]] ValueNode& value();
    /// The DynAny itself or its current component, if that is a sequence or array of such elements;
    /// else TypeMismatch.
    [[nodiscard]] Elements& elements(CORBA::TCKind element);
    template <typename T>
    void insert(CORBA::TCKind kind, const T& value);
    template <typename T>
    [[nodiscard]] T get(CORBA::TCKind kind);
    template <typename Sequence>
    void insert_sequence(CORBA::TCKind element, const Sequence& value);
    template <typename Sequence>
    [[nodiscard]] Sequence* get_sequence(CORBA::TCKind element);

    const CORBA::TypeCode_var type_;
    const types::TypeCodeData& data_;
    Tree* tree_; // null once destroyed
    std::shared_ptr<Tree> root_of_;
    CORBA::Long position_ = 0; // or behind the last component, which is as good as -1
};

/// Our DynAny behind a reference. Throws BAD_PARAM for nil and for objects of others,
/// OBJECT_NOT_EXIST for one that was destroyed.
[[nodiscard]] Node& node_of(DynamicAny::DynAny_ptr object);

/// A DynAny with the type's default value. Throws InconsistentTypeCode for types whose values
/// nobody can take apart, IMP_LIMIT for what is too large or nested too deeply.
[[nodiscard]] NodePtr make_node(Tree& tree, const CORBA::TypeCode& type);
/// The same as a tree of its own.
[[nodiscard]] NodePtr make_root(orb::Orb& core, const CORBA::TypeCode& type);
/// A tree with the value of an Any. Throws MustTruncate as `load` does.
[[nodiscard]] NodePtr make_root(orb::Orb& core, const CORBA::Any& any, bool may_truncate = true);

/// Throws IMP_LIMIT where what recurses would need more of the stack than there is.
void require_stack();

[[noreturn]] void raise_type_mismatch();
[[noreturn]] void raise_invalid_value();

} // namespace kairos::dynany
