// SPDX-License-Identifier: Apache-2.0
//
// What generated union classes (C++ mapping 1.3, 1.12) have in common. Such a class holds its
// discriminator and, within a C++ union, the member that this selects; what generated code knows
// is which label selects which member (_kairos_member, -1 for none) and how to reach the selected
// one (_kairos_visit). Values: one thread. Stations 1 and 10 of the request walk.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/array.h"
#include "kairos/mapping/lifetime.h"
#include "kairos/mapping/marshal.h"

#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

/// Throw BAD_PARAM.
[[noreturn]] KAIROS_API void raise_member_not_selected();
[[noreturn]] KAIROS_API void raise_label_of_other_member();

/// The private parts of generated unions, whose friend it is. U is such a union; members are known
/// by their numbers in the order of the IDL.
struct KAIROS_API UnionAccess {
    template <typename U>
    [[nodiscard]] static constexpr int selected(const U& value) noexcept
    {
        return U::_kairos_member(value._kairos_label);
    }

    /// Called by accessors: throws BAD_PARAM if `member` is not the selected one.
    template <typename U>
    static void require(const U& value, int member)
    {
        if (selected(value) != member) [[unlikely]]
            raise_member_not_selected();
    }

    /// Does what the modifier _d() does: the label may be another of the selected member only.
    template <typename U, typename Label>
    static void relabel(U& value, Label label)
    {
        require_same_member<U>(label, selected(value));
        value._kairos_label = label;
    }

    // --- Life of the selected member; a union without one is nothing but its label -------------

    /// Makes the member that the label selects, of value 0, empty or nil.
    template <typename U>
    static void create(U& value) noexcept
    {
        U::_kairos_visit(value, [](auto& member) {
            using T = std::remove_reference_t<decltype(member)>;
            using Element = std::remove_all_extents_t<T>;
            static_assert(std::is_nothrow_default_constructible_v<Element>);
            construct_elements(first_element(member), element_count<T>);
        });
    }
    template <typename U>
    static void destroy(U& value) noexcept
    {
        if constexpr (!std::is_trivially_destructible_v<U>)
            U::_kairos_visit(value, [](auto& member) {
                using T = std::remove_reference_t<decltype(member)>;
                destroy_elements(first_element(member), element_count<T>);
            });
    }
    /// `value` has no member yet.
    template <typename U>
    static void copy(U& value, const U& from)
    {
        value._kairos_label = from._kairos_label;
        U::_kairos_visit(from, [&value](const auto& member) {
            using T = std::remove_cvref_t<decltype(member)>;
            copy_construct_elements(place<std::remove_all_extents_t<T>>(value),
                                    first_element(member), element_count<T>);
        });
    }
    /// `value` has no member yet.
    template <typename U>
    static void take(U& value, U& from) noexcept
    {
        value._kairos_label = from._kairos_label;
        U::_kairos_visit(from, [&value](auto& member) {
            using T = std::remove_reference_t<decltype(member)>;
            using Element = std::remove_all_extents_t<T>;
            static_assert(std::is_nothrow_move_constructible_v<Element>);
            move_construct_elements(place<Element>(value), first_element(member), element_count<T>);
        });
    }

    // --- Assignment. What is assigned may be part of what it replaces: it is copied first -------

    // Out of line: g++ 12 warns of members that are not the selected one where it inlines this.
    template <typename U>
    [[gnu::noinline]] static U& assign(U& value, const U& from)
    {
        if (&value == &from) return value;
        U copied(from);
        destroy(value);
        take(value, copied);
        return value;
    }
    template <typename U>
    [[gnu::noinline]] static U& assign(U& value, std::type_identity_t<U>&& from) noexcept
    {
        if (&value == &from) return value;
        U taken(std::move(from));
        destroy(value);
        take(value, taken);
        return value;
    }

    /// The modifier of a member: `storage` is where it lives, `label` the one it gets.
    template <typename U, typename T, typename Label, typename V>
    static void set(U& value, int member, T& storage, Label label, V&& from)
    {
        T taken(std::forward<V>(from));
        static_assert(std::is_nothrow_move_constructible_v<T>);
        if (selected(value) == member) {
            storage = std::move(taken);
        } else {
            destroy(value);
            ::new (static_cast<void*>(&storage)) T(std::move(taken));
        }
        value._kairos_label = label;
    }
    template <typename U, typename T, typename Label>
    static void set_array(U& value, int member, T& storage, Label label, const ArraySlice<T>* from)
    {
        if constexpr (std::is_trivially_destructible_v<U>) {
            std::memmove(static_cast<void*>(&storage), static_cast<const void*>(from), sizeof(T));
        } else if constexpr (sizeof(T) > array_on_stack_max) {
            const ArrayVar<T> taken = array_dup<T>(from);
            replace_array(value, member, storage, as_array<T>(taken.ptr()));
        } else {
            T taken;
            array_copy<T>(taken, from);
            replace_array(value, member, storage, taken);
        }
        value._kairos_label = label;
    }
    /// Does what _default() does: leaves the union without a member.
    template <typename U, typename Label>
    static void set_none(U& value, Label label) noexcept
    {
        destroy(value);
        value._kairos_label = label;
    }

    // --- CDR: the discriminator and the member it selects, if any (CORBA 3.3 part 2, 9.3.2.2) ---

    template <typename U>
    static void encode(cdr::Writer& out, const U& value)
    {
        mapping::encode(out, value._kairos_label);
        U::_kairos_visit(value, [&out](const auto& member) { mapping::encode(out, member); });
    }
    /// Reads a union. A discriminator outside its own type is refused; one without a case is not.
    template <typename U>
    static void decode(cdr::Reader& in, U& value)
    {
        typename U::_kairos_discriminator label{};
        mapping::decode(in, label);
        if (!in.ok()) [[unlikely]]
            return;
        const bool keeps_member = U::_kairos_member(label) == selected(value);
        if (!keeps_member) destroy(value);
        value._kairos_label = label;
        if (!keeps_member) create(value);
        U::_kairos_visit(value, [&in](auto& member) { mapping::decode(in, member); });
    }

  private:
    /// Larger arrays are not copied by way of the stack.
    static constexpr std::size_t array_on_stack_max = std::size_t{16} << 10;

    template <typename T>
    static constexpr std::size_t element_count = sizeof(T) / sizeof(std::remove_all_extents_t<T>);

    /// The first element of a member that is an array, however many dimensions it has; any other
    /// member itself.
    template <typename T>
    [[nodiscard]] static auto* first_element(T& member) noexcept
    {
        return reinterpret_cast<std::remove_all_extents_t<T>*>(&member);
    }
    /// All members are at the same place.
    template <typename Element, typename U>
    [[nodiscard]] static Element* place(U& value) noexcept
    {
        return reinterpret_cast<Element*>(&value._kairos_members);
    }
    template <typename U, typename Label>
    static void require_same_member(Label label, int member)
    {
        if (U::_kairos_member(label) != member) [[unlikely]]
            raise_label_of_other_member();
    }
    template <typename U, typename T>
    static void replace_array(U& value, int member, T& storage, T& from)
    {
        if (selected(value) == member)
            destroy_elements(first_element(storage), element_count<T>);
        else
            destroy(value);
        move_construct_elements(first_element(storage), first_element(from), element_count<T>);
    }
};

} // namespace kairos::mapping
