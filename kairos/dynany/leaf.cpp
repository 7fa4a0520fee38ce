// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/leaf.h"

#include "kairos/corba/abstract_base.h"
#include "kairos/corba/any_object.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"
#include "kairos/dynany/transfer.h"
#include "kairos/types/any_access.h"
#include "kairos/types/copy.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kairos::dynany {

using types::AnyAccess;

namespace {

bool is_reference(CORBA::TCKind kind) noexcept
{
    return kind == CORBA::tk_objref || kind == CORBA::tk_local_interface ||
           kind == CORBA::tk_component || kind == CORBA::tk_home;
}

/// CORBA 3.3 part 1, 16.2.2: what create_dyn_any_from_type_code begins with.
CORBA::Any default_value(const CORBA::TypeCode& type, const types::TypeCodeData& data)
{
    CORBA::Any any;
    switch (data.kind) {
    case CORBA::tk_null:
    case CORBA::tk_void:
        AnyAccess::reset(any, CORBA::TypeCode::_duplicate(types::pointer(type)),
                         AnyAccess::Form::none);
        break;
    case CORBA::tk_string:
        any <<= CORBA::Any::from_string("", data.count);
        break;
    case CORBA::tk_wstring:
        any <<= CORBA::Any::from_wstring(L"", data.count);
        break;
    case CORBA::tk_any:
        any <<= CORBA::Any();
        break;
    case CORBA::tk_TypeCode:
        any <<= CORBA::_tc_null;
        break;
    case CORBA::tk_fixed:
        any <<= CORBA::Any::from_fixed(CORBA::Fixed(), static_cast<CORBA::UShort>(data.count),
                                       static_cast<CORBA::UShort>(data.detail));
        break;
    case CORBA::tk_abstract_interface:
        corba::insert_abstract(any, types::pointer(type), nullptr);
        break;
    default:
        if (is_reference(data.kind)) {
            corba::insert_object(any, types::pointer(type), CORBA::Object::_nil());
        } else {
            const CORBA::LongDouble zero = 0; // as large as any number, and all its octets are 0
            AnyAccess::set_scalar(any, types::pointer(type), &zero, sizeof zero);
        }
    }
    return any;
}

bool same_octets(const Tree& tree, const CORBA::Any& a, const CORBA::Any& b)
{
    Transfer left(tree);
    Transfer right(tree);
    AnyAccess::encode_value(left.out(), a);
    AnyAccess::encode_value(right.out(), b);
    return std::ranges::equal(left.out().contiguous(), right.out().contiguous());
}

bool same_any(const Tree& tree, const CORBA::Any& a, const CORBA::Any& b)
{
    try {
        const NodePtr left = dynany::make_root(tree.core(), a);
        const NodePtr right = dynany::make_root(tree.core(), b);
        return left->equal(right.get());
    } catch (const DynamicAny::DynAnyFactory::InconsistentTypeCode&) {
        // Nobody can look into it.
        return AnyAccess::type(a).equivalent(types::pointer(AnyAccess::type(b))) &&
               same_octets(tree, a, b);
    }
}

} // namespace

Leaf::Leaf(Tree& tree, const CORBA::TypeCode& type) : Node(tree, type)
{
    set_any(default_value(type, data()));
}

void Leaf::set_any(const CORBA::Any& any)
{
    CORBA::Any value = any;
    if (kind() != CORBA::tk_null) value.type(&declared_type());
    value_ = std::move(value);
}

void Leaf::read(Input& in)
{
    if (kind() != CORBA::tk_abstract_interface) {
        AnyAccess::decode_value(in.data(), CORBA::TypeCode::_duplicate(&declared_type()), value_);
        return;
    }
    // As it came: who asks for it may have no factory for a value, and need none for an object.
    Transfer transfer(tree());
    types::copy_value(in.data(), transfer.out(), declared_type());
    if (in.data().ok()) value_ = transfer.any(declared_type());
}

void Leaf::write(Output& out) { AnyAccess::encode_value(out.data(), value_); }

void Leaf::take(Node& from) { set_any(from.as_leaf()->value_); }

void Leaf::load(const CORBA::Any& any, bool)
{
    const bool is_nothing = kind() == CORBA::tk_null || kind() == CORBA::tk_void;
    if (!is_nothing && !AnyAccess::holds(any, &declared_type())) raise_invalid_value();
    set_any(any);
}

CORBA::Any Leaf::store() { return value_; }

bool Leaf::same(Node& other, Compared&)
{
    const CORBA::Any& value = other.as_leaf()->value_;
    if (is_reference(kind())) {
        CORBA::Object_var mine;
        CORBA::Object_var others;
        value_ >>= CORBA::Any::to_object(mine.out());
        value >>= CORBA::Any::to_object(others.out());
        if (CORBA::is_nil(mine.in())) return CORBA::is_nil(others.in());
        return mine->_is_equivalent(others.in());
    }
    if (kind() == CORBA::tk_TypeCode) {
        CORBA::TypeCode_ptr mine = nullptr;
        CORBA::TypeCode_ptr others = nullptr;
        return (value_ >>= mine) && (value >>= others) && mine->equal(others);
    }
    if (kind() == CORBA::tk_any) {
        const CORBA::Any* mine = nullptr;
        const CORBA::Any* others = nullptr;
        return (value_ >>= mine) && (value >>= others) && same_any(tree(), *mine, *others);
    }
    return same_octets(tree(), value_, value);
}

// --- Whole numbers -------------------------------------------------------------------------------

CORBA::LongLong Leaf::number() const
{
    const auto as = [&]<typename T>(T value) {
        (void)AnyAccess::get_scalar(value_, &declared_type(), &value, sizeof value);
        return static_cast<CORBA::LongLong>(value);
    };
    switch (kind()) {
    case CORBA::tk_boolean:
    case CORBA::tk_octet:
    case CORBA::tk_char: // labels are codes
        return as(std::uint8_t{});
    case CORBA::tk_short:
        return as(CORBA::Short{});
    case CORBA::tk_ushort:
        return as(CORBA::UShort{});
    case CORBA::tk_long:
        return as(CORBA::Long{});
    case CORBA::tk_ulong:
    case CORBA::tk_enum:
        return as(CORBA::ULong{});
    case CORBA::tk_wchar:
        return as(CORBA::WChar{});
    default:
        return as(CORBA::LongLong{});
    }
}

void Leaf::set_number(CORBA::LongLong number)
{
    const auto as = [&]<typename T>(T) {
        const auto value = static_cast<T>(number);
        AnyAccess::set_scalar(value_, CORBA::TypeCode_var(type()).in(), &value, sizeof value);
    };
    switch (kind()) {
    case CORBA::tk_boolean:
    case CORBA::tk_octet:
    case CORBA::tk_char:
        return as(std::uint8_t{});
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return as(CORBA::UShort{});
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_enum:
        return as(CORBA::ULong{});
    case CORBA::tk_wchar:
        return as(CORBA::WChar{});
    default:
        return as(CORBA::LongLong{});
    }
}

// --- DynEnum -------------------------------------------------------------------------------------

char* Enumeration::get_as_string()
{
    return CORBA::string_dup(data().members[get_as_ulong()].name);
}

void Enumeration::set_as_string(const char* value)
{
    (void)tree();
    for (CORBA::ULong i = 0; value != nullptr && i < data().count; ++i)
        if (std::string_view(data().members[i].name) == value) return set_number(i);
    raise_invalid_value();
}

CORBA::ULong Enumeration::get_as_ulong()
{
    (void)tree();
    return static_cast<CORBA::ULong>(number());
}

void Enumeration::set_as_ulong(CORBA::ULong value)
{
    (void)tree();
    if (value >= data().count) raise_invalid_value();
    set_number(value);
}

// --- DynFixed ------------------------------------------------------------------------------------

namespace {

/// Throws TypeMismatch for what is no fixed-point literal, InvalidValue for one of too many digits.
CORBA::Fixed parsed(std::string_view text)
{
    const std::string_view digits = "0123456789";
    const std::size_t first = text.find_first_not_of("+-");
    const std::string_view number = first < text.size() ? text.substr(first) : std::string_view();
    const std::size_t suffix = number.find_first_of("dD");
    if (first > 1 || number.find_first_not_of("0123456789.dD") != std::string_view::npos ||
        number.find_first_of(digits) == std::string_view::npos ||
        number.find('.') != number.rfind('.') ||
        (suffix != std::string_view::npos && suffix + 1 != number.size()))
        raise_type_mismatch();
    try {
        return CORBA::Fixed(text);
    } catch (const CORBA::DATA_CONVERSION&) {
        raise_invalid_value();
    }
}

} // namespace

char* FixedNumber::get_value()
{
    (void)tree();
    CORBA::Fixed number;
    value() >>= CORBA::Any::to_fixed(number, static_cast<CORBA::UShort>(data().count),
                                     static_cast<CORBA::UShort>(data().detail));
    return number.to_string();
}

CORBA::Boolean FixedNumber::set_value(const char* val)
{
    (void)tree();
    if (val == nullptr) raise_type_mismatch();
    const auto digits = static_cast<CORBA::UShort>(data().count);
    const auto scale = static_cast<CORBA::UShort>(data().detail);
    const CORBA::Fixed number = parsed(val);
    if (!number.kairos_fits(digits, scale)) raise_invalid_value();
    set(CORBA::Any::from_fixed(number, digits, scale));
    return number.fixed_scale() <= scale;
}

} // namespace kairos::dynany
