// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/copy.h"

#include "kairos/base/limits.h"
#include "kairos/cdr/codeset.h"
#include "kairos/cdr/environment.h"
#include "kairos/mapping/marshal.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/copy_walk.h"
#include "kairos/types/typecode_wire.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kairos::types {
namespace {

using cdr::Fault;

Number number_of(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return {1, 1};
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return {2, 2};
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_float:
    case CORBA::tk_enum:
        return {4, 4};
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_double:
        return {8, 8};
    case CORBA::tk_longdouble:
        return {16, 8};
    default:
        return {};
    }
}

template <typename T>
void swap_each(std::byte* at, std::size_t count) noexcept
{
    for (; count != 0; at += sizeof(T), --count) {
        T value;
        std::memcpy(&value, at, sizeof value);
        value = byteswap(value);
        std::memcpy(at, &value, sizeof value);
    }
}

void swap_numbers(std::byte* at, std::size_t count, std::size_t size) noexcept
{
    switch (size) {
    case 2:
        return swap_each<std::uint16_t>(at, count);
    case 4:
        return swap_each<std::uint32_t>(at, count);
    case 8:
        return swap_each<std::uint64_t>(at, count);
    case 16:
        for (; count != 0; at += size, --count)
            std::reverse(at, at + size);
        return;
    default:
        return;
    }
}

} // namespace

void Walk::value(const CORBA::TypeCode& type)
{
    if (!in_.ok()) return;
    const TypeCodeData& data = resolved(type)._kairos_data();
    switch (data.kind) {
    case CORBA::tk_value:
    case CORBA::tk_value_box:
    case CORBA::tk_event:
        return value_or_null(&data);
    default:
        open_chunk();
    }
    if (const Number number = number_of(data.kind); number.size != 0)
        return numbers(data, number, 1);
    switch (data.kind) {
    case CORBA::tk_string:
        return string(data);
    case CORBA::tk_wstring:
        return wide_string(data);
    case CORBA::tk_wchar:
        return void(wide_character());
    case CORBA::tk_TypeCode:
        return type_code();
    case CORBA::tk_objref:
    case CORBA::tk_component:
    case CORBA::tk_home:
        return reference();
    case CORBA::tk_Principal:
        return octets(number<std::uint32_t>());
    case CORBA::tk_fixed:
        return fixed(data);
    default:
        return constructed(data);
    }
}

void Walk::constructed(const TypeCodeData& data)
{
    const bool linear = data.kind == CORBA::tk_sequence || data.kind == CORBA::tk_array;
    const Level level(in_, linear ? linear_depth_ : depth_,
                      linear ? linear_max : limits::nesting_max, stack_end_);
    if (!in_.ok()) return;
    const std::size_t before = in_.left();
    switch (data.kind) {
    case CORBA::tk_null:
    case CORBA::tk_void:
        break;
    case CORBA::tk_struct:
        members(data);
        break;
    case CORBA::tk_except:
        exception(data);
        break;
    case CORBA::tk_union:
        union_(data);
        break;
    case CORBA::tk_sequence:
        sequence(data);
        break;
    case CORBA::tk_array:
        elements(*data.content, data.count);
        break;
    case CORBA::tk_any:
        any();
        break;
    case CORBA::tk_abstract_interface:
        abstract_interface();
        break;
    default: // native and local types do not travel
        in_.fail(Fault::invalid_value);
    }
    if (in_.left() == before && ++empty_ > limits::empty_elements_max)
        in_.fail(Fault::length_beyond_end);
}

// --- Numbers -----------------------------------------------------------------------------------

bool Walk::valid(const TypeCodeData& data, const std::byte* at, std::size_t count) const
{
    if (data.kind == CORBA::tk_boolean)
        return std::all_of(at, at + count, [](std::byte octet) { return octet <= std::byte{1}; });
    if (data.kind != CORBA::tk_enum) return true;
    for (; count != 0; at += 4, --count) {
        std::uint32_t ordinal;
        std::memcpy(&ordinal, at, sizeof ordinal);
        if ((in_.swap() ? byteswap(ordinal) : ordinal) >= data.count) return false;
    }
    return true;
}

void Walk::numbers(const TypeCodeData& data, Number number, std::size_t count)
{
    if (count == 0) return;
    if (count > in_.left() / number.size) return in_.fail(Fault::truncated);
    if (data.kind == CORBA::tk_char && converts_characters()) {
        for (; count != 0 && in_.ok(); --count)
            (void)character();
        return;
    }
    // In parts (see Reader), numbers of two and four bytes may have padding between them.
    if (!in_.is_whole() && (number.size == 2 || number.size == 4))
        return numbers_one_by_one(data, number, count);
    const std::size_t size = count * number.size;
    const std::byte* from = in_.block(size, number.alignment);
    if (from == nullptr) return;
    if (!valid(data, from, count)) return in_.fail(Fault::invalid_value);
    if (out_ == nullptr) return;
    std::byte* to = out_->claim(size, number.alignment);
    std::memcpy(to, from, size);
    if (in_.swap()) swap_numbers(to, count, number.size);
}

void Walk::numbers_one_by_one(const TypeCodeData& data, Number number, std::size_t count)
{
    for (; count != 0 && in_.ok(); --count) {
        if (number.size == 2) {
            (void)this->number<std::uint16_t>();
        } else if (this->number<std::uint32_t>() >= data.count && data.kind == CORBA::tk_enum) {
            in_.fail(Fault::invalid_value);
        }
    }
}

void Walk::fixed(const TypeCodeData& data)
{
    // CORBA 3.3 part 2, 9.3.2.8: two digits an octet, the sign in the last half.
    const std::size_t size = data.count / 2 + 1;
    const std::byte* from = in_.block(size, 1);
    if (from == nullptr) return;
    const auto half = [&](std::size_t index) {
        const auto octet = std::to_integer<unsigned>(from[index / 2]);
        return index % 2 == 0 ? octet >> 4 : octet & 0xF;
    };
    const std::size_t last = 2 * size - 1;
    bool good = half(last) == 0xC || half(last) == 0xD;
    for (std::size_t i = 0; i < last; ++i)
        good = good && half(i) <= 9;
    if (data.count % 2 == 0) good = good && half(0) == 0;
    if (!good) return in_.fail(Fault::invalid_value);
    if (out_ != nullptr) out_->write_bytes({from, size});
}

// --- Texts, references, TypeCodes --------------------------------------------------------------

bool Walk::converts_characters()
{
    found_.has_characters = true;
    const bool converts_in = cdr::converting_form(in_) != nullptr;
    if (converts_in) found_.is_free = false;
    return converts_in || (out_ != nullptr && cdr::converting_form(*out_) != nullptr);
}

void Walk::string(const TypeCodeData& data)
{
    if (converts_characters()) {
        CORBA::String_var owned;
        mapping::decode_string(in_, owned, data.count);
        if (!in_.ok() || out_ == nullptr) return;
        if (cdr::converting_form(*out_) == nullptr) return out_->write_string(owned.in());
        return mapping::encode_string(*out_, owned.in());
    }
    const std::string_view found = in_.read_string();
    if (data.count != 0 && found.size() > data.count) return in_.fail(Fault::bound_exceeded);
    text(found);
}

void Walk::wide_string(const TypeCodeData& data)
{
    found_.has_wide = true;
    if (cdr::text_form(in_) != nullptr) found_.is_free = false;
    CORBA::WString_var owned;
    mapping::decode_string(in_, owned, data.count);
    if (in_.ok() && out_ != nullptr) mapping::encode_string(*out_, owned.in());
}

CORBA::WChar Walk::wide_character()
{
    found_.has_wide = true;
    if (cdr::text_form(in_) != nullptr) found_.is_free = false;
    CORBA::WChar character = 0;
    mapping::decode(in_, character);
    if (in_.ok() && out_ != nullptr) mapping::encode(*out_, character);
    return character;
}

char Walk::character()
{
    char character = 0;
    mapping::decode(in_, character);
    if (in_.ok() && out_ != nullptr) mapping::encode(*out_, character);
    return character;
}

/// As ior::decode takes it.
void Walk::reference()
{
    if (rules_ != nullptr) return rules_->copy_reference(in_, *out_);
    cdr::Reader ahead = in_;
    if (ahead.read<std::uint32_t>() == 0) {
        (void)in_.read<std::uint32_t>(); // an empty type id without its terminator: some peers' nil
        text("");
    } else {
        text(in_.read_string());
    }
    const std::uint32_t profiles = in_.read_length(8);
    if (profiles > limits::profiles_max) return in_.fail(Fault::bound_exceeded);
    if (out_ != nullptr) out_->write(profiles);
    for (std::uint32_t i = 0; i < profiles && in_.ok(); ++i) {
        (void)number<std::uint32_t>();
        octets(number<std::uint32_t>());
    }
}

void Walk::type_code()
{
    const CORBA::TypeCode_var type = decode_type_code(in_);
    if (in_.ok() && out_ != nullptr) encode_type_code(*out_, *type.in());
}

void Walk::any()
{
    const CORBA::TypeCode_var type = decode_type_code(in_);
    if (!in_.ok()) return;
    if (out_ != nullptr) encode_type_code(*out_, *type.in());
    value(*type.in());
}

// --- Elements and members ----------------------------------------------------------------------

/// Moves `at` behind a value that is all numbers of which any will do; false for other values, and
/// where that takes many steps.
bool Walk::pass_over_numbers(const TypeCodeData& data, std::size_t& at, unsigned& steps)
{
    if (steps-- == 0) return false;
    if (const Number number = number_of(data.kind); number.size != 0) {
        if (data.kind == CORBA::tk_boolean || data.kind == CORBA::tk_enum) return false;
        if (data.kind == CORBA::tk_char && converts_characters()) return false;
        at = align_up(at, number.alignment) + number.size;
        return true;
    }
    if (data.kind != CORBA::tk_struct) return false;
    for (CORBA::ULong i = 0; i < data.count; ++i)
        if (!pass_over_numbers(resolved(*data.members[i].type)._kairos_data(), at, steps))
            return false;
    return true;
}

/// Structs of numbers, of which nothing is to be known but where they end; that depends on where
/// they begin, modulo eight. Returns false if it takes a look at each.
bool Walk::pass_over_structs(const TypeCodeData& data, std::size_t count)
{
    constexpr unsigned steps_max = 32; // so structs nest no deeper
    if (out_ != nullptr || !in_.is_whole() || in_.in_chunk() ||
        depth_ + steps_max > limits::nesting_max)
        return false;
    std::array<std::size_t, 8> sizes{}; // by where one begins; 0 for not yet known
    const std::size_t begin = in_.offset();
    const std::size_t end = begin + in_.left();
    std::size_t at = begin;
    while (count != 0) {
        const std::size_t phase = at % 8;
        std::size_t& size = sizes[phase];
        if (size == 0) {
            std::size_t behind = phase;
            unsigned steps = steps_max;
            if (!pass_over_numbers(data, behind, steps) || behind == phase) return false;
            size = behind - phase;
        }
        const std::size_t alike = size % 8 == 0 ? count : 1;
        if (alike > (end - at) / size) {
            in_.fail(Fault::truncated);
            return true;
        }
        at += alike * size;
        count -= alike;
    }
    (void)in_.block(at - begin, 1);
    return true;
}

void Walk::elements(const CORBA::TypeCode& element, std::size_t count)
{
    const TypeCodeData& data = resolved(element)._kairos_data();
    if (const Number number = number_of(data.kind); number.size != 0) {
        open_chunk();
        return numbers(data, number, count);
    }
    switch (data.kind) {
    case CORBA::tk_struct:
        if (pass_over_structs(data, count)) return;
        [[fallthrough]];
    case CORBA::tk_union:
    case CORBA::tk_sequence:
    case CORBA::tk_array:
        for (; count != 0 && in_.ok(); --count) { // as value does
            open_chunk();
            constructed(data);
        }
        return;
    default:
        for (; count != 0 && in_.ok(); --count)
            value(element);
    }
}

void Walk::sequence(const TypeCodeData& data)
{
    const std::uint32_t length = in_.read<std::uint32_t>();
    if (data.count != 0 && length > data.count) return in_.fail(Fault::bound_exceeded);
    // Elements without any bytes are refused elsewhere, should there be many.
    if (length > in_.left() && length > limits::empty_elements_max)
        return in_.fail(Fault::length_beyond_end);
    if (out_ != nullptr) out_->write(length);
    elements(*data.content, length);
}

void Walk::members(const TypeCodeData& data)
{
    for (CORBA::ULong i = 0; i < data.count && in_.ok(); ++i)
        value(*data.members[i].type);
}

/// CORBA 3.3 part 2, 9.3.5.5: the repository id, then the members. Some peers leave the id out of
/// an Any (omniORB before 4.3), which is told by what is there.
void Walk::exception(const TypeCodeData& data)
{
    cdr::Reader ahead = in_;
    const std::string_view id = ahead.read_string();
    if (ahead.ok() && id == data.id) {
        in_ = ahead;
    } else {
        found_.is_free = false;
    }
    if (out_ != nullptr && writes_exception_id(*out_)) out_->write_string(data.id);
    members(data);
}

std::int64_t Walk::discriminator(const CORBA::TypeCode& type)
{
    const bool is_alias = type._kairos_raw().kind == CORBA::tk_alias;
    const TypeCodeData& data = (is_alias ? resolved(type) : type)._kairos_data();
    switch (data.kind) {
    case CORBA::tk_boolean:
        return number<bool>();
    case CORBA::tk_char:
        return static_cast<std::uint8_t>(converts_characters() ? character() : number<char>());
    case CORBA::tk_wchar:
        return wide_character();
    case CORBA::tk_octet:
        return number<std::uint8_t>();
    case CORBA::tk_short:
        return number<std::int16_t>();
    case CORBA::tk_ushort:
        return number<std::uint16_t>();
    case CORBA::tk_long:
        return number<std::int32_t>();
    case CORBA::tk_ulong:
        return number<std::uint32_t>();
    case CORBA::tk_longlong:
        return number<std::int64_t>();
    case CORBA::tk_ulonglong:
        return static_cast<std::int64_t>(number<std::uint64_t>());
    case CORBA::tk_enum: {
        const auto ordinal = number<std::uint32_t>();
        if (ordinal >= data.count) in_.fail(Fault::invalid_value);
        return ordinal;
    }
    default:
        in_.fail(Fault::invalid_value);
        return 0;
    }
}

void Walk::union_(const TypeCodeData& data)
{
    const std::int64_t label = discriminator(*data.content);
    if (!in_.ok()) return;
    constexpr CORBA::ULong few = 8;
    CORBA::ULong selected = 0;
    if (data.count <= few) {
        while (selected < data.count &&
               (data.numbers[selected] != label || is_default_member(data, selected)))
            ++selected;
    } else {
        selected = find_label(data, label);
    }
    if (selected < data.count) {
        value(*data.members[selected].type);
    } else if (data.detail >= 0) {
        value(*data.members[data.detail].type);
    }
}

/// The member of this label that is not the default; the number of members if there is none. They
/// are sorted once a walk: a union, the peer's or not, may have many, and be there many times.
CORBA::ULong Walk::find_label(const TypeCodeData& data, std::int64_t label)
{
    if (&data != labelled_) {
        labelled_ = &data;
        sorted_labels_ = &labels_[&data];
        if (sorted_labels_->empty()) sort_labels(data, *sorted_labels_);
    }
    const auto first = sorted_labels_->begin();
    // Labels of one octet lie at their own place.
    if (sorted_labels_->size() == octet_labels) return first[label & 0xFF].second;
    const auto found =
        std::ranges::lower_bound(first, sorted_labels_->end(), label, {}, &Label::first);
    return found == sorted_labels_->end() || found->first != label ? data.count : found->second;
}

void Walk::sort_labels(const TypeCodeData& data, std::vector<Label>& labels)
{
    const CORBA::TCKind kind = resolved(*data.content)._kairos_data().kind;
    if (number_of(kind).size == 1) {
        labels.assign(octet_labels, {0, data.count});
        for (CORBA::ULong i = data.count; i-- != 0;)
            if (!is_default_member(data, i)) labels[data.numbers[i] & 0xFF].second = i;
        return;
    }
    for (CORBA::ULong i = 0; i < data.count; ++i)
        if (!is_default_member(data, i)) labels.emplace_back(data.numbers[i], i);
    std::ranges::sort(labels); // the first of equal ones is found
    // So that it is not taken for the other kind: the last one is there twice.
    if (labels.size() == octet_labels) labels.push_back(labels.back());
}

bool writes_exception_id(const cdr::Writer& out) noexcept
{
    return out.environment() == nullptr || out.environment()->exception_id_in_any;
}

void copy_value(cdr::Reader& in, cdr::Writer& out, const CORBA::TypeCode& type)
{
    Walk(in, &out).value(type);
}

Copier::Copier(cdr::Reader& in, cdr::Writer& out, CopyRules& rules)
    : walk_(new Walk(in, &out, &rules))
{
}

Copier::~Copier() = default;

void Copier::value(const CORBA::TypeCode& type) { walk_->value(type); }

Found inspect_value(cdr::Reader& in, const CORBA::TypeCode& type)
{
    Walk walk(in, nullptr);
    walk.value(type);
    return walk.found();
}

} // namespace kairos::types
