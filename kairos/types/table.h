// SPDX-License-Identifier: Apache-2.0
//
// Constant tables that describe C++ values of IDL types to the interpreter (interpreter.h): what is
// where in the value and how it travels. One Table a type, made at compile time; never changed, so
// any thread may read it. Types of fixed length are described by their Block (mapping/block.h), as
// in compiled code.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/marshal.h"

#include <cstdint>
#include <new>

namespace kairos::types {

/// What the interpreter does with a value. `detail` and `count` of its Table say with what.
enum class Op : std::uint8_t {
    functions, ///< calls the type's own code: Functions
    number1,   ///< octets
    number2,
    number4,
    number8,
    boolean,
    character,            ///< char
    enumerator,           ///< `count` enumerators
    block,                ///< fixed length: Block
    string,               ///< a member: never null, of at most `count` characters if that is not 0
    text,                 ///< a parameter: null at first, always the holder's own
    wide_text,            ///< a parameter, of wide characters: null at first, the holder's own
    sequence_of_blocks,   ///< Block of an element; at most `count` elements if that is not 0
    strings,              ///< a sequence of strings, neither bounded; Table of a string
    sequence_of_strings,  ///< some bounded; Table of a string; pointers in a PointerStorage
    sequence_of_pointers, ///< Table of what owns one pointer; pointers in a PointerStorage
    sequence,             ///< Table of an element
    array,                ///< Table of an element; `count` elements
    structure,            ///< Members, `count` of them
};

/// The code of a type that has its own, for tables that contain it.
struct KAIROS_API Functions {
    void (*encode)(cdr::Writer& out, const void* value);
    /// The arena, which may be null, is for types that can be views (mapping::Lendable).
    void (*decode)(cdr::Reader& in, void* value, Arena* arena);
    void (*construct)(void* storage);
    void (*destroy)(void* value);
};

struct KAIROS_API Table {
    Op op;
    bool is_trivial : 1;   ///< nothing to do when a value's life ends
    bool is_recursive : 1; ///< may contain its like: nesting is counted
    bool is_array : 1;     ///< made by new[]
    bool is_viewable : 1;  ///< can be decoded into what is not to be destroyed
    std::uint8_t alignment;
    std::uint32_t size; ///< of the C++ value
    const void* detail;
    std::uint32_t count;
    std::uint32_t wire_bytes_min;

    [[nodiscard]] const Functions& functions() const
    {
        return *static_cast<const Functions*>(detail);
    }
    [[nodiscard]] const mapping::Block& block() const
    {
        return *static_cast<const mapping::Block*>(detail);
    }
    [[nodiscard]] const Table& element() const { return *static_cast<const Table*>(detail); }
};

/// A member of a structure, or several strings of one type, one behind the other.
struct KAIROS_API Member {
    const Table* table;
    std::uint32_t offset;
    std::uint32_t count = 1;
};

template <typename T>
inline constexpr Functions functions_of{
    [](cdr::Writer& out, const void* value) {
        mapping::Marshal<T>::encode(out, *static_cast<const T*>(value));
    },
    [](cdr::Reader& in, void* value, [[maybe_unused]] Arena* arena) {
        if constexpr (mapping::Viewable<T>) {
            mapping::decode(in, *static_cast<T*>(value), arena);
        } else {
            mapping::Marshal<T>::decode(in, *static_cast<T*>(value));
        }
    },
    [](void* storage) { ::new (storage) T(); },
    [](void* value) {
        using Element = std::remove_all_extents_t<T>;
        mapping::destroy_elements(static_cast<Element*>(value), sizeof(T) / sizeof(Element));
    },
};

/// The table of a type whose parts are `detail`.
template <typename T>
[[nodiscard]] constexpr Table make_table(Op op, const void* detail, std::size_t count,
                                         std::size_t wire_bytes_min, bool is_recursive = false)
{
    return {op,
            std::is_trivially_destructible_v<T>,
            is_recursive,
            std::is_array_v<T>,
            mapping::Viewable<T>,
            alignof(T),
            sizeof(T),
            detail,
            static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(wire_bytes_min)};
}
/// The table of a struct, from the array of its members. Its `count` is the array's.
template <typename T, std::size_t count>
[[nodiscard]] constexpr Table make_table(const Member (&members)[count], bool is_recursive)
{
    return make_table<T>(Op::structure, members, count, mapping::Marshal<T>::wire_bytes_min,
                         is_recursive);
}

/// The table of T. That of an interpreted struct is specialised by generated code.
template <typename T>
struct KAIROS_API TableOf {
    static constexpr Table table =
        make_table<T>(Op::functions, &functions_of<T>, 0, mapping::Marshal<T>::wire_bytes_min);
};

KAIROS_API extern const Table number1_table;
KAIROS_API extern const Table number2_table;
KAIROS_API extern const Table number4_table;
KAIROS_API extern const Table number8_table;
KAIROS_API extern const Table boolean_table;
KAIROS_API extern const Table character_table;

template <mapping::Scalar T>
struct TableOf<T> {
    static constexpr const Table& table = std::same_as<T, bool>   ? boolean_table
                                          : std::same_as<T, char> ? character_table
                                          : sizeof(T) == 1        ? number1_table
                                          : sizeof(T) == 2        ? number2_table
                                          : sizeof(T) == 4        ? number4_table
                                                                  : number8_table;
};

template <typename T>
    requires std::is_enum_v<T> && requires { mapping::Marshal<T>::enumerators; }
struct KAIROS_API TableOf<T> {
    static constexpr Table table =
        make_table<T>(Op::enumerator, nullptr, mapping::Marshal<T>::enumerators, 4);
};

template <mapping::FixedLength T>
    requires(!mapping::Scalar<T> && !std::is_enum_v<T>)
struct TableOf<T> {
    static constexpr Table table =
        make_table<T>(Op::block, &mapping::block_of<T>, 1, mapping::Marshal<T>::wire_bytes_min);
};

/// The table of a string parameter.
template <typename Char>
[[nodiscard]] constexpr Table make_text_table(Op op, CORBA::ULong bound, std::size_t wire_bytes_min)
{
    Table table = make_table<mapping::TextOwner<Char, false>>(op, nullptr, bound, wire_bytes_min);
    table.is_viewable = true;
    return table;
}

KAIROS_API extern const Table unbounded_string_table;
KAIROS_API extern const Table unbounded_text_table;

template <CORBA::ULong bound>
struct KAIROS_API StringTable {
    static constexpr Table member =
        make_table<mapping::StringMember>(Op::string, nullptr, bound, 5);
    static constexpr Table parameter = make_text_table<char>(Op::text, bound, 5);
};
template <>
struct KAIROS_API StringTable<0> {
    static constexpr const Table& member = unbounded_string_table;
    static constexpr const Table& parameter = unbounded_text_table;
};

template <>
struct KAIROS_API TableOf<mapping::StringMember> {
    static constexpr const Table& table = StringTable<0>::member;
};
template <CORBA::ULong bound>
struct KAIROS_API TableOf<mapping::BoundedStringMember<bound>> {
    static constexpr const Table& table = StringTable<bound>::member;
};
/// A string parameter is none of the above: `char*` or `wchar_t*`, owned where the mapping says so.
template <typename Char, CORBA::ULong bound>
struct TextParameter;
template <CORBA::ULong bound>
struct KAIROS_API TableOf<TextParameter<char, bound>> {
    static constexpr const Table& table = StringTable<bound>::parameter;
};
template <CORBA::ULong bound>
struct KAIROS_API TableOf<TextParameter<wchar_t, bound>> {
    static constexpr Table table = make_text_table<wchar_t>(Op::wide_text, bound, 4);
};

/// What sequences of this storage, and of a bound, contain; not there for storages that have code
/// of their own.
template <typename Storage>
struct ElementsOf;
template <typename T>
struct KAIROS_API ElementsOf<mapping::ValueStorage<T>> {
    static constexpr bool is_bulk = mapping::FixedLength<T> && !std::is_array_v<T>;
    static constexpr Op op(CORBA::ULong) { return is_bulk ? Op::sequence_of_blocks : Op::sequence; }
    static constexpr const void* detail()
    {
        if constexpr (is_bulk) {
            return &mapping::block_of<T>;
        } else {
            return &TableOf<T>::table;
        }
    }
};
template <CORBA::ULong string_bound>
struct KAIROS_API ElementsOf<mapping::PointerStorage<mapping::StringElements<string_bound>>> {
    static constexpr Op op(CORBA::ULong bound)
    {
        return bound == 0 && string_bound == 0 ? Op::strings : Op::sequence_of_strings;
    }
    static constexpr const void* detail() { return &StringTable<string_bound>::member; }
};
template <typename T>
struct KAIROS_API ElementsOf<mapping::PointerStorage<mapping::ObjectElements<T>>> {
    static constexpr Op op(CORBA::ULong) { return Op::sequence_of_pointers; }
    static constexpr const void* detail() { return &TableOf<mapping::ObjectVar<T>>::table; }
};

template <typename Sequence>
    requires requires { ElementsOf<typename Sequence::kairos_storage>::op(0); }
struct KAIROS_API TableOf<Sequence> {
    using Elements = ElementsOf<typename Sequence::kairos_storage>;
    static_assert(mapping::is_sequence_layout<Sequence>);
    static constexpr Table table = make_table<Sequence>(
        Elements::op(Sequence::kairos_bound), Elements::detail(), Sequence::kairos_bound, 4);
};

/// All dimensions as one.
template <typename T, std::size_t count>
    requires(!mapping::FixedLength<T[count]>)
struct TableOf<T[count]> {
    using Element = std::remove_all_extents_t<T>;
    static constexpr Table table = make_table<T[count]>(Op::array, &TableOf<Element>::table,
                                                        sizeof(T[count]) / sizeof(Element),
                                                        mapping::Marshal<T[count]>::wire_bytes_min);
};

} // namespace kairos::types
