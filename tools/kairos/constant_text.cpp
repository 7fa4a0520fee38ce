// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/constant_text.h"

#include "tools/kairos/value_json.h"

#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace kairos::tools {
namespace {

[[noreturn]] void no_value() { throw std::runtime_error("no constant has a value of this type"); }

FindType no_types()
{
    return [](const std::string&) { return CORBA::TypeCode::_nil(); };
}

CORBA::ULong bound_of(const idlc::Type& type) { return static_cast<CORBA::ULong>(type.bound); }

template <typename T>
T number_of(const idlc::Value& value)
{
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<T>(*number);
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return static_cast<T>(*number);
    if (const auto* number = std::get_if<long double>(&value)) return static_cast<T>(*number);
    no_value();
}

template <typename T>
idlc::Value extracted(const CORBA::Any& value)
{
    T number{};
    if (!(value >>= number)) no_value();
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<long double>(number);
    else if constexpr (std::is_signed_v<T>)
        return static_cast<std::int64_t>(number);
    else
        return static_cast<std::uint64_t>(number);
}

/// Without the alias around it.
CORBA::Any plain(const CORBA::Any& value)
{
    CORBA::Any copy = value;
    const CORBA::TypeCode_var type = value.type();
    copy.type(const_cast<CORBA::TypeCode_ptr>(&types::resolved(*type.in())));
    return copy;
}

/// Inserts what is a number, whatever its size; false for other types.
bool insert_number(CORBA::Any& into, idlc::TypeKind kind, const idlc::Value& value)
{
    using enum idlc::TypeKind;
    switch (kind) {
    case octet:
    case int8:
    case uint8:
        into <<= CORBA::Any::from_octet(number_of<CORBA::Octet>(value));
        return true;
    case short_:
        into <<= number_of<CORBA::Short>(value);
        return true;
    case unsigned_short:
        into <<= number_of<CORBA::UShort>(value);
        return true;
    case long_:
        into <<= number_of<CORBA::Long>(value);
        return true;
    case unsigned_long:
        into <<= number_of<CORBA::ULong>(value);
        return true;
    case long_long:
        into <<= number_of<CORBA::LongLong>(value);
        return true;
    case unsigned_long_long:
        into <<= number_of<CORBA::ULongLong>(value);
        return true;
    case float_:
        into <<= number_of<CORBA::Float>(value);
        return true;
    case double_:
        into <<= number_of<CORBA::Double>(value);
        return true;
    case long_double:
        into <<= number_of<CORBA::LongDouble>(value);
        return true;
    default:
        return false;
    }
}

/// The number that a value is; nothing for other types.
std::optional<idlc::Value> number_in(const CORBA::Any& value, CORBA::TCKind kind)
{
    switch (kind) {
    case CORBA::tk_octet: {
        CORBA::Octet octet = 0;
        if (!(value >>= CORBA::Any::to_octet(octet))) no_value();
        return std::uint64_t{octet};
    }
    case CORBA::tk_short:
        return extracted<CORBA::Short>(value);
    case CORBA::tk_ushort:
        return extracted<CORBA::UShort>(value);
    case CORBA::tk_long:
        return extracted<CORBA::Long>(value);
    case CORBA::tk_ulong:
        return extracted<CORBA::ULong>(value);
    case CORBA::tk_longlong:
        return extracted<CORBA::LongLong>(value);
    case CORBA::tk_ulonglong:
        return extracted<CORBA::ULongLong>(value);
    case CORBA::tk_float:
        return extracted<CORBA::Float>(value);
    case CORBA::tk_double:
        return extracted<CORBA::Double>(value);
    case CORBA::tk_longdouble:
        return extracted<CORBA::LongDouble>(value);
    default:
        return std::nullopt;
    }
}

} // namespace

CORBA::Any any_of(const idlc::Constant& constant, CORBA::TypeCode_ptr code, CORBA::ORB_ptr orb)
{
    const idlc::Type& type = idlc::resolved(*constant.type);
    const idlc::Value& value = constant.value;
    CORBA::Any made;
    using enum idlc::TypeKind;
    switch (type.kind) {
    case boolean:
        made <<= CORBA::Any::from_boolean(std::get<bool>(value));
        break;
    case char_:
        made <<= CORBA::Any::from_char(std::get<char>(value));
        break;
    case wchar:
        made <<= CORBA::Any::from_wchar(static_cast<CORBA::WChar>(std::get<char32_t>(value)));
        break;
    case string:
        made <<= CORBA::Any::from_string(std::get<std::string>(value).c_str(), bound_of(type));
        break;
    case wstring: {
        std::vector<CORBA::WChar> text;
        for (const char32_t c : std::get<std::u32string>(value))
            text.push_back(static_cast<CORBA::WChar>(c));
        text.push_back(0);
        made <<= CORBA::Any::from_wstring(text.data(), bound_of(type));
        break;
    }
    case fixed: {
        const auto& number = std::get<idlc::FixedValue>(value);
        made <<= CORBA::Any::from_fixed(CORBA::Fixed(number.text.c_str()), code->fixed_digits(),
                                        static_cast<CORBA::UShort>(code->fixed_scale()));
        break;
    }
    default:
        if (insert_number(made, type.kind, value)) break;
        if (const auto* enumerator = std::get_if<const idlc::Enumerator*>(&value)) {
            const CORBA::Any_var named =
                ValueJson(orb, no_types()).value_of(Json((*enumerator)->name), code);
            return named.in();
        }
        no_value();
    }
    made.type(code);
    return made;
}

std::string literal_of(const CORBA::Any& value, CORBA::ORB_ptr orb)
{
    const CORBA::Any bare = plain(value);
    const CORBA::TypeCode_var type = bare.type();
    if (const auto number = number_in(bare, type->kind())) return idlc::to_string(*number);
    idlc::Value read;
    switch (type->kind()) {
    case CORBA::tk_boolean: {
        CORBA::Boolean flag = false;
        if (!(bare >>= CORBA::Any::to_boolean(flag))) no_value();
        read = flag;
        break;
    }
    case CORBA::tk_char: {
        CORBA::Char c = 0;
        if (!(bare >>= CORBA::Any::to_char(c))) no_value();
        read = c;
        break;
    }
    case CORBA::tk_wchar: {
        CORBA::WChar c = 0;
        if (!(bare >>= CORBA::Any::to_wchar(c))) no_value();
        read = static_cast<char32_t>(c);
        break;
    }
    case CORBA::tk_string: {
        const char* text = nullptr;
        if (!(bare >>= CORBA::Any::to_string(text, type->length()))) no_value();
        read = std::string(text);
        break;
    }
    case CORBA::tk_wstring: {
        const CORBA::WChar* text = nullptr;
        if (!(bare >>= CORBA::Any::to_wstring(text, type->length()))) no_value();
        std::u32string wide;
        for (; *text != 0; ++text)
            wide += static_cast<char32_t>(*text);
        read = wide;
        break;
    }
    case CORBA::tk_fixed: {
        CORBA::Fixed number;
        const auto scale = static_cast<CORBA::UShort>(type->fixed_scale());
        if (!(bare >>= CORBA::Any::to_fixed(number, type->fixed_digits(), scale))) no_value();
        const CORBA::String_var text = number.to_string();
        return std::string(text.in()) + 'd';
    }
    case CORBA::tk_enum:
        return ValueJson(orb, no_types()).json_of(bare).get<std::string>();
    default:
        no_value();
    }
    return idlc::to_string(read);
}

} // namespace kairos::tools
