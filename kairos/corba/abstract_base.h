// SPDX-License-Identifier: Apache-2.0
//
// Abstract interfaces as users see them (CORBA 3.3 part 1, 12; C++ mapping 5.18.1): a pointer
// behind which there is an object reference or a value, which the receiver learns with it. Counted
// as what it is. Any thread, as for objects and values.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"
#include "kairos/types/any_access.h"
#include "kairos/types/any_value.h"
#include "kairos/values/marshal.h"

#include <concepts>

namespace kairos::corba {
class AbstractObject;
} // namespace kairos::corba

namespace CORBA {

class AbstractBase;
typedef AbstractBase* AbstractBase_ptr;

class KAIROS_API AbstractBase {
  public:
    typedef AbstractBase_ptr _ptr_type;
    typedef kairos::corba::AbstractObject _kairos_stub_type;

    AbstractBase(const AbstractBase&) = default;
    AbstractBase& operator=(const AbstractBase&) = delete;

    static AbstractBase_ptr _duplicate(AbstractBase_ptr object);
    static AbstractBase_ptr _narrow(AbstractBase_ptr object) { return _duplicate(object); }
    static AbstractBase_ptr _nil() { return nullptr; }

    /// The object, owned by the caller; nil if there is a value.
    [[nodiscard]] Object_ptr _to_object();
    /// The value, owned by the caller; null if there is an object.
    [[nodiscard]] ValueBase* _to_value();

    /// The object, borrowed; null if there is a value.
    [[nodiscard]] virtual Object* _kairos_object() { return nullptr; }
    /// The value, borrowed; null if there is an object.
    [[nodiscard]] virtual ValueBase* _kairos_value() { return nullptr; }

  protected:
    AbstractBase() = default;
    virtual ~AbstractBase() = default;
};

inline Boolean is_nil(AbstractBase_ptr object) { return object == nullptr; }
KAIROS_API void release(AbstractBase_ptr object);

/// References of interfaces that derive from abstract ones are both.
template <typename T>
    requires(std::derived_from<T, Object> && std::derived_from<T, AbstractBase>)
void release(T* object)
{
    release(static_cast<Object*>(object));
}
template <typename T>
    requires(std::derived_from<T, Object> && std::derived_from<T, AbstractBase>)
Boolean is_nil(T* object)
{
    return object == nullptr;
}

} // namespace CORBA

namespace kairos::corba {

/// Writes a boolean, and the reference (true) or the value (CORBA 3.3 part 2, 9.3.7). Null is a
/// value.
KAIROS_API void encode_abstract(cdr::Writer& out, CORBA::AbstractBase* object);

template <typename A>
struct KAIROS_API AbstractTraits {
    /// The boolean and the tag of null.
    static constexpr std::size_t wire_bytes_min = 5;

    [[nodiscard]] static A* duplicate(A* object)
    {
        (void)CORBA::AbstractBase::_duplicate(object);
        return object;
    }
    static void release(A* object) { CORBA::release(static_cast<CORBA::AbstractBase*>(object)); }
    [[noreturn]] static void raise_nil() { mapping::raise_nil_reference(); }
    static void encode(cdr::Writer& out, A* object) { encode_abstract(out, object); }
    [[nodiscard]] static A* decode(cdr::Reader& in);
};

template <typename A>
using AbstractVar = mapping::ObjectVar<A, AbstractTraits<A>>;
template <typename A>
using AbstractOut = mapping::ObjectOut<A, AbstractTraits<A>>;

template <typename A>
A* AbstractTraits<A>::decode(cdr::Reader& in)
{
    if (in.read<bool>()) return decode_reference<typename A::_kairos_stub_type>(in);
    return static_cast<A*>(values::decode(
        in, nullptr, [](CORBA::ValueBase* value) -> void* { return dynamic_cast<A*>(value); }));
}

/// A::_unchecked_narrow: believes the caller where there is an object.
template <typename A>
[[nodiscard]] A* unchecked_narrow_abstract(CORBA::AbstractBase* object)
{
    if (object == nullptr) return nullptr;
    if (A* same = dynamic_cast<A*>(object)) return AbstractTraits<A>::duplicate(same);
    return unchecked_narrow<typename A::_kairos_stub_type>(object->_kairos_object());
}

/// A::_narrow: nil if it does not have the interface. May ask the object.
template <typename A>
[[nodiscard]] A* narrow_abstract(CORBA::AbstractBase* object)
{
    if (object == nullptr) return nullptr;
    if (A* same = dynamic_cast<A*>(object)) return AbstractTraits<A>::duplicate(same);
    return narrow<typename A::_kairos_stub_type>(object->_kairos_object());
}

// --- In Any, which holds them all as AbstractBase ---

/// Adds an owner to what is behind the reference.
KAIROS_API void insert_abstract(CORBA::Any& any, CORBA::TypeCode_ptr type,
                                CORBA::AbstractBase* object);
/// Inserts what is behind the reference and takes over the caller's count, also when it throws.
KAIROS_API void insert_adopted_abstract(CORBA::Any& any, CORBA::TypeCode_ptr type,
                                        CORBA::AbstractBase* object);
/// Whether the Any holds a reference of an equivalent type; it keeps what `object` becomes.
[[nodiscard]] KAIROS_API bool extract_abstract_base(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                                    CORBA::AbstractBase*& object);

template <typename A>
[[nodiscard]] bool extract_abstract(const CORBA::Any& any, CORBA::TypeCode_ptr type, A*& object)
{
    CORBA::AbstractBase* base = nullptr;
    if (!extract_abstract_base(any, type, base)) return false;
    A* found = dynamic_cast<A*>(base);
    if (found == nullptr && base != nullptr) {
        if (base->_kairos_object() == nullptr) return false;
        const AbstractVar<A> stub = unchecked_narrow_abstract<A>(base);
        types::AnyAccess::add_copy(any, types::value_class<AbstractVar<A>>, &stub);
        found = stub.in();
    }
    object = found;
    return true;
}

/// Behind AbstractBase itself, which only streams of custom valuetypes name.
class KAIROS_API AbstractObject final : public CORBA::AbstractBase, public CORBA::Object {
  public:
    static constexpr const char* _kairos_id = CORBA::Object::_kairos_id;
    [[nodiscard]] CORBA::Object* _kairos_object() override { return this; }

  private:
    friend class StubFactory;
    explicit AbstractObject(StubArgument argument) : Object(argument) {}
};

} // namespace kairos::corba

namespace CORBA {
typedef kairos::corba::AbstractVar<AbstractBase> AbstractBase_var;
typedef kairos::corba::AbstractOut<AbstractBase> AbstractBase_out;
} // namespace CORBA

namespace kairos::mapping {

template <typename A>
using UnboundedAbstractSequence =
    Unbounded<PointerStorage<ObjectElements<A, corba::AbstractTraits<A>>>>;
template <typename A, CORBA::ULong bound>
using BoundedAbstractSequence =
    Bounded<PointerStorage<ObjectElements<A, corba::AbstractTraits<A>>>, bound>;

} // namespace kairos::mapping
