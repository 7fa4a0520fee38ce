// SPDX-License-Identifier: Apache-2.0
//
// T_var and T_out of the C++ mapping (5.9.1 and 5.23): owners of values that travel as pointers.
// Generated code names them by typedefs; T may still be incomplete there. Not shared by threads.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/types.h"

#include <concepts>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

template <typename T>
class VariableOut;

/// What structs and sequences of either length have in common.
template <typename T>
class KAIROS_API ValueVar {
  public:
    ValueVar() noexcept = default;
    ValueVar(T* value) noexcept : value_(value) {}
    ValueVar(const T& value) : value_(new T(value)) {}
    ValueVar(const ValueVar& other) : value_(copy(other.value_)) {}
    ValueVar(ValueVar&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    ~ValueVar() { delete value_; }

    /// Adopts the value and deletes the one held before; one that is held already stays.
    ValueVar& operator=(T* value) noexcept
    {
        if (value != value_) delete std::exchange(value_, value);
        return *this;
    }
    ValueVar& operator=(const T& value)
    {
        if (&value != value_) *this = new T(value);
        return *this;
    }
    ValueVar& operator=(const ValueVar& other)
    {
        if (this != &other) *this = copy(other.value_);
        return *this;
    }
    ValueVar& operator=(ValueVar&& other) noexcept
    {
        std::swap(value_, other.value_);
        return *this;
    }

    T* operator->() noexcept { return value_; }
    const T* operator->() const noexcept { return value_; }
    operator T&() noexcept { return *value_; }
    operator const T&() const noexcept { return *value_; }

    /// Elements, where T is a sequence.
    template <typename Index>
        requires std::is_integral_v<Index>
    decltype(auto) operator[](Index index)
    {
        return (*value_)[static_cast<CORBA::ULong>(index)];
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    decltype(auto) operator[](Index index) const
    {
        return std::as_const(*value_)[static_cast<CORBA::ULong>(index)];
    }

    [[nodiscard]] const T& in() const noexcept { return *value_; }
    [[nodiscard]] T& inout() noexcept { return *value_; }
    [[nodiscard]] T* ptr() const noexcept { return value_; }

  protected:
    [[nodiscard]] static T* copy(const T* value)
    {
        return value == nullptr ? nullptr : new T(*value);
    }

    T* value_ = nullptr;
};

/// T_var of a struct of fixed length: `out` and results travel by value.
template <typename T>
class KAIROS_API FixedVar : public ValueVar<T> {
  public:
    using ValueVar<T>::ValueVar;
    using ValueVar<T>::operator=;

    T& out()
    {
        if (this->value_ == nullptr) this->value_ = new T();
        return *this->value_;
    }
    [[nodiscard]] T _retn() { return *this->value_; }
};

/// T_var of a struct of variable length or a sequence: `out` and results travel as pointers.
template <typename T>
class KAIROS_API VariableVar : public ValueVar<T> {
  public:
    using ValueVar<T>::ValueVar;
    using ValueVar<T>::operator=;

    operator T*&() noexcept { return this->value_; }
    /// Deletes what is held: a callee only assigns.
    T*& out() noexcept
    {
        *this = static_cast<T*>(nullptr);
        return this->value_;
    }
    [[nodiscard]] T* _retn() noexcept { return std::exchange(this->value_, nullptr); }
};

/// T_out of a struct of variable length or a sequence: null at first.
template <typename T>
class KAIROS_API VariableOut {
  public:
    VariableOut(T*& value) noexcept : value_(value) { value_ = nullptr; }
    VariableOut(VariableVar<T>& value) noexcept : value_(value.out()) {}
    VariableOut(const VariableOut&) = default;

    VariableOut& operator=(const VariableOut& other) noexcept
    {
        value_ = other.value_;
        return *this;
    }
    VariableOut& operator=(T* value) noexcept
    {
        value_ = value;
        return *this;
    }
    /// Deleted: a T_var would delete its value, too. Use _retn() or a copy.
    void operator=(const VariableVar<T>&) = delete;

    operator T*&() noexcept { return value_; }
    [[nodiscard]] T*& ptr() noexcept { return value_; }
    T* operator->() noexcept { return value_; }
    template <typename Index>
        requires std::is_integral_v<Index>
    decltype(auto) operator[](Index index)
    {
        return (*value_)[static_cast<CORBA::ULong>(index)];
    }

  private:
    T*& value_;
};

/// T_var of an object reference, and the type of reference members of structs and arrays. A T*
/// assigned to it is adopted; another ObjectVar is duplicated. The traits say how T is shared.
/// Another T's ObjectVar is not taken: it would give its only count away (5.9.1, 5.6.2).
template <typename T, typename Traits>
class KAIROS_API ObjectVar {
  public:
    ObjectVar() noexcept = default;
    ObjectVar(T* object) noexcept : object_(object) {}
    ObjectVar(const ObjectVar& other) : object_(Traits::duplicate(other.object_)) {}
    ObjectVar(ObjectVar&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <typename Other, typename OtherTraits>
    explicit ObjectVar(const ObjectVar<Other, OtherTraits>& other) = delete;
    /// Shares what an element of a sequence holds, as a sequence's elements and T_vars do.
    template <typename Elements>
        requires std::same_as<typename Elements::Owner, ObjectVar>
    ObjectVar(const PointerElement<Elements>& element) : object_(Traits::duplicate(element.in()))
    {
    }
    template <typename Elements>
        requires std::same_as<typename Elements::Owner, ObjectVar>
    ObjectVar(const ConstPointerElement<Elements>& element)
        : object_(Traits::duplicate(element.in()))
    {
    }
    ~ObjectVar() { Traits::release(object_); }

    /// Takes over a count of the caller's, also of the object that is held already: the variable
    /// has two counts of that then, and gives one back.
    ObjectVar& operator=(T* object)
    {
        Traits::release(std::exchange(object_, object));
        return *this;
    }
    template <typename Other, typename OtherTraits>
    ObjectVar& operator=(const ObjectVar<Other, OtherTraits>& other) = delete;
    ObjectVar& operator=(const ObjectVar& other)
    {
        if (this != &other)
            Traits::release(std::exchange(object_, Traits::duplicate(other.object_)));
        return *this;
    }
    ObjectVar& operator=(ObjectVar&& other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    template <typename Elements>
        requires std::same_as<typename Elements::Owner, ObjectVar>
    ObjectVar& operator=(const PointerElement<Elements>& element)
    {
        return *this = Traits::duplicate(element.in());
    }
    template <typename Elements>
        requires std::same_as<typename Elements::Owner, ObjectVar>
    ObjectVar& operator=(const ConstPointerElement<Elements>& element)
    {
        return *this = Traits::duplicate(element.in());
    }

    /// Throws INV_OBJREF for nil: the specification has nothing that a call through it could do.
    T* operator->() const
    {
        if (object_ == nullptr) [[unlikely]]
            Traits::raise_nil();
        return object_;
    }
    // By reference both: given T* here, compilers warn at every use that they chose the other.
    operator T* const&() const noexcept { return object_; }
    operator T*&() noexcept { return object_; }

    [[nodiscard]] T* in() const noexcept { return object_; }
    [[nodiscard]] T*& inout() noexcept { return object_; }
    /// Releases what is held: a callee only assigns.
    T*& out()
    {
        *this = static_cast<T*>(nullptr);
        return object_;
    }
    [[nodiscard]] T* ptr() const noexcept { return object_; }
    [[nodiscard]] T* _retn() noexcept { return std::exchange(object_, nullptr); }

  private:
    T* object_ = nullptr;
};

template <typename T>
using ObjectMember = ObjectVar<T>;

/// T_out of an object reference: nil at first.
template <typename T, typename Traits>
class KAIROS_API ObjectOut {
  public:
    ObjectOut(T*& object) noexcept : object_(object) { object_ = nullptr; }
    ObjectOut(ObjectVar<T, Traits>& object) : object_(object.out()) {}
    ObjectOut(const ObjectOut&) = default;

    ObjectOut& operator=(const ObjectOut& other) noexcept
    {
        object_ = other.object_;
        return *this;
    }
    ObjectOut& operator=(T* object) noexcept
    {
        object_ = object;
        return *this;
    }
    ObjectOut& operator=(const ObjectVar<T, Traits>& object)
    {
        object_ = Traits::duplicate(object.in());
        return *this;
    }
    template <typename Other, typename OtherTraits>
    ObjectOut& operator=(const ObjectVar<Other, OtherTraits>& object) = delete;

    operator T*&() noexcept { return object_; }
    [[nodiscard]] T*& ptr() noexcept { return object_; }
    T* operator->() const
    {
        if (object_ == nullptr) [[unlikely]]
            Traits::raise_nil();
        return object_;
    }

  private:
    T*& object_;
};

} // namespace kairos::mapping
