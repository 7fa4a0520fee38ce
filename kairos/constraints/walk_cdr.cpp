// SPDX-License-Identifier: Apache-2.0
//
// Steps within a value in CDR. The bytes are valid, as whoever made an Any of them has seen to;
// what is not is a mismatch here.
#include "kairos/constraints/machine.h"
#include "kairos/types/copy.h"

namespace kairos::constraints {
namespace {

using types::TypeCodeData;

bool is_struct(const TypeCodeData& type) noexcept
{
    return type.kind == CORBA::tk_struct || type.kind == CORBA::tk_except;
}

/// In front of an exception's members is its repository id.
void begin_struct(Place& place)
{
    if (place.type->kind == CORBA::tk_except) (void)place.in.read_string();
}

/// How long a number is in CDR, which is its alignment, too; 0 for other kinds.
std::size_t number_size(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return 1;
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return 2;
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_float:
    case CORBA::tk_enum:
        return 4;
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_double:
        return 8;
    default:
        return 0;
    }
}

/// The member that a label, a value of the discriminator, selects; `count` for none.
std::uint32_t member_of(const TypeCodeData& type, std::int64_t label) noexcept
{
    for (std::uint32_t i = 0; i < type.count; ++i)
        if (type.numbers[i] == label && !types::is_default_member(type, i)) return i;
    return type.detail >= 0 ? static_cast<std::uint32_t>(type.detail) : type.count;
}

/// A value of the discriminator as labels have it. False: it is no such type.
bool read_label(cdr::Reader& in, const TypeCodeData& type, std::int64_t& label)
{
    switch (type.kind) {
    case CORBA::tk_boolean:
        return label = in.read<bool>() ? 1 : 0, in.ok();
    case CORBA::tk_char: // as TypeCodes read from the wire have them: without a sign
    case CORBA::tk_octet:
        return label = in.read<std::uint8_t>(), in.ok();
    case CORBA::tk_short:
        return label = in.read<std::int16_t>(), in.ok();
    case CORBA::tk_ushort:
        return label = in.read<std::uint16_t>(), in.ok();
    case CORBA::tk_long:
        return label = in.read<std::int32_t>(), in.ok();
    case CORBA::tk_ulong:
    case CORBA::tk_enum:
        return label = in.read<std::uint32_t>(), in.ok();
    case CORBA::tk_longlong:
        return label = in.read<std::int64_t>(), in.ok();
    case CORBA::tk_ulonglong:
        return label = static_cast<std::int64_t>(in.read<std::uint64_t>()), in.ok();
    default:
        return false;
    }
}

/// The label that a text means: an enumerator, a char, TRUE or FALSE.
bool label_named(const TypeCodeData& type, std::string_view name, std::int64_t& label) noexcept
{
    switch (type.kind) {
    case CORBA::tk_enum:
        for (std::uint32_t i = 0; i < type.count; ++i) {
            label = i;
            if (name == type.members[i].name) return true;
        }
        return false;
    case CORBA::tk_char:
        if (name.size() != 1) return false;
        label = static_cast<unsigned char>(name[0]);
        return true;
    case CORBA::tk_boolean:
        label = name == "TRUE" ? 1 : 0;
        return name == "TRUE" || name == "FALSE";
    default:
        return false;
    }
}

/// How deep pass_over() looks by itself: what events are made of is no deeper.
constexpr int passed_depth_max = 8;

void pass_over(cdr::Reader& in, const CORBA::TypeCode& type, int depth);

void pass_over_elements(cdr::Reader& in, const TypeCodeData& type, int depth)
{
    std::size_t count =
        type.kind == CORBA::tk_array ? type.count : std::size_t{in.read<std::uint32_t>()};
    const CORBA::TypeCode& element = *type.content;
    const std::size_t size = number_size(types::resolved(element)._kairos_data().kind);
    if (size != 0 && count != 0) {
        (void)in.block(size * count, size);
    } else {
        for (; count != 0 && in.left() != 0; --count)
            pass_over(in, element, depth);
    }
}

/// Passes over a value as inspect_value does, but allocates nothing on the way through simple
/// types; what is not simple, or deep, is left to that.
void pass_over(cdr::Reader& in, const CORBA::TypeCode& type, int depth)
{
    const TypeCodeData& data = types::resolved(type)._kairos_data();
    const bool is_deep = ++depth > passed_depth_max;
    if (const std::size_t size = number_size(data.kind); size != 0) {
        (void)in.block(size, size);
    } else if (data.kind == CORBA::tk_string) {
        (void)in.read_string();
    } else if (data.kind == CORBA::tk_struct && !is_deep) {
        for (CORBA::ULong i = 0; i < data.count && in.ok(); ++i)
            pass_over(in, *data.members[i].type, depth);
    } else if ((data.kind == CORBA::tk_sequence || data.kind == CORBA::tk_array) && !is_deep) {
        pass_over_elements(in, data, depth);
    } else if (data.kind == CORBA::tk_any && !is_deep) {
        cdr::Reader behind = in;
        const CORBA::TypeCode* const inner = read_simple_type(behind);
        if (inner == nullptr) return void(types::inspect_value(in, type));
        in = behind;
        pass_over(in, *inner, depth);
    } else {
        (void)types::inspect_value(in, type);
    }
}

} // namespace

/// A TypeCode that is a constant, which needs no memory; null, with the reader anywhere, for
/// others.
const CORBA::TypeCode* read_simple_type(cdr::Reader& in)
{
#define KAIROS_SIMPLE_TYPE(kind, name)                                                             \
    case CORBA::kind:                                                                              \
        return &CORBA::_kairos_tc_##name;
    switch (in.read<std::uint32_t>()) {
        KAIROS_BASIC_TYPES(KAIROS_SIMPLE_TYPE)
    case CORBA::tk_string:
        return in.read<std::uint32_t>() == 0 ? &CORBA::_kairos_tc_string : nullptr;
    default:
        return nullptr;
    }
#undef KAIROS_SIMPLE_TYPE
}

/// Passes over a value.
Fault Machine::pass(cdr::Reader& in, const CORBA::TypeCode& type)
{
    const std::size_t before = in.left();
    pass_over(in, type, 0);
    if (!work(steps_of(before - in.left()))) return Fault::limit;
    return in.ok() ? Fault::none : Fault::mismatch;
}

Fault Machine::go_in_cdr(const Step& step, Place& place)
{
    switch (step.kind) {
    case Step::Kind::member:
        return to_member(step.text, place);
    case Step::Kind::position:
        return to_position(step.number, place);
    case Step::Kind::element:
        return to_element(step.number, place);
    case Step::Kind::named:
        return to_named(step.text, place);
    case Step::Kind::length:
        return to_length(place);
    case Step::Kind::discriminator:
        return to_discriminator(place);
    default:
        return to_label(step, place);
    }
}

Fault Machine::to_member(std::string_view name, Place& place)
{
    const TypeCodeData& type = *place.type;
    if (type.kind == CORBA::tk_union) {
        std::uint32_t active = 0;
        if (const Fault fault = read_union(place, active); fault != Fault::none) return fault;
        if (active == type.count || name != type.members[active].name) return Fault::missing;
        return enter_cdr(*type.members[active].type, place);
    }
    if (!is_struct(type)) return Fault::mismatch;
    if (!work(steps_of(type.count))) return Fault::limit;
    for (std::uint32_t i = 0; i < type.count; ++i)
        if (name == type.members[i].name) return to_position(i, place);
    return Fault::missing;
}

Fault Machine::to_position(std::int64_t position, Place& place)
{
    const TypeCodeData& type = *place.type;
    if (!is_struct(type)) return Fault::mismatch;
    if (position >= std::int64_t{type.count}) return Fault::missing;
    begin_struct(place);
    for (std::int64_t i = 0; i < position; ++i)
        if (const Fault fault = pass(place.in, *type.members[i].type); fault != Fault::none)
            return fault;
    return enter_cdr(*type.members[position].type, place);
}

Fault Machine::read_count(Place& place, std::uint32_t& count)
{
    const TypeCodeData& type = *place.type;
    if (type.kind == CORBA::tk_array) {
        count = type.count;
        return Fault::none;
    }
    if (type.kind != CORBA::tk_sequence) return Fault::mismatch;
    count = place.in.read<std::uint32_t>();
    return place.in.ok() ? Fault::none : Fault::mismatch;
}

Fault Machine::to_element(std::int64_t index, Place& place)
{
    std::uint32_t count = 0;
    if (const Fault fault = read_count(place, count); fault != Fault::none) return fault;
    if (index >= std::int64_t{count}) return Fault::missing;
    const CORBA::TypeCode& element = *place.type->content;
    const CORBA::TCKind kind = types::resolved(element)._kairos_data().kind;
    if (const std::size_t size = number_size(kind); size != 0) {
        (void)place.in.block(size * static_cast<std::size_t>(index), size);
    } else {
        for (; index != 0; --index)
            if (const Fault fault = pass(place.in, element); fault != Fault::none) return fault;
    }
    return enter_cdr(element, place);
}

Fault Machine::to_length(Place& place)
{
    std::uint32_t count = 0;
    if (const Fault fault = read_count(place, count); fault != Fault::none) return fault;
    place.form = Place::Form::simple;
    place.simple = Operand::of(Integer{count});
    return Fault::none;
}

/// In a sequence of structs of a name and a value, as CosNotification::PropertySeq.
Fault Machine::to_named(std::string_view name, Place& place)
{
    std::uint32_t count = 0;
    if (place.type->kind != CORBA::tk_sequence && place.type->kind != CORBA::tk_array)
        return Fault::mismatch;
    const TypeCodeData& pair = types::resolved(*place.type->content)._kairos_data();
    if (pair.kind != CORBA::tk_struct || pair.count != 2 ||
        types::resolved(*pair.members[0].type)._kairos_data().kind != CORBA::tk_string)
        return Fault::mismatch;
    if (const Fault fault = read_count(place, count); fault != Fault::none) return fault;
    for (; count != 0; --count) {
        const std::string_view found = place.in.read_string();
        if (!place.in.ok()) return Fault::mismatch;
        if (!work(steps_of(found.size()))) return Fault::limit;
        if (found == name) return enter_cdr(*pair.members[1].type, place);
        if (const Fault fault = pass(place.in, *pair.members[1].type); fault != Fault::none)
            return fault;
    }
    return Fault::missing;
}

Fault Machine::read_union(Place& place, std::uint32_t& active)
{
    const TypeCodeData& type = *place.type;
    std::int64_t label = 0;
    if (type.kind != CORBA::tk_union ||
        !read_label(place.in, types::resolved(*type.content)._kairos_data(), label))
        return Fault::mismatch;
    if (!work(steps_of(type.count))) return Fault::limit;
    active = member_of(type, label);
    return Fault::none;
}

/// `.(label)` is there where the discriminator has selected the member that the label selects.
Fault Machine::to_label(const Step& step, Place& place)
{
    const TypeCodeData& type = *place.type;
    std::uint32_t active = 0;
    if (const Fault fault = read_union(place, active); fault != Fault::none) return fault;
    if (active == type.count) return Fault::missing;
    if (step.kind == Step::Kind::label_default) {
        if (!types::is_default_member(type, active)) return Fault::missing;
    } else {
        const TypeCodeData& discriminator = types::resolved(*type.content)._kairos_data();
        if (!work(steps_of(std::size_t{type.count} + discriminator.count))) return Fault::limit;
        std::int64_t label = step.number;
        if (step.kind == Step::Kind::label_name && !label_named(discriminator, step.text, label))
            return Fault::mismatch;
        // A member with several labels is there several times.
        const std::uint32_t wanted = member_of(type, label);
        if (wanted == type.count || std::string_view(type.members[wanted].name) !=
                                        std::string_view(type.members[active].name))
            return Fault::missing;
    }
    return enter_cdr(*type.members[active].type, place);
}

Fault Machine::to_discriminator(Place& place)
{
    if (place.type->kind != CORBA::tk_union) return Fault::mismatch;
    return enter_cdr(*place.type->content, place);
}

} // namespace kairos::constraints
