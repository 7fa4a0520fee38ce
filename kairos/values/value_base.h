// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes as users see them (C++ mapping, 5.17 "Mapping for Valuetypes"): ValueBase, the usual
// way of counting, factories, T_var and T_out. How they travel is in marshal.h. A value belongs to
// whoever counts it; its count may be changed by any thread, its state is the program's to guard.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/types.h"
#include "kairos/mapping/var.h"

#include <string_view>

namespace kairos::cdr {
class Reader;
class Writer;
} // namespace kairos::cdr

namespace CORBA {
class ValueBase;
} // namespace CORBA

namespace kairos::values {

/// What generated code says of a valuetype. Constant data.
struct KAIROS_API Type {
    const char* id;
    /// The concrete base that a receiver may truncate it to; null for none.
    const Type* truncated = nullptr;
    bool is_custom = false;
    /// Makes a value box, which needs no factory; null for all others.
    CORBA::ValueBase* (*create)() = nullptr;

    /// Whether the state must be sent in chunks (CORBA 3.3 part 2, 9.3.4.6).
    [[nodiscard]] constexpr bool is_chunked() const noexcept
    {
        return is_custom || truncated != nullptr;
    }
};

/// Makes a value box known to the process, which so needs no factory where IDL does not name it: in
/// an Any, as a ValueBase. Generated code has one of each, for the life of its library.
class KAIROS_API KnownBox {
  public:
    explicit KnownBox(const Type& type) noexcept;
    KnownBox(const KnownBox&) = delete;
    KnownBox& operator=(const KnownBox&) = delete;
    ~KnownBox();

  private:
    friend const Type* known_box(std::string_view id) noexcept;

    const Type& type_;
    KnownBox* next_ = nullptr;
};

} // namespace kairos::values

namespace CORBA {

/// Base of all values. The program implements counting, usually by DefaultValueRefCountBase.
class KAIROS_API ValueBase {
  public:
    ValueBase& operator=(const ValueBase&) = delete;

    virtual void _add_ref() = 0;
    virtual void _remove_ref() = 0;
    /// A deep copy, owned by the caller.
    virtual ValueBase* _copy_value() = 0;
    virtual ULong _refcount_value() = 0;

    static ValueBase* _downcast(ValueBase* value) { return value; }

    /// The most derived IDL type.
    [[nodiscard]] virtual const kairos::values::Type& _kairos_type() const = 0;
    /// Writes and reads the state, that of the bases first.
    virtual void _kairos_encode(kairos::cdr::Writer& out) const = 0;
    virtual void _kairos_decode(kairos::cdr::Reader& in) = 0;
    /// Gives back every value that the state holds: what was read in vain may be a cycle.
    virtual void _kairos_clear() {}

  protected:
    ValueBase() = default;
    ValueBase(const ValueBase&) = default;
    virtual ~ValueBase() = default;
};

inline void add_ref(ValueBase* value)
{
    if (value != nullptr) value->_add_ref();
}
inline void remove_ref(ValueBase* value)
{
    if (value != nullptr) value->_remove_ref();
}

/// Counts in the usual way: starts with one owner, is deleted by the last.
class KAIROS_API DefaultValueRefCountBase : public virtual ValueBase {
  public:
    void _add_ref() override { count_.add(); }
    void _remove_ref() override
    {
        if (count_.drop()) delete this;
    }
    ULong _refcount_value() override { return count_.count(); }

  protected:
    DefaultValueRefCountBase() = default;
    DefaultValueRefCountBase(const DefaultValueRefCountBase& other) : ValueBase(other) {}
    ~DefaultValueRefCountBase() override = default;

  private:
    kairos::RefCount count_;
};

class ValueFactoryBase;
typedef ValueFactoryBase* ValueFactory;

/// Makes values of one type when they are received. Counted: starts with one owner.
class KAIROS_API ValueFactoryBase {
  public:
    ValueFactoryBase(const ValueFactoryBase&) = delete;
    ValueFactoryBase& operator=(const ValueFactoryBase&) = delete;

    virtual void _add_ref() { count_.add(); }
    virtual void _remove_ref()
    {
        if (count_.drop()) delete this;
    }
    static ValueFactory _downcast(ValueFactory factory) { return factory; }

    /// What the ORB calls.
    [[nodiscard]] ValueBase* _kairos_create() { return create_for_unmarshal(); }

  protected:
    ValueFactoryBase() = default;
    virtual ~ValueFactoryBase() = default;

  private:
    /// A value whose state is about to be read into it, owned by the caller.
    virtual ValueBase* create_for_unmarshal() = 0;

    kairos::RefCount count_;
};

} // namespace CORBA

namespace kairos::values {

/// How values of type T are shared and, by marshal.h, sent.
template <typename T>
struct KAIROS_API ValueTraits {
    /// The tag of null.
    static constexpr std::size_t wire_bytes_min = 4;

    [[nodiscard]] static T* duplicate(T* value)
    {
        if (value != nullptr) value->_add_ref();
        return value;
    }
    static void release(T* value)
    {
        if (value != nullptr) value->_remove_ref();
    }
    [[noreturn]] static void raise_nil() { mapping::raise_null_value(); }
    static void encode(cdr::Writer& out, T* value);
    /// Reads a value, owned by the caller; null for null or when `in` has failed. Throws MARSHAL 1
    /// where there is no factory, and what a factory or a custom value throws.
    [[nodiscard]] static T* decode(cdr::Reader& in);
};

/// T_var: a T* given to it is adopted, another Var adds an owner.
template <typename T>
using Var = mapping::ObjectVar<T, ValueTraits<T>>;
template <typename T>
using Out = mapping::ObjectOut<T, ValueTraits<T>>;

} // namespace kairos::values

namespace kairos::mapping {

template <typename T>
using UnboundedValueSequence = Unbounded<PointerStorage<ObjectElements<T, values::ValueTraits<T>>>>;
template <typename T, CORBA::ULong bound>
using BoundedValueSequence =
    Bounded<PointerStorage<ObjectElements<T, values::ValueTraits<T>>>, bound>;

} // namespace kairos::mapping

namespace CORBA {

typedef kairos::values::Var<ValueBase> ValueBase_var;
typedef kairos::values::Out<ValueBase> ValueBase_out;
typedef kairos::values::Var<ValueFactoryBase> ValueFactoryBase_var;
typedef ValueFactoryBase_var ValueFactory_var;

} // namespace CORBA
