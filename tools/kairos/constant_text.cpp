// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/constant_text.h"

#include "tools/kairos/value_json.h"

#include <stdexcept>
#include <vector>

namespace kairos::tools {
namespace {

[[noreturn]] void fail() { throw std::runtime_error("no constant has a value of this type"); }

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
    fail();
}

template <typename T>
idlc::Value extracted(const CORBA::Any& value)
{
    T number{};
    if (!(value >>= number)) fail();
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
    case octet:
    case int8:
    case uint8:
        made <<= CORBA::Any::from_octet(number_of<CORBA::Octet>(value));
        break;
    case short_:
        made <<= number_of<CORBA::Short>(value);
        break;
    case unsigned_short:
        made <<= number_of<CORBA::UShort>(value);
        break;
    case long_:
        made <<= number_of<CORBA::Long>(value);
        break;
    case unsigned_long:
        made <<= number_of<CORBA::ULong>(value);
        break;
    case long_long:
        made <<= number_of<CORBA::LongLong>(value);
        break;
    case unsigned_long_long:
        made <<= number_of<CORBA::ULongLong>(value);
        break;
    case float_:
        made <<= number_of<CORBA::Float>(value);
        break;
    case double_:
        made <<= number_of<CORBA::Double>(value);
        break;
    case long_double:
        made <<= number_of<CORBA::LongDouble>(value);
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
        if (const auto* enumerator = std::get_if<const idlc::Enumerator*>(&value)) {
            const CORBA::Any_var named =
                ValueJson(orb, no_types()).value_of(Json((*enumerator)->name), code);
            return named.in();
        }
        fail();
    }
    made.type(code);
    return made;
}

std::string literal_of(const CORBA::Any& value, CORBA::ORB_ptr orb)
{
    const CORBA::Any bare = plain(value);
    const CORBA::TypeCode_var type = bare.type();
    idlc::Value read;
    switch (type->kind()) {
    case CORBA::tk_boolean: {
        CORBA::Boolean flag = false;
        if (!(bare >>= CORBA::Any::to_boolean(flag))) fail();
        read = flag;
        break;
    }
    case CORBA::tk_char: {
        CORBA::Char c = 0;
        if (!(bare >>= CORBA::Any::to_char(c))) fail();
        read = c;
        break;
    }
    case CORBA::tk_wchar: {
        CORBA::WChar c = 0;
        if (!(bare >>= CORBA::Any::to_wchar(c))) fail();
        read = static_cast<char32_t>(c);
        break;
    }
    case CORBA::tk_octet: {
        CORBA::Octet octet = 0;
        if (!(bare >>= CORBA::Any::to_octet(octet))) fail();
        read = std::uint64_t{octet};
        break;
    }
    case CORBA::tk_short:
        read = extracted<CORBA::Short>(bare);
        break;
    case CORBA::tk_ushort:
        read = extracted<CORBA::UShort>(bare);
        break;
    case CORBA::tk_long:
        read = extracted<CORBA::Long>(bare);
        break;
    case CORBA::tk_ulong:
        read = extracted<CORBA::ULong>(bare);
        break;
    case CORBA::tk_longlong:
        read = extracted<CORBA::LongLong>(bare);
        break;
    case CORBA::tk_ulonglong:
        read = extracted<CORBA::ULongLong>(bare);
        break;
    case CORBA::tk_float:
        read = extracted<CORBA::Float>(bare);
        break;
    case CORBA::tk_double:
        read = extracted<CORBA::Double>(bare);
        break;
    case CORBA::tk_longdouble:
        read = extracted<CORBA::LongDouble>(bare);
        break;
    case CORBA::tk_string: {
        const char* text = nullptr;
        if (!(bare >>= CORBA::Any::to_string(text, type->length()))) fail();
        read = std::string(text);
        break;
    }
    case CORBA::tk_wstring: {
        const CORBA::WChar* text = nullptr;
        if (!(bare >>= CORBA::Any::to_wstring(text, type->length()))) fail();
        std::u32string wide;
        for (; *text != 0; ++text)
            wide += static_cast<char32_t>(*text);
        read = wide;
        break;
    }
    case CORBA::tk_fixed: {
        CORBA::Fixed number;
        const auto scale = static_cast<CORBA::UShort>(type->fixed_scale());
        if (!(bare >>= CORBA::Any::to_fixed(number, type->fixed_digits(), scale))) fail();
        const CORBA::String_var text = number.to_string();
        return std::string(text.in()) + 'd';
    }
    case CORBA::tk_enum:
        return ValueJson(orb, no_types()).json_of(bare).get<std::string>();
    default:
        fail();
    }
    return idlc::to_string(read);
}

} // namespace kairos::tools
