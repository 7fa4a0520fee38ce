// SPDX-License-Identifier: Apache-2.0
//
// From a name or `$` to a place, whoever holds the value, and what a place is as an operand.
#include "kairos/cdr/writer.h"
#include "kairos/constraints/machine.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_wire.h"

#include <cstring>

namespace kairos::constraints {
namespace {

using types::AnyAccess;
using types::TypeCodeData;

template <typename T>
T value_at(const void* value) noexcept
{
    T out;
    std::memcpy(&out, value, sizeof out);
    return out;
}

template <std::integral T>
Operand integer(T value) noexcept
{
    return Operand::of(Integer{value});
}

/// A number, enum or char that an Any keeps as it is in C++. False: not of such a kind.
bool read_scalar(const TypeCodeData& type, const void* value, Operand& result) noexcept
{
    switch (type.kind) {
    case CORBA::tk_boolean:
        return result = Operand::of(value_at<CORBA::Boolean>(value)), true;
    case CORBA::tk_char:
        return result = Operand::of(std::string_view(static_cast<const char*>(value), 1)), true;
    case CORBA::tk_octet:
        return result = integer(value_at<CORBA::Octet>(value)), true;
    case CORBA::tk_short:
        return result = integer(value_at<CORBA::Short>(value)), true;
    case CORBA::tk_ushort:
        return result = integer(value_at<CORBA::UShort>(value)), true;
    case CORBA::tk_long:
        return result = integer(value_at<CORBA::Long>(value)), true;
    case CORBA::tk_ulong:
        return result = integer(value_at<CORBA::ULong>(value)), true;
    case CORBA::tk_longlong:
        return result = integer(value_at<CORBA::LongLong>(value)), true;
    case CORBA::tk_ulonglong:
        return result = integer(value_at<CORBA::ULongLong>(value)), true;
    case CORBA::tk_float:
        return result = Operand::of(double{value_at<CORBA::Float>(value)}), true;
    case CORBA::tk_double:
        return result = Operand::of(value_at<CORBA::Double>(value)), true;
    case CORBA::tk_longdouble:
        result = Operand::of(static_cast<double>(value_at<CORBA::LongDouble>(value)));
        return true;
    case CORBA::tk_enum:
        return result = Operand::of(type, value_at<std::uint32_t>(value)), true;
    default:
        return false;
    }
}

/// Digits as CDR has them (CORBA 3.3 part 2, 9.3.2.8): two in an octet, the sign in the last half.
bool read_fixed(cdr::Reader& in, const TypeCodeData& type, Operand& result)
{
    const std::size_t size = type.count / 2 + 1;
    const std::byte* const octets = in.block(size, 1);
    if (octets == nullptr) return false;
    double value = 0;
    for (std::size_t half = 0; half + 1 < 2 * size; ++half) {
        const auto octet = std::to_integer<unsigned>(octets[half / 2]);
        value = 10 * value + (half % 2 == 0 ? octet >> 4 : octet & 0xF);
    }
    for (CORBA::Long i = 0; i < type.detail; ++i)
        value /= 10;
    const bool negative = (std::to_integer<unsigned>(octets[size - 1]) & 0xF) == 0xD;
    result = Operand::of(negative ? -value : value);
    return true;
}

bool read_cdr(cdr::Reader& in, const TypeCodeData& type, Operand& result)
{
    switch (type.kind) {
    case CORBA::tk_boolean:
        return result = Operand::of(in.read<bool>()), true;
    case CORBA::tk_char: {
        const auto* const at = reinterpret_cast<const char*>(in.block(1, 1));
        return at != nullptr && (result = Operand::of(std::string_view(at, 1)), true);
    }
    case CORBA::tk_octet:
        return result = integer(in.read<std::uint8_t>()), true;
    case CORBA::tk_short:
        return result = integer(in.read<std::int16_t>()), true;
    case CORBA::tk_ushort:
        return result = integer(in.read<std::uint16_t>()), true;
    case CORBA::tk_long:
        return result = integer(in.read<std::int32_t>()), true;
    case CORBA::tk_ulong:
        return result = integer(in.read<std::uint32_t>()), true;
    case CORBA::tk_longlong:
        return result = integer(in.read<std::int64_t>()), true;
    case CORBA::tk_ulonglong:
        return result = integer(in.read<std::uint64_t>()), true;
    case CORBA::tk_float:
        return result = Operand::of(double{in.read<float>()}), true;
    case CORBA::tk_double:
        return result = Operand::of(in.read<double>()), true;
    case CORBA::tk_longdouble: {
        CORBA::LongDouble value{};
        mapping::decode(in, value);
        return result = Operand::of(static_cast<double>(value)), true;
    }
    case CORBA::tk_enum:
        return result = Operand::of(type, in.read<std::uint32_t>()), true;
    case CORBA::tk_string:
        return result = Operand::of(in.read_string()), true;
    case CORBA::tk_fixed:
        return read_fixed(in, type, result);
    default:
        return false;
    }
}

Fault be_simple(const Operand& operand, Place& place) noexcept
{
    place.form = Place::Form::simple;
    place.simple = operand;
    return Fault::none;
}

} // namespace

Fault Machine::read(Place& place, Operand& result)
{
    if (place.form == Place::Form::simple) {
        result = place.simple;
        return Fault::none;
    }
    if (place.form != Place::Form::cdr || !read_cdr(place.in, *place.type, result) ||
        !place.in.ok())
        return Fault::mismatch;
    return Fault::none;
}

// --- Where a path begins ------------------------------------------------------------------------

Fault Machine::find(const Path& path, Place& place)
{
    Fault fault = Fault::none;
    switch (path.root) {
    case Path::Root::event:
        fault = enter(subject_->event(), place);
        break;
    case Path::Root::variable:
        fault = find_variable(path.name, place);
        break;
    case Path::Root::property:
        fault = enter(subject_->find(path.name), place);
        break;
    }
    for (const Step& step : path.steps) {
        if (fault != Fault::none) return fault;
        if (!work(1)) return Fault::limit;
        fault = go(step, place);
    }
    return fault;
}

/// `$name` (CosNotification 1.1, 2.4.5): in the fixed header, in the variable header, in the
/// filterable data; of an event that has none of these, its member.
Fault Machine::find_variable(std::string_view name, Place& place)
{
    Fault fault = enter(subject_->find(name), place);
    if (fault != Fault::missing) return fault;
    Place event;
    fault = enter(subject_->event(), event);
    if (fault != Fault::none) return fault;
    const auto is_found = [&] { return fault == Fault::none || fault == Fault::limit; };

    place = event;
    fault = go({.kind = Step::Kind::member, .text = "header"}, place);
    if (fault == Fault::none) fault = find_in_header(name, place);
    if (is_found()) return fault;
    place = event;
    fault = go({.kind = Step::Kind::member, .text = "filterable_data"}, place);
    if (fault == Fault::none) fault = go({.kind = Step::Kind::named, .text = name}, place);
    if (is_found()) return fault;
    place = event;
    fault = go({.kind = Step::Kind::member, .text = name}, place);
    if (is_found()) return fault;
    place = event;
    fault = go({.kind = Step::Kind::named, .text = name}, place);
    return is_found() ? fault : Fault::missing;
}

/// `header` becomes the place.
Fault Machine::find_in_header(std::string_view name, Place& header)
{
    Place place = header;
    Fault fault = go({.kind = Step::Kind::member, .text = "fixed_header"}, place);
    if (fault == Fault::none && (name == "domain_name" || name == "type_name"))
        fault = go({.kind = Step::Kind::member, .text = "event_type"}, place);
    if (fault == Fault::none) fault = go({.kind = Step::Kind::member, .text = name}, place);
    // event_type itself is none of those that can be named alone.
    if (fault == Fault::none && name != "event_type") {
        header = place;
        return fault;
    }
    if (fault == Fault::limit) return fault;
    fault = go({.kind = Step::Kind::member, .text = "variable_header"}, header);
    return fault == Fault::none ? go({.kind = Step::Kind::named, .text = name}, header) : fault;
}

Fault Machine::enter(const Term& term, Place& place)
{
    place.type = nullptr;
    switch (term.form()) {
    case Term::Form::missing:
        break;
    case Term::Form::boolean:
        return be_simple(Operand::of(term.boolean()), place);
    case Term::Form::integer:
        return be_simple(integer(term.integer()), place);
    case Term::Form::natural:
        return be_simple(integer(term.natural()), place);
    case Term::Form::real:
        return be_simple(Operand::of(term.real()), place);
    case Term::Form::text:
        return be_simple(Operand::of(term.text()), place);
    case Term::Form::any:
        return enter(term.any(), place);
    case Term::Form::structure:
        place.form = Place::Form::structure;
        place.structure = &term.structure();
        return Fault::none;
    }
    return Fault::missing;
}

Fault Machine::enter(const CORBA::Any& any, Place& place)
{
    const TypeCodeData& type = types::resolved(AnyAccess::type(any))._kairos_data();
    place.type = &type;
    if (const types::AnyBytes* const received = AnyAccess::bytes(any)) {
        place.in = received->reader(environment_);
        return enter_cdr(AnyAccess::type(any), place);
    }
    const void* const value = any.value();
    if (value == nullptr) return Fault::missing; // a type without a value
    Operand operand;                             // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (read_scalar(type, value, operand)) return be_simple(operand, place);
    if (const char* const text = AnyAccess::string(any))
        return be_simple(Operand::of(std::string_view(text)), place);
    if (AnyAccess::wstring(any) != nullptr || type.kind == CORBA::tk_wchar) {
        place.form = Place::Form::cdr; // an empty one: it exists, and is nothing else
        place.in = {};
        return Fault::none;
    }
    const CORBA::Any* inner = nullptr;
    if (type.kind == CORBA::tk_any && types::extract(any, CORBA::_tc_any, inner)) {
        if (!work(1)) return Fault::limit;
        return enter(*inner, place);
    }
    Bytes bytes;
    try {
        bytes = encoded(any);
    } catch (const CORBA::Exception&) { // a value that is none, as a struct with a null string
        return Fault::mismatch;
    }
    place.in = cdr::Reader(bytes, native_little_endian);
    place.in.set_environment(&environment_);
    return enter_cdr(AnyAccess::type(any), place);
}

/// Makes the place, whose reader stands at a value, one of this type; behind any Anys.
Fault Machine::enter_cdr(const CORBA::TypeCode& type, Place& place)
{
    place.form = Place::Form::cdr;
    place.type = &types::resolved(type)._kairos_data();
    while (place.type->kind == CORBA::tk_any) {
        if (!work(1)) return Fault::limit;
        cdr::Reader behind = place.in;
        if (const CORBA::TypeCode* const simple = read_simple_type(behind)) {
            place.in = behind;
            place.type = &simple->_kairos_data();
            continue;
        }
        TypeCodeHolder inner = types::decode_type_code(place.in);
        if (!place.in.ok()) return Fault::mismatch;
        place.type = &types::resolved(*inner.in())._kairos_data();
        types_.push_back(std::move(inner));
    }
    const bool is_nothing =
        place.type->kind == CORBA::tk_null || place.type->kind == CORBA::tk_void;
    return is_nothing ? Fault::missing : Fault::none;
}

/// The value, which is held in its C++ type, in CDR.
Bytes Machine::encoded(const CORBA::Any& any)
{
    for (std::size_t i = 0; i < encoded_count_; ++i)
        if (encoded_[i].any == &any) return encoded_[i].bytes;
    if (encoded_count_ == encoded_.size()) encoded_.emplace_back();
    Encoded& form = encoded_[encoded_count_];
    cdr::Writer out(form.buffer);
    const cdr::Writer::CopyAll copy_all(out);
    const cdr::Environment environment;
    out.set_environment(&environment);
    AnyAccess::encode_value(out, any);
    form.any = &any;
    form.bytes = out.contiguous();
    ++encoded_count_;
    return form.bytes;
}

// --- Steps --------------------------------------------------------------------------------------

Fault Machine::go(const Step& step, Place& place)
{
    if (place.form == Place::Form::structure) return go_in_structure(step, place);
    if (place.type == nullptr) return Fault::mismatch; // a simple value of the program's
    if (step.kind == Step::Kind::type_id || step.kind == Step::Kind::repository_id) {
        const char* const text =
            step.kind == Step::Kind::type_id ? place.type->name : place.type->id;
        if (*text == '\0') return Fault::missing;
        return be_simple(Operand::of(std::string_view(text)), place);
    }
    return place.form == Place::Form::cdr ? go_in_cdr(step, place) : Fault::mismatch;
}

Fault Machine::go_in_structure(const Step& step, Place& place)
{
    const Structure& structure = *place.structure;
    const auto text = [&](std::string_view value) {
        return value.empty() ? Fault::missing : enter(Term(value), place);
    };
    switch (step.kind) {
    case Step::Kind::member:
        return enter(structure.member(step.text), place);
    case Step::Kind::position:
        return enter(structure.member_at(static_cast<std::size_t>(step.number)), place);
    case Step::Kind::named:
        return enter(structure.named(step.text), place);
    case Step::Kind::type_id:
        return text(structure.type_name());
    case Step::Kind::repository_id:
        return text(structure.repository_id());
    case Step::Kind::length:
    case Step::Kind::element: {
        const std::optional<std::size_t> count = structure.length();
        if (!count) return Fault::mismatch;
        if (step.kind == Step::Kind::length) return enter(Term(*count), place);
        const auto index = static_cast<std::size_t>(step.number);
        return index < *count ? enter(structure.element(index), place) : Fault::missing;
    }
    default:
        return Fault::mismatch;
    }
}

} // namespace kairos::constraints
