// SPDX-License-Identifier: Apache-2.0
//
// IDL arrays are C++ arrays, handled through pointers to their first slice (C++ mapping, 5.16):
// how they are made, copied and owned. A is the array type, int[3][2] for instance.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/types.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

/// `to = from` for anything, arrays of arrays included.
template <typename T>
void assign(T& to, const T& from)
{
    if constexpr (std::is_array_v<T>) {
        for (std::size_t i = 0; i < std::extent_v<T>; ++i)
            assign(to[i], from[i]);
    } else {
        to = from;
    }
}

template <typename A>
using ArraySlice = std::remove_extent_t<A>;

/// The array that a pointer to its first slice stands for.
template <typename A>
[[nodiscard]] A& as_array(ArraySlice<A>* slices) noexcept
{
    return *reinterpret_cast<A*>(slices);
}
template <typename A>
[[nodiscard]] const A& as_array(const ArraySlice<A>* slices) noexcept
{
    return *reinterpret_cast<const A*>(slices);
}

template <typename A>
[[nodiscard]] ArraySlice<A>* array_alloc()
{
    return new ArraySlice<A>[std::extent_v<A>];
}
template <typename A>
void array_copy(ArraySlice<A>* to, const ArraySlice<A>* from)
{
    for (std::size_t i = 0; i < std::extent_v<A>; ++i)
        assign(to[i], from[i]);
}
template <typename A>
[[nodiscard]] ArraySlice<A>* array_dup(const ArraySlice<A>* from)
{
    if (from == nullptr) return nullptr;
    ArraySlice<A>* copy = array_alloc<A>();
    try {
        array_copy<A>(copy, from);
    } catch (...) {
        delete[] copy;
        throw;
    }
    return copy;
}
template <typename A>
void array_free(ArraySlice<A>* slices) noexcept
{
    delete[] slices;
}

/// What T_var and T_forany of an array have in common: the access to its elements. Each of them
/// says whose the array is.
template <typename A>
class KAIROS_API ArrayAccess {
    using Slice = ArraySlice<A>;

  public:
    template <typename Index>
        requires std::is_integral_v<Index>
    Slice& operator[](Index index) noexcept
    {
        return slices_[index];
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    const Slice& operator[](Index index) const noexcept
    {
        return slices_[index];
    }
    operator Slice*() noexcept { return slices_; }
    operator const Slice*() const noexcept { return slices_; }

    [[nodiscard]] const Slice* in() const noexcept { return slices_; }
    [[nodiscard]] Slice* inout() noexcept { return slices_; }
    [[nodiscard]] Slice* ptr() const noexcept { return slices_; }
    [[nodiscard]] Slice* _retn() noexcept { return std::exchange(slices_, nullptr); }

  protected:
    ArrayAccess() noexcept = default;
    explicit ArrayAccess(Slice* slices) noexcept : slices_(slices) {}
    ArrayAccess(const ArrayAccess&) noexcept = default;
    ArrayAccess& operator=(const ArrayAccess&) noexcept = default;
    ~ArrayAccess() = default;

    Slice* slices_ = nullptr;
};

/// T_var of an array.
template <typename A>
class KAIROS_API ArrayVar : public ArrayAccess<A> {
    using Slice = ArraySlice<A>;

  public:
    ArrayVar() noexcept = default;
    ArrayVar(Slice* slices) noexcept : ArrayAccess<A>(slices) {}
    ArrayVar(const ArrayVar& other) : ArrayAccess<A>(array_dup<A>(other.slices_)) {}
    ArrayVar(ArrayVar&& other) noexcept : ArrayAccess<A>(other._retn()) {}
    ~ArrayVar() { array_free<A>(slices_); }

    ArrayVar& operator=(Slice* slices) noexcept
    {
        if (slices != slices_) array_free<A>(std::exchange(slices_, slices));
        return *this;
    }
    ArrayVar& operator=(const ArrayVar& other)
    {
        if (this != &other) *this = array_dup<A>(other.slices_);
        return *this;
    }
    ArrayVar& operator=(ArrayVar&& other) noexcept
    {
        std::swap(slices_, other.slices_);
        return *this;
    }

  protected:
    using ArrayAccess<A>::slices_;
};

/// T_var of an array of elements of fixed length: a callee writes into it.
template <typename A>
class KAIROS_API FixedArrayVar : public ArrayVar<A> {
  public:
    using ArrayVar<A>::ArrayVar;
    using ArrayVar<A>::operator=;

    ArraySlice<A>* out()
    {
        if (this->slices_ == nullptr) this->slices_ = array_alloc<A>();
        return this->slices_;
    }
};

/// T_var of an array of elements of variable length: a callee only assigns.
template <typename A>
class KAIROS_API VariableArrayVar : public ArrayVar<A> {
  public:
    using ArrayVar<A>::ArrayVar;
    using ArrayVar<A>::operator=;

    ArraySlice<A>*& out() noexcept
    {
        *this = static_cast<ArraySlice<A>*>(nullptr);
        return this->slices_;
    }
};

/// T_out of an array of elements of variable length: null at first.
template <typename A>
class KAIROS_API VariableArrayOut {
    using Slice = ArraySlice<A>;

  public:
    VariableArrayOut(Slice*& slices) noexcept : slices_(slices) { slices_ = nullptr; }
    VariableArrayOut(VariableArrayVar<A>& slices) noexcept : slices_(slices.out()) {}
    VariableArrayOut(const VariableArrayOut&) = default;

    VariableArrayOut& operator=(const VariableArrayOut& other) noexcept
    {
        slices_ = other.slices_;
        return *this;
    }
    VariableArrayOut& operator=(Slice* slices) noexcept
    {
        slices_ = slices;
        return *this;
    }
    /// Deleted: a T_var would free its array, too. Use _retn() or T_dup.
    void operator=(const VariableArrayVar<A>&) = delete;

    operator Slice*&() noexcept { return slices_; }
    template <typename Index>
        requires std::is_integral_v<Index>
    Slice& operator[](Index index) noexcept
    {
        return slices_[index];
    }
    [[nodiscard]] Slice*& ptr() noexcept { return slices_; }

  private:
    Slice*& slices_;
};

/// T_forany: the distinct type by which an array goes into an Any. `Tag` tells two typedefs of the
/// same array apart. Never frees: the Any or the user does.
template <typename A, typename Tag>
class KAIROS_API ArrayForany : public ArrayAccess<A> {
    using Slice = ArraySlice<A>;

  public:
    ArrayForany() noexcept = default;
    ArrayForany(Slice* slices, CORBA::Boolean nocopy = false) noexcept
        : ArrayAccess<A>(slices), nocopy_(nocopy)
    {
    }

    ArrayForany& operator=(Slice* slices) noexcept
    {
        slices_ = slices;
        nocopy_ = false;
        return *this;
    }

    Slice*& out() noexcept
    {
        slices_ = nullptr;
        return slices_;
    }
    [[nodiscard]] CORBA::Boolean nocopy() const noexcept { return nocopy_; }

  private:
    using ArrayAccess<A>::slices_;
    CORBA::Boolean nocopy_ = false;
};

} // namespace kairos::mapping
