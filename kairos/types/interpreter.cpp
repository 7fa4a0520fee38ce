// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/interpreter.h"

#include <cstring>
#include <new>

namespace kairos::types {

using mapping::SequenceLayout;

constexpr Table number1_table = make_table<CORBA::Octet>(Op::number1, nullptr, 0, 1);
constexpr Table number2_table = make_table<CORBA::Short>(Op::number2, nullptr, 0, 2);
constexpr Table number4_table = make_table<CORBA::Long>(Op::number4, nullptr, 0, 4);
constexpr Table number8_table = make_table<CORBA::LongLong>(Op::number8, nullptr, 0, 8);
constexpr Table boolean_table = make_table<CORBA::Boolean>(Op::boolean, nullptr, 0, 1);
constexpr Table character_table = make_table<CORBA::Char>(Op::character, nullptr, 0, 1);
constexpr Table unbounded_string_table =
    make_table<mapping::StringMember>(Op::string, nullptr, 0, 5);
constexpr Table unbounded_text_table =
    make_table<mapping::StringOwner<false>>(Op::text, nullptr, 0, 5);

namespace {

[[nodiscard]] const std::byte* at(const void* value, std::size_t offset) noexcept
{
    return static_cast<const std::byte*>(value) + offset;
}
[[nodiscard]] std::byte* at(void* value, std::size_t offset) noexcept
{
    return static_cast<std::byte*>(value) + offset;
}
template <typename T>
[[nodiscard]] T load(const void* value) noexcept
{
    T loaded;
    std::memcpy(&loaded, value, sizeof loaded);
    return loaded;
}
template <typename T>
void store(void* value, T stored) noexcept
{
    std::memcpy(value, &stored, sizeof stored);
}

[[nodiscard]] const SequenceLayout& sequence_at(const void* value) noexcept
{
    return *static_cast<const SequenceLayout*>(value);
}
[[nodiscard]] SequenceLayout& sequence_at(void* value) noexcept
{
    return *static_cast<SequenceLayout*>(value);
}
[[nodiscard]] std::span<const Member> members_of(const Table& table) noexcept
{
    return {static_cast<const Member*>(table.detail), table.count};
}

// --- Elements that live on the heap ------------------------------------------------------------

/// In front of elements with a destructor, `new T[n]` keeps their number, for `delete[]`; so says
/// the C++ ABI that all compilers for our systems share (Itanium C++ ABI, 2.7, "Array Operator new
/// Cookies"). Where T is an array itself, the elements counted are those of T.
[[nodiscard]] std::size_t cookie_size(const Table& element) noexcept
{
    return std::max<std::size_t>(sizeof(std::size_t), element.alignment);
}

/// new T[count]
[[nodiscard]] void* allocate_values(const Table& element, std::size_t count)
{
    if (element.op == Op::array) return allocate_values(element.element(), count * element.count);
    if (element.is_trivial) return ::operator new[](count* element.size);
    const std::size_t cookie = cookie_size(element);
    void* const storage = ::operator new[](cookie + count * element.size);
    std::byte* const values = at(storage, cookie);
    store(values - sizeof count, count);
    for (std::size_t i = 0; i < count; ++i)
        construct_value(element, values + i * element.size);
    return values;
}

/// delete[]
void free_values(const Table& element, void* values) noexcept
{
    if (values == nullptr) return;
    if (element.op == Op::array) return free_values(element.element(), values);
    if (element.is_trivial) return ::operator delete[](values);
    auto count = load<std::size_t>(at(values, 0) - sizeof(std::size_t));
    while (count-- != 0)
        destroy_value(element, at(values, count * element.size));
    ::operator delete[](at(values, 0) - cookie_size(element));
}

/// PointerStorage::allocate
[[nodiscard]] void* allocate_pointers(const Table& element, std::size_t count)
{
    void** const slots = new void*[count + 1];
    store(slots, std::uintptr_t{count});
    for (std::size_t i = 1; i <= count; ++i)
        construct_value(element, slots + i);
    return slots + 1;
}

/// PointerStorage::freebuf
void free_pointers(const Table& element, void* buffer) noexcept
{
    if (buffer == nullptr) return;
    void** const slots = static_cast<void**>(buffer);
    const auto count = load<std::uintptr_t>(slots - 1);
    for (std::size_t i = 0; i < count; ++i)
        destroy_value(element, slots + i);
    delete[] (slots - 1);
}

[[nodiscard]] void* allocate_elements(const Table& table, std::size_t count)
{
    switch (table.op) {
    case Op::sequence_of_blocks:
        return ::operator new[](count* table.block().size);
    case Op::sequence:
        return allocate_values(table.element(), count);
    default:
        return allocate_pointers(table.element(), count);
    }
}

void free_elements(const Table& table, void* buffer) noexcept
{
    switch (table.op) {
    case Op::sequence_of_blocks:
        return ::operator delete[](buffer);
    case Op::sequence:
        return free_values(table.element(), buffer);
    default:
        return free_pointers(table.element(), buffer);
    }
}

/// SequenceBase::kairos_overwrite: room for `count` elements, all of which the caller assigns.
void overwrite(const Table& table, SequenceLayout& sequence, CORBA::ULong count)
{
    if (!sequence.release || count > sequence.capacity) {
        if (sequence.release) free_elements(table, sequence.buffer);
        sequence = {nullptr, 0, 0, true};
        sequence.buffer = allocate_elements(table, count);
        sequence.capacity = count;
    } else if (count < sequence.length && table.op != Op::sequence_of_blocks) {
        const Table& element = table.element();
        for (CORBA::ULong i = count; !element.is_trivial && i < sequence.length; ++i) {
            void* const dropped = at(sequence.buffer, std::size_t{i} * element.size);
            destroy_value(element, dropped);
            construct_value(element, dropped);
        }
    }
    sequence.length = count;
}

// --- Sequences ---------------------------------------------------------------------------------

void encode_elements(cdr::Writer& out, const Table& table, const SequenceLayout& sequence)
{
    if (table.count != 0 && sequence.length > table.count) [[unlikely]]
        mapping::raise_sequence_bound_exceeded();
    out.write(sequence.length);
    if (sequence.length == 0) return;
    if (table.op == Op::sequence_of_blocks)
        return mapping::encode_block(out, table.block(), sequence.buffer, sequence.length);
    const Table& element = table.element();
    const std::byte* value = at(sequence.buffer, 0);
    if (table.op == Op::sequence_of_strings) {
        return mapping::encode_texts(out, static_cast<const char* const*>(sequence.buffer),
                                     sequence.length, element.count);
    }
    for (CORBA::ULong i = 0; i < sequence.length; ++i, value += element.size)
        encode(out, element, value);
}

/// The length of a sequence; zero where it is refused.
[[nodiscard]] CORBA::ULong read_length(cdr::Reader& in, const Table& table) noexcept
{
    const CORBA::ULong length =
        in.read_length(table.op == Op::sequence_of_blocks ? table.block().data_size
                                                          : table.element().wire_bytes_min);
    if (table.count != 0 && length > table.count) [[unlikely]] {
        in.fail(cdr::Fault::bound_exceeded);
        return 0;
    }
    return length;
}

void decode_elements(cdr::Reader& in, const Table& table, SequenceLayout& sequence)
{
    const CORBA::ULong length = read_length(in, table);
    if (!in.ok()) [[unlikely]]
        return;
    overwrite(table, sequence, length);
    if (table.op == Op::sequence_of_blocks)
        return mapping::decode_block(in, table.block(), sequence.buffer, length);
    const Table& element = table.element();
    if (table.op == Op::sequence_of_strings) {
        return mapping::decode_texts(in, static_cast<char**>(sequence.buffer), length,
                                     element.count);
    }
    std::byte* value = at(sequence.buffer, 0);
    for (CORBA::ULong i = 0; i < length && in.ok(); ++i, value += element.size)
        decode(in, element, value);
}

/// Elements in the message or in the arena, which the sequence borrows.
void view_elements(cdr::Reader& in, Arena& arena, const Table& table, SequenceLayout& sequence)
{
    const CORBA::ULong length = read_length(in, table);
    if (length == 0) return; // nothing there or refused
    void* elements = nullptr;
    if (table.op == Op::sequence_of_blocks) {
        elements = mapping::view_block(in, table.block(), arena, length);
    } else {
        elements = mapping::view_texts<char>(in, arena, length, table.element().count);
    }
    if (elements == nullptr) return;
    if (sequence.release) free_elements(table, sequence.buffer);
    sequence = {elements, length, length, false};
}

// --- Decoding parts ----------------------------------------------------------------------------

void decode_string(cdr::Reader& in, const Table& table, void* value)
{
    char* decoded = nullptr;
    mapping::decode_owned(in, decoded, table.count, table.op == Op::string);
    CORBA::string_free(std::exchange(*static_cast<char**>(value), decoded));
}

void decode_members(cdr::Reader& in, const Table& table, void* value)
{
    for (const Member& member : members_of(table))
        decode(in, *member.table, at(value, member.offset));
}

void decode_array(cdr::Reader& in, const Table& table, void* value)
{
    const Table& element = table.element();
    for (CORBA::ULong i = 0; i < table.count && in.ok(); ++i)
        decode(in, element, at(value, std::size_t{i} * element.size));
}

} // namespace

void encode(cdr::Writer& out, const Table& table, const void* value)
{
    switch (table.op) {
    case Op::functions:
        return table.functions().encode(out, value);
    case Op::character:
        return mapping::encode(out, *static_cast<const CORBA::Char*>(value));
    case Op::number1:
    case Op::boolean:
        return out.write(load<std::uint8_t>(value));
    case Op::number2:
        return out.write(load<std::uint16_t>(value));
    case Op::number4:
    case Op::enumerator:
        return out.write(load<std::uint32_t>(value));
    case Op::number8:
        return out.write(load<std::uint64_t>(value));
    case Op::block:
        return mapping::encode_block(out, table.block(), value, 1);
    case Op::string:
    case Op::text:
        return mapping::encode_string(out, *static_cast<const char* const*>(value), table.count);
    case Op::wide_text:
        return mapping::encode_string(out, *static_cast<const wchar_t* const*>(value), table.count);
    case Op::sequence_of_blocks:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        return encode_elements(out, table, sequence_at(value));
    case Op::array:
        for (CORBA::ULong i = 0; i < table.count; ++i)
            encode(out, table.element(), at(value, std::size_t{i} * table.element().size));
        return;
    case Op::structure:
        for (const Member& member : members_of(table))
            encode(out, *member.table, at(value, member.offset));
        return;
    }
}

void decode(cdr::Reader& in, const Table& table, void* value)
{
    switch (table.op) {
    case Op::functions:
        return table.functions().decode(in, value);
    case Op::number1:
        return store(value, in.read<std::uint8_t>());
    case Op::number2:
        return store(value, in.read<std::uint16_t>());
    case Op::number4:
        return store(value, in.read<std::uint32_t>());
    case Op::number8:
        return store(value, in.read<std::uint64_t>());
    case Op::character:
        return mapping::decode(in, *static_cast<CORBA::Char*>(value));
    case Op::boolean:
        return store(value, in.read<bool>());
    case Op::enumerator: {
        const auto ordinal = in.read<std::uint32_t>();
        if (ordinal >= table.count) [[unlikely]]
            return in.fail(cdr::Fault::invalid_value);
        return store(value, ordinal);
    }
    case Op::block:
        return mapping::decode_block(in, table.block(), value, 1);
    case Op::string:
    case Op::text:
        return decode_string(in, table, value);
    case Op::wide_text: {
        wchar_t* decoded = nullptr;
        mapping::decode_owned(in, decoded, table.count, false);
        return mapping::free_text(std::exchange(*static_cast<wchar_t**>(value), decoded));
    }
    case Op::sequence_of_blocks:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        return decode_elements(in, table, sequence_at(value));
    case Op::array:
        return decode_array(in, table, value);
    case Op::structure: {
        if (!table.is_recursive) return decode_members(in, table, value);
        const mapping::NestingGuard nesting(in);
        if (in.ok()) decode_members(in, table, value);
        return;
    }
    }
}

void decode_view(cdr::Reader& in, Arena& arena, const Table& table, void* value)
{
    switch (table.op) {
    case Op::text:
        return mapping::decode_string_view(in, arena, *static_cast<const char**>(value),
                                           table.count);
    case Op::wide_text:
        return mapping::decode_string_view(in, arena, *static_cast<const wchar_t**>(value),
                                           table.count);
    case Op::sequence_of_blocks:
    case Op::sequence_of_strings:
        return view_elements(in, arena, table, sequence_at(value));
    case Op::functions:
        if (table.functions().decode_view != nullptr)
            return table.functions().decode_view(in, arena, value);
        return table.functions().decode(in, value);
    default:
        return decode(in, table, value);
    }
}

void construct_value(const Table& table, void* storage)
{
    switch (table.op) {
    case Op::functions:
        return table.functions().construct(storage);
    case Op::string:
        return store(storage, &mapping::shared_empty_string[0]);
    case Op::sequence_of_blocks:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        ::new (storage) SequenceLayout{nullptr, 0, 0, true};
        return;
    case Op::array: {
        const Table& element = table.element();
        for (CORBA::ULong i = 0; i < table.count; ++i)
            construct_value(element, at(storage, std::size_t{i} * element.size));
        return;
    }
    case Op::structure:
        for (const Member& member : members_of(table))
            construct_value(*member.table, at(storage, member.offset));
        return;
    default:
        std::memset(storage, 0, table.size);
    }
}

void destroy_value(const Table& table, void* value) noexcept
{
    if (table.is_trivial) return;
    switch (table.op) {
    case Op::functions:
        return table.functions().destroy(value);
    case Op::string:
    case Op::text:
        return CORBA::string_free(*static_cast<char**>(value));
    case Op::wide_text:
        return mapping::free_text(*static_cast<wchar_t**>(value));
    case Op::sequence_of_blocks:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        if (sequence_at(value).release) free_elements(table, sequence_at(value).buffer);
        return;
    case Op::array: {
        const Table& element = table.element();
        for (std::size_t i = table.count; i-- != 0;)
            destroy_value(element, at(value, i * element.size));
        return;
    }
    case Op::structure: {
        const std::span<const Member> members = members_of(table);
        for (std::size_t i = members.size(); i-- != 0;)
            destroy_value(*members[i].table, at(value, members[i].offset));
        return;
    }
    default:
        return;
    }
}

void* new_value(const Table& table)
{
    if (table.op == Op::array) return allocate_values(table.element(), table.count);
    void* const storage =
        table.is_array ? ::operator new[](table.size) : ::operator new(table.size);
    construct_value(table, storage);
    return storage;
}

void delete_value(const Table& table, void* value) noexcept
{
    if (value == nullptr) return;
    if (table.op == Op::array) return free_values(table.element(), value);
    destroy_value(table, value);
    if (table.is_array) return ::operator delete[](value);
    ::operator delete(value);
}

} // namespace kairos::types
