// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/interpreter.h"

#include "kairos/mapping/texts.h"

#include <algorithm>
#include <array>
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
constexpr Table unbounded_text_table = make_text_table<char>(Op::text, 0, 5);

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

/// What `new T[n]` keeps there. Code that clang compiles with AddressSanitizer poisons that, for
/// nothing but `delete[]` should look.
[[nodiscard, gnu::no_sanitize_address]] std::size_t count_before(const void* values) noexcept
{
    return static_cast<const std::size_t*>(values)[-1];
}

/// T() for each of so many. In types that can be viewed that is the same bytes for all: constants,
/// and pointers to what is shared.
void construct_values(const Table& element, void* storage, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        std::byte* const value = at(storage, i * element.size);
        if (i != 0 && element.is_viewable) {
            std::memcpy(value, value - element.size, element.size);
        } else {
            construct_value(element, value);
        }
    }
}

/// ~T() for each, the last one first.
void destroy_values(const Table& element, void* values, std::size_t count) noexcept
{
    if (element.op == Op::string) { // most of what there is to destroy
        char** const texts = static_cast<char**>(values);
        while (count-- != 0)
            CORBA::string_free(texts[count]);
    } else {
        while (count-- != 0)
            destroy_value(element, at(values, count * element.size));
    }
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
    construct_values(element, values, count);
    return values;
}

/// delete[]
void free_values(const Table& element, void* values) noexcept
{
    if (values == nullptr) return;
    if (element.op == Op::array) return free_values(element.element(), values);
    if (element.is_trivial) return ::operator delete[](values);
    destroy_values(element, values, count_before(values));
    ::operator delete[](at(values, 0) - cookie_size(element));
}

/// PointerStorage::allocate
[[nodiscard]] void* allocate_pointers(const Table& element, std::size_t count)
{
    void** const slots = new void*[count + 1];
    store(slots, std::uintptr_t{count});
    construct_values(element, slots + 1, count);
    return slots + 1;
}

/// PointerStorage::freebuf
void free_pointers(const Table& element, void* buffer) noexcept
{
    if (buffer == nullptr) return;
    void** const slots = static_cast<void**>(buffer);
    destroy_values(element, slots, load<std::uintptr_t>(slots - 1));
    delete[] (slots - 1);
}

[[nodiscard]] void* allocate_elements(const Table& table, std::size_t count)
{
    return table.op == Op::sequence ? allocate_values(table.element(), count)
                                    : allocate_pointers(table.element(), count);
}

void free_elements(const Table& table, void* buffer) noexcept
{
    if (table.op == Op::sequence_of_blocks) return ::operator delete[](buffer);
    if (table.op == Op::sequence) return free_values(table.element(), buffer);
    free_pointers(table.element(), buffer);
}

// --- Encoding ----------------------------------------------------------------------------------

using Encoder = void (*)(cdr::Writer& out, const Table& table, const void* value);
[[nodiscard]] Encoder encoder_for(const Table& table) noexcept;

/// One behind the other, `element.size` apart.
inline void encode_run(cdr::Writer& out, const Table& element, const void* values,
                       std::size_t count);

void encode_by_functions(cdr::Writer& out, const Table& table, const void* value)
{
    table.functions().encode(out, value);
}
template <typename Number>
void encode_number(cdr::Writer& out, const Table&, const void* value)
{
    out.write(load<Number>(value));
}
void encode_character(cdr::Writer& out, const Table&, const void* value)
{
    mapping::encode(out, *static_cast<const CORBA::Char*>(value));
}
void encode_one_block(cdr::Writer& out, const Table& table, const void* value)
{
    mapping::encode_block(out, table.block(), value, 1);
}
template <typename Char>
void encode_text(cdr::Writer& out, const Table& table, const void* value)
{
    mapping::encode_string(out, *static_cast<const Char* const*>(value), table.count);
}
void encode_sequence_of_blocks(cdr::Writer& out, const Table& table, const void* value)
{
    mapping::encode_block_sequence(out, table.block(), sequence_at(value), table.count);
}
/// With loops of its own, as compiled code has: one more call would be what the engines differ by.
void encode_unbounded_strings(cdr::Writer& out, const Table&, const void* value)
{
    const SequenceLayout& sequence = sequence_at(value);
    out.write(sequence.length);
    mapping::encode_texts(out, static_cast<const char* const*>(sequence.buffer), sequence.length,
                          0);
}
void encode_sequence_of_strings(cdr::Writer& out, const Table& table, const void* value)
{
    mapping::encode_text_sequence<char>(out, sequence_at(value), table.count,
                                        table.element().count);
}
void encode_sequence(cdr::Writer& out, const Table& table, const void* value)
{
    const SequenceLayout& sequence = sequence_at(value);
    mapping::write_length(out, sequence.length, table.count);
    encode_run(out, table.element(), sequence.buffer, sequence.length);
}
void encode_array(cdr::Writer& out, const Table& table, const void* value)
{
    encode_run(out, table.element(), value, table.count);
}
/// Strings are moved right here: they are most of what such structs hold.
[[gnu::always_inline]] inline void encode_members(cdr::Writer& out, std::span<const Member> members,
                                                  const void* value)
{
    for (const Member& member : members) {
        const Table& type = *member.table;
        const std::byte* const place = at(value, member.offset);
        if (type.op == Op::string) {
            mapping::encode_texts(out, reinterpret_cast<const char* const*>(place), member.count,
                                  type.count);
        } else {
            encoder_for(type)(out, type, place);
        }
    }
}
void encode_structure(cdr::Writer& out, const Table& table, const void* value)
{
    encode_members(out, members_of(table), value);
}
void encode_structures(cdr::Writer& out, const Table& table, const void* values, std::size_t count)
{
    const std::span<const Member> members = members_of(table);
    const std::size_t size = table.size;
    for (const std::byte* value = at(values, 0); count != 0; --count, value += size)
        encode_members(out, members, value);
}

constexpr Encoder encoder_of(Op op)
{
    switch (op) {
    case Op::functions:
        return encode_by_functions;
    case Op::character:
        return encode_character;
    case Op::number1:
    case Op::boolean:
        return encode_number<std::uint8_t>;
    case Op::number2:
        return encode_number<std::uint16_t>;
    case Op::number4:
    case Op::enumerator:
        return encode_number<std::uint32_t>;
    case Op::number8:
        return encode_number<std::uint64_t>;
    case Op::block:
        return encode_one_block;
    case Op::string:
    case Op::text:
        return encode_text<char>;
    case Op::wide_text:
        return encode_text<wchar_t>;
    case Op::sequence_of_blocks:
        return encode_sequence_of_blocks;
    case Op::strings:
        return encode_unbounded_strings;
    case Op::sequence_of_strings:
        return encode_sequence_of_strings;
    case Op::sequence_of_pointers:
    case Op::sequence:
        return encode_sequence;
    case Op::array:
        return encode_array;
    case Op::structure:
        break;
    }
    return encode_structure;
}

/// What `choose` says for each Op: calls through a table are cheaper than a switch whose cases
/// share one frame.
template <typename Choose>
[[nodiscard]] consteval auto by_op(Choose choose)
{
    std::array<decltype(choose(Op{})), std::size_t{static_cast<std::uint8_t>(Op::structure)} + 1>
        chosen{};
    for (std::size_t i = 0; i < chosen.size(); ++i)
        chosen[i] = choose(static_cast<Op>(i));
    return chosen;
}

constexpr auto encoders = by_op(encoder_of);

Encoder encoder_for(const Table& table) noexcept
{
    return encoders[static_cast<std::uint8_t>(table.op)];
}

void encode_strings(cdr::Writer& out, const Table& table, const void* values, std::size_t count)
{
    mapping::encode_texts(out, static_cast<const char* const*>(values), count, table.count);
}

void encode_run(cdr::Writer& out, const Table& element, const void* values, std::size_t count)
{
    if (element.op == Op::string) return encode_strings(out, element, values, count);
    if (element.op == Op::structure) return encode_structures(out, element, values, count);
    const Encoder encode_one = encoder_for(element);
    const std::byte* value = at(values, 0);
    for (; count != 0; --count, value += element.size)
        encode_one(out, element, value);
}

// --- Decoding ----------------------------------------------------------------------------------

/// With an arena, a view is made: in storage that is new or raw.
using Decoder = void (*)(cdr::Reader& in, const Table& table, void* value, Arena* arena);
[[nodiscard]] Decoder decoder_for(const Table& table) noexcept;

/// One behind the other, `element.size` apart. For each so many bytes have been claimed.
inline void decode_run(cdr::Reader& in, const Table& element, void* values, std::size_t count,
                       Arena* arena, std::size_t claimed = 0);

void decode_by_functions(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    if (arena != nullptr) table.functions().construct(value);
    table.functions().decode(in, value, arena);
}
template <typename Number>
void decode_number(cdr::Reader& in, const Table&, void* value, Arena*)
{
    store(value, in.read<Number>());
}
void decode_character(cdr::Reader& in, const Table&, void* value, Arena*)
{
    mapping::decode(in, *static_cast<CORBA::Char*>(value));
}
void decode_enumerator(cdr::Reader& in, const Table& table, void* value, Arena*)
{
    const auto ordinal = in.read<std::uint32_t>();
    if (ordinal >= table.count) [[unlikely]]
        return in.fail(cdr::Fault::invalid_value);
    store(value, ordinal);
}
void decode_one_block(cdr::Reader& in, const Table& table, void* value, Arena*)
{
    mapping::decode_block(in, table.block(), value, 1);
}
void decode_member_text(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    mapping::decode_text(in, *static_cast<char**>(value), table.count, arena);
}
/// A parameter: owned, it is never the shared "".
template <typename Char>
void decode_parameter(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    Char*& text = *static_cast<Char**>(value);
    if (arena != nullptr) return mapping::decode_text(in, text, table.count, arena);
    Char* decoded = nullptr;
    mapping::decode_owned(in, decoded, table.count, false);
    mapping::free_text(std::exchange(text, decoded));
}
void decode_sequence_of_blocks(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    mapping::decode_block_sequence(in, table.block(), sequence_at(value), table.count, arena);
}
[[gnu::always_inline]] inline void decode_texts(cdr::Reader& in, char** texts, std::size_t count,
                                                CORBA::ULong bound, Arena* arena)
{
    mapping::decode_texts<mapping::overwrite_text>(in, texts, count, bound, arena);
}
void decode_unbounded_strings(cdr::Reader& in, const Table&, void* value, Arena* arena)
{
    SequenceLayout& sequence = sequence_at(value);
    if (mapping::begin_text_sequence<char>(in, sequence, 0, arena))
        decode_texts(in, static_cast<char**>(sequence.buffer), sequence.length, 0, arena);
}
void decode_sequence_of_strings(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    mapping::decode_text_sequence<char>(in, sequence_at(value), table.count, table.element().count,
                                        arena);
}

/// SequenceBase::kairos_overwrite: room for `count` elements, all of which the caller assigns.
void overwrite(const Table& table, SequenceLayout& sequence, CORBA::ULong count)
{
    if (!sequence.release || count > sequence.capacity) {
        if (sequence.release) free_elements(table, sequence.buffer);
        sequence = {nullptr, 0, 0, true};
        sequence = {allocate_elements(table, count), 0, count, true};
    }
    const Table& element = table.element();
    for (CORBA::ULong i = count; !element.is_trivial && i < sequence.length; ++i) {
        void* const dropped = at(sequence.buffer, std::size_t{i} * element.size);
        destroy_value(element, dropped);
        construct_value(element, dropped);
    }
    sequence.length = count;
}

/// Room in the arena for `count` elements, all of which the caller makes.
void borrow(const Table& element, SequenceLayout& sequence, CORBA::ULong count, Arena& arena)
{
    using Unit = std::max_align_t;
    const std::size_t size = std::size_t{count} * element.size;
    auto* const elements = arena.allocate<Unit>((size + sizeof(Unit) - 1) / sizeof(Unit));
    sequence = {elements, count, count, false};
}

/// mapping::prove for elements of a table.
[[nodiscard, gnu::cold, gnu::noinline]] bool prove_elements(cdr::Reader& in, const Table& table,
                                                            std::size_t count)
{
    if (count == 0) return !in.proving();
    struct One {
        const Table& table;
        void* value = allocate_elements(table, 1);
        explicit One(const Table& of) : table(of) {}
        One(const One&) = delete;
        One& operator=(const One&) = delete;
        ~One() { free_elements(table, value); }
    } one(table);
    const Table& element = table.element();
    return mapping::prove(in, count, element.wire_bytes_min, one.value, &element,
                          [](cdr::Reader& ahead, void* place, const void* context) {
                              const auto& type = *static_cast<const Table*>(context);
                              decode_run(ahead, type, place, 1, nullptr);
                          });
}

void decode_sequence(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    const Table& element = table.element();
    SequenceLayout& sequence = sequence_at(value);
    const CORBA::ULong count = mapping::read_length(in, element.wire_bytes_min, table.count);
    if (!in.ok()) [[unlikely]]
        return;
    std::size_t spent = mapping::excess_of(count, element.size, element.wire_bytes_min);
    if (spent != 0 && (in.proving() || !in.spend(spent))) [[unlikely]] {
        if (!in.is_proven() && !prove_elements(in, table, count)) return;
        spent = 0;
    }
    if (arena != nullptr) {
        borrow(element, sequence, count, *arena);
    } else {
        overwrite(table, sequence, count);
    }
    in.claim(std::size_t{count} * element.wire_bytes_min);
    decode_run(in, element, sequence.buffer, count, arena, element.wire_bytes_min);
    in.refund(spent);
}

void decode_array(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    decode_run(in, table.element(), value, table.count, arena);
}

/// As encode_members, and sequences of strings, too.
[[gnu::always_inline]] inline void decode_members(cdr::Reader& in, std::span<const Member> members,
                                                  void* value, Arena* arena)
{
    for (const Member& member : members) {
        const Table& type = *member.table;
        std::byte* const place = at(value, member.offset);
        char** texts = reinterpret_cast<char**>(place);
        std::size_t count = member.count;
        CORBA::ULong bound = type.count;
        if (type.op == Op::strings) {
            SequenceLayout& sequence = sequence_at(place);
            if (!mapping::begin_text_sequence<char>(in, sequence, 0, arena)) return;
            texts = static_cast<char**>(sequence.buffer);
            count = sequence.length;
        } else if (type.op != Op::string) {
            decoder_for(type)(in, type, place, arena);
            continue;
        }
        decode_texts(in, texts, count, bound, arena);
    }
}

void decode_flat(cdr::Reader& in, const Table& table, void* values, std::size_t count, Arena* arena,
                 std::size_t claimed)
{
    const std::span<const Member> members = members_of(table);
    const std::size_t size = table.size;
    for (std::byte* value = at(values, 0); count != 0 && in.ok(); --count, value += size) {
        in.unclaim(claimed);
        decode_members(in, members, value, arena);
    }
}

[[gnu::noinline]] void decode_nested(cdr::Reader& in, const Table& table, void* values,
                                     std::size_t count, Arena* arena, std::size_t claimed)
{
    const mapping::NestingGuard nesting(in);
    decode_flat(in, table, values, count, arena, claimed);
}

void decode_structures(cdr::Reader& in, const Table& table, void* values, std::size_t count,
                       Arena* arena, std::size_t claimed)
{
    if (table.is_recursive && count != 0)
        return decode_nested(in, table, values, count, arena, claimed);
    decode_flat(in, table, values, count, arena, claimed);
}
void decode_structure(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    decode_structures(in, table, value, 1, arena, 0);
}

constexpr Decoder decoder_of(Op op)
{
    switch (op) {
    case Op::functions:
        return decode_by_functions;
    case Op::number1:
        return decode_number<std::uint8_t>;
    case Op::number2:
        return decode_number<std::uint16_t>;
    case Op::number4:
        return decode_number<std::uint32_t>;
    case Op::number8:
        return decode_number<std::uint64_t>;
    case Op::character:
        return decode_character;
    case Op::boolean:
        return decode_number<bool>;
    case Op::enumerator:
        return decode_enumerator;
    case Op::block:
        return decode_one_block;
    case Op::string:
        return decode_member_text;
    case Op::text:
        return decode_parameter<char>;
    case Op::wide_text:
        return decode_parameter<wchar_t>;
    case Op::sequence_of_blocks:
        return decode_sequence_of_blocks;
    case Op::strings:
        return decode_unbounded_strings;
    case Op::sequence_of_strings:
        return decode_sequence_of_strings;
    case Op::sequence_of_pointers:
    case Op::sequence:
        return decode_sequence;
    case Op::array:
        return decode_array;
    case Op::structure:
        break;
    }
    return decode_structure;
}

constexpr auto decoders = by_op(decoder_of);

Decoder decoder_for(const Table& table) noexcept
{
    return decoders[static_cast<std::uint8_t>(table.op)];
}

void decode_strings(cdr::Reader& in, const Table& table, void* values, std::size_t count,
                    Arena* arena)
{
    decode_texts(in, static_cast<char**>(values), count, table.count, arena);
}

void decode_run(cdr::Reader& in, const Table& element, void* values, std::size_t count,
                Arena* arena, std::size_t claimed)
{
    if (element.op == Op::structure)
        return decode_structures(in, element, values, count, arena, claimed);
    if (element.op == Op::string) {
        in.unclaim(count * claimed);
        return decode_strings(in, element, values, count, arena);
    }
    const Decoder decode_one = decoder_for(element);
    for (std::byte* value = at(values, 0); count != 0 && in.ok(); --count, value += element.size) {
        in.unclaim(claimed);
        decode_one(in, element, value, arena);
    }
}

} // namespace

void encode(cdr::Writer& out, const Table& table, const void* value)
{
    encoder_for(table)(out, table, value);
}

void decode(cdr::Reader& in, const Table& table, void* value, Arena* arena)
{
    decoder_for(table)(in, table, value, arena);
}

// --- Life --------------------------------------------------------------------------------------

void construct_value(const Table& table, void* storage)
{
    switch (table.op) {
    case Op::functions:
        return table.functions().construct(storage);
    case Op::string:
        return store(storage, &mapping::shared_empty_string[0]);
    case Op::sequence_of_blocks:
    case Op::strings:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        ::new (storage) SequenceLayout{nullptr, 0, 0, true};
        return;
    case Op::array:
        return construct_values(table.element(), storage, table.count);
    case Op::structure:
        for (const Member& member : members_of(table))
            construct_values(*member.table, at(storage, member.offset), member.count);
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
    case Op::strings:
    case Op::sequence_of_strings:
    case Op::sequence_of_pointers:
    case Op::sequence:
        if (sequence_at(value).release) free_elements(table, sequence_at(value).buffer);
        return;
    case Op::array:
        return destroy_values(table.element(), value, table.count);
    case Op::structure: {
        const std::span<const Member> members = members_of(table);
        for (std::size_t i = members.size(); i-- != 0;)
            destroy_values(*members[i].table, at(value, members[i].offset), members[i].count);
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
