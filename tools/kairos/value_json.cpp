// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/value_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kairos::tools {
namespace {

using namespace DynamicAny;
using json = Json;

// --- Text ----------------------------------------------------------------------------------------

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string hex(const unsigned char* octets, std::size_t count)
{
    std::string text;
    text.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i)
        text.append({hex_digits[octets[i] >> 4], hex_digits[octets[i] & 15]});
    return text;
}

std::optional<std::string> octets_of(std::string_view text)
{
    if (text.size() % 2 != 0) return std::nullopt;
    std::string octets;
    octets.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        unsigned octet = 0;
        const char* const end = text.data() + i + 2;
        const auto read = std::from_chars(text.data() + i, end, octet, 16);
        if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
        octets.push_back(static_cast<char>(octet));
    }
    return octets;
}

constexpr bool is_scalar(std::uint32_t code) noexcept
{
    return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

void append_utf8(std::string& text, std::uint32_t code)
{
    const auto add = [&](std::uint32_t octet) { text.push_back(static_cast<char>(octet)); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xE0 | code >> 12);
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
        }
        add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
}

/// The next character of a text in UTF-8, which gets shorter by it; nothing where there is none.
std::optional<std::uint32_t> take_utf8(std::string_view& text)
{
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || text.size() < size) return std::nullopt;
    std::uint32_t code = size == 1 ? first : first & (0xFFU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0) != 0x80) return std::nullopt;
        code = code << 6 | (next & 0x3F);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (code < least[size] || !is_scalar(code)) return std::nullopt;
    text.remove_prefix(size);
    return code;
}

bool is_utf8(std::string_view text)
{
    while (!text.empty())
        if (!take_utf8(text)) return false;
    return true;
}

/// Text as it is where it is UTF-8, which JSON is, and its octets where it is not.
json json_of_octets(std::string_view text)
{
    if (is_utf8(text)) return text;
    return {{"octets", hex(reinterpret_cast<const unsigned char*>(text.data()), text.size())}};
}

// --- Numbers -------------------------------------------------------------------------------------

template <typename Float>
json json_of_float(Float value)
{
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    if constexpr (std::is_same_v<Float, long double>) {
        const auto rounded = static_cast<double>(value);
        if (static_cast<long double>(rounded) == value) return rounded;
        return fmt::format("{:.21Lg}", value);
    } else {
        // The fewest digits that are this number, which a float made a double is not.
        return std::strtod(fmt::format("{}", value).c_str(), nullptr);
    }
}

template <typename Float>
std::optional<Float> float_of(const json& value)
{
    if (value.is_number_unsigned()) return static_cast<Float>(value.get<std::uint64_t>());
    if (value.is_number_integer()) return static_cast<Float>(value.get<std::int64_t>());
    if (value.is_number()) {
        const auto number = value.get<double>();
        const auto nearest = static_cast<Float>(number);
        if (std::isinf(nearest)) return std::nullopt;
        return nearest;
    }
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<Float>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<Float>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<Float>::infinity();
    if constexpr (std::is_same_v<Float, long double>) {
        char* end = nullptr;
        const long double number = std::strtold(text.c_str(), &end);
        if (!text.empty() && *end == '\0' && std::isfinite(number)) return number;
    }
    return std::nullopt;
}

template <typename Integer>
std::optional<Integer> integer_of(const json& value)
{
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
    } else if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
    }
    return std::nullopt;
}

DynAny_var component_at(DynAny_ptr value, CORBA::ULong index)
{
    value->seek(static_cast<CORBA::Long>(index));
    return value->current_component();
}

/// What errors call a type.
std::string name_of(const CORBA::TypeCode& type)
{
    if (std::string word = idl_word(type); !word.empty()) return word;
    switch (type.kind()) {
    case CORBA::tk_sequence:
        return "sequence";
    case CORBA::tk_array:
        return "array";
    default:
        return type.name();
    }
}

} // namespace

// --- Values to JSON ------------------------------------------------------------------------------

struct ValueJson::Writer {
    const ValueJson& values;
    JsonBudget& budget;
    std::size_t depth = 0;

    json of(DynAny_ptr value)
    {
        budget.take_value();
        if (++depth > json_depth_max)
            throw std::runtime_error(
                fmt::format("a value is nested more than {} deep", json_depth_max));
        json written = of_kind(value);
        --depth;
        return written;
    }

    json of_any(const CORBA::Any& any)
    {
        const CORBA::TypeCode_var type = any.type();
        const CORBA::TCKind kind = types::resolved(*type.in()).kind();
        if (kind == CORBA::tk_null || kind == CORBA::tk_void) return nullptr;
        const DynAny_var value = values.factory_->create_dyn_any(any);
        json written = of(value.in());
        value->destroy();
        return written;
    }

    static json of_number(DynAny_ptr value, CORBA::TCKind kind)
    {
        switch (kind) {
        case CORBA::tk_short:
            return value->get_short();
        case CORBA::tk_long:
            return value->get_long();
        case CORBA::tk_ushort:
            return value->get_ushort();
        case CORBA::tk_ulong:
            return value->get_ulong();
        case CORBA::tk_longlong:
            return value->get_longlong();
        case CORBA::tk_ulonglong:
            return value->get_ulonglong();
        case CORBA::tk_float:
            return json_of_float(value->get_float());
        case CORBA::tk_double:
            return json_of_float(value->get_double());
        case CORBA::tk_longdouble:
            return json_of_float(static_cast<long double>(value->get_longdouble()));
        case CORBA::tk_octet:
            return value->get_octet();
        default:
            return nullptr;
        }
    }

    json of_kind(DynAny_ptr value)
    {
        const CORBA::TypeCode_var own = value->type();
        const CORBA::TypeCode& type = types::resolved(*own.in());
        switch (type.kind()) {
        case CORBA::tk_boolean:
            return static_cast<bool>(value->get_boolean());
        case CORBA::tk_char: {
            const char character = value->get_char();
            return of_text({&character, 1});
        }
        case CORBA::tk_wchar:
            return of_wide(static_cast<std::uint32_t>(value->get_wchar()));
        case CORBA::tk_string: {
            const CORBA::String_var text = value->get_string();
            return of_text(text.in());
        }
        case CORBA::tk_wstring: {
            const CORBA::WString_var text = value->get_wstring();
            return of_wide_text(text.in());
        }
        case CORBA::tk_fixed: {
            const DynFixed_var fixed = DynFixed::_narrow(value);
            const CORBA::String_var text = fixed->get_value();
            return text.in();
        }
        case CORBA::tk_enum: {
            const DynEnum_var enumerator = DynEnum::_narrow(value);
            const CORBA::String_var text = enumerator->get_as_string();
            budget.take_text(text.in());
            return text.in();
        }
        case CORBA::tk_any: {
            const CORBA::Any_var any = value->get_any();
            const CORBA::TypeCode_var any_type = any->type();
            if (any_type->kind() == CORBA::tk_null) return nullptr;
            return {{"type", type_of_any(any_type.in())}, {"value", of_any(any.in())}};
        }
        case CORBA::tk_TypeCode: {
            const CORBA::TypeCode_var held = value->get_typecode();
            return CORBA::is_nil(held.in()) ? json() : tools::json_of(*held.in(), budget);
        }
        case CORBA::tk_objref: {
            const CORBA::Object_var object = value->get_reference();
            return of_reference(object.in());
        }
        case CORBA::tk_struct:
        case CORBA::tk_except:
            return of_members(DynStruct::_narrow(value), value);
        case CORBA::tk_union:
            return of_union(value);
        case CORBA::tk_sequence:
        case CORBA::tk_array:
            return of_elements(value, type);
        case CORBA::tk_value:
        case CORBA::tk_event: {
            const DynValue_var held = DynValue::_narrow(value);
            if (held->is_null()) return nullptr;
            return of_members(DynValue::_duplicate(held.in()), value);
        }
        case CORBA::tk_value_box: {
            const DynValueBox_var box = DynValueBox::_narrow(value);
            if (box->is_null()) return nullptr;
            const DynAny_var boxed = box->get_boxed_value_as_dyn_any();
            return {{"boxed", of(boxed.in())}};
        }
        default:
            return of_other(value, type);
        }
    }

    json of_other(DynAny_ptr value, const CORBA::TypeCode& type)
    {
        json number = of_number(value, type.kind());
        if (number.is_null() && type.kind() != CORBA::tk_null && type.kind() != CORBA::tk_void)
            throw std::runtime_error(
                fmt::format("JSON has no form for a value of type {}", name_of(type)));
        return number;
    }

    /// Its id alone where that says everything to who reads it with the same IDL.
    [[nodiscard]] json type_of_any(CORBA::TypeCode_ptr type)
    {
        if (idl_word(*type).empty() && values.find_ && has_id(type->kind())) {
            const CORBA::TypeCode_var known = values.find_(type->id());
            if (!CORBA::is_nil(known.in()) && known->equal(type)) {
                budget.take_text(type->id());
                return type->id();
            }
        }
        return tools::json_of(*type, budget);
    }

    static bool has_id(CORBA::TCKind kind)
    {
        return kind != CORBA::tk_sequence && kind != CORBA::tk_array && kind != CORBA::tk_fixed &&
               kind != CORBA::tk_string && kind != CORBA::tk_wstring;
    }

    json of_text(std::string_view text)
    {
        json written = json_of_octets(text); // as large as the value, or twice that
        if (written.is_string())
            budget.take_text(text);
        else
            budget.take(JsonBudget::value_octets + 2 * text.size());
        return written;
    }

    static json of_wide(std::uint32_t code)
    {
        if (!is_scalar(code)) return code;
        std::string text;
        append_utf8(text, code);
        return text;
    }

    json of_wide_text(const CORBA::WChar* text)
    {
        const std::basic_string_view<CORBA::WChar> characters(text);
        const auto code_of = [](CORBA::WChar character) {
            return static_cast<std::uint32_t>(character);
        };
        if (std::ranges::all_of(characters, [&](auto each) { return is_scalar(code_of(each)); })) {
            std::string utf8;
            for (const CORBA::WChar character : characters)
                append_utf8(utf8, code_of(character));
            budget.take_text(utf8);
            return utf8;
        }
        json codes = json::array();
        for (const CORBA::WChar character : characters) {
            budget.take_value();
            codes.push_back(code_of(character));
        }
        return codes;
    }

    [[nodiscard]] json of_reference(CORBA::Object_ptr object)
    {
        if (CORBA::is_nil(object)) return nullptr;
        const CORBA::String_var text = values.orb_->object_to_string(object);
        budget.take_text(text.in());
        return text.in();
    }

    template <typename Composed>
    json of_members(Composed* composed, DynAny_ptr value)
    {
        const typename Composed::_var_type members = composed;
        json object = json::object();
        const CORBA::ULong count = value->component_count();
        for (CORBA::ULong i = 0; i < count; ++i) {
            const DynAny_var component = component_at(value, i);
            const CORBA::String_var name = members->current_member_name();
            budget.take_text(name.in());
            object[name.in()] = of(component.in());
        }
        return object;
    }

    json of_union(DynAny_ptr value)
    {
        const DynUnion_var choice = DynUnion::_narrow(value);
        const DynAny_var discriminator = choice->get_discriminator();
        json object{{"_d", of(discriminator.in())}};
        if (choice->has_no_active_member()) return object;
        const CORBA::String_var name = choice->member_name();
        const DynAny_var member = choice->member();
        budget.take_text(name.in());
        object[name.in()] = of(member.in());
        return object;
    }

    json of_elements(DynAny_ptr value, const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var content = type.content_type();
        if (types::resolved(*content.in()).kind() == CORBA::tk_octet) {
            const CORBA::OctetSeq_var octets = value->get_octet_seq();
            budget.take(std::size_t{2} * octets->length());
            return hex(octets->get_buffer(), octets->length());
        }
        json elements = json::array();
        const CORBA::ULong count = value->component_count();
        for (CORBA::ULong i = 0; i < count; ++i) {
            const DynAny_var component = component_at(value, i);
            elements.push_back(of(component.in()));
        }
        return elements;
    }
};

// --- Values from JSON ----------------------------------------------------------------------------

struct ValueJson::Reader {
    const ValueJson& values;
    std::string path{}; ///< where in the JSON this is, for errors

    /// Adds to the path as long as it lives.
    class Step {
      public:
        Step(Reader& reader, const std::string& part) : reader_(reader), size_(reader.path.size())
        {
            if (!part.starts_with('[') && !reader.path.empty()) reader.path += '.';
            reader.path += part;
        }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        ~Step() { reader_.path.resize(size_); }

      private:
        Reader& reader_;
        std::size_t size_;
    };

    [[noreturn]] void wrong(const std::string& what) const
    {
        throw std::runtime_error(path.empty() ? what : path + ": " + what);
    }
    [[noreturn]] void mismatch(const json& value, const CORBA::TypeCode& type) const
    {
        std::string shown = value.dump(-1, ' ', false, json::error_handler_t::replace);
        constexpr std::size_t shown_max = 60;
        if (shown.size() > shown_max) shown = shown.substr(0, shown_max) + "…";
        wrong(fmt::format("{} is no {}", shown, name_of(type)));
    }

    CORBA::Any_var any_of(const json& value, CORBA::TypeCode_ptr type)
    {
        const CORBA::TCKind kind = types::resolved(*type).kind();
        if (kind == CORBA::tk_null || kind == CORBA::tk_void) {
            if (!value.is_null()) mismatch(value, *type);
            CORBA::Any_var empty = new CORBA::Any;
            empty->replace(type, nullptr);
            return empty;
        }
        const DynAny_var made = values.factory_->create_dyn_any_from_type_code(type);
        read(value, made.in());
        CORBA::Any_var any = made->to_any();
        made->destroy();
        return any;
    }

    template <typename Number>
    Number integer(const json& value, const CORBA::TypeCode& type) const
    {
        const auto number = integer_of<Number>(value);
        if (!number) mismatch(value, type);
        return *number;
    }
    template <typename Number>
    Number real(const json& value, const CORBA::TypeCode& type) const
    {
        const auto number = float_of<Number>(value);
        if (!number) mismatch(value, type);
        return *number;
    }

    /// The octets of a text: of what json_of_octets has made.
    std::string octets(const json& value, const CORBA::TypeCode& type) const
    {
        if (value.is_string()) return value.get<std::string>();
        if (value.is_object() && value.size() == 1 && value.contains("octets") &&
            value["octets"].is_string())
            if (auto text = octets_of(value["octets"].get_ref<const std::string&>()))
                return std::move(*text);
        mismatch(value, type);
    }

    void read(const json& value, DynAny_ptr to)
    {
        const CORBA::TypeCode_var own = to->type();
        const CORBA::TypeCode& type = types::resolved(*own.in());
        switch (type.kind()) {
        case CORBA::tk_short:
            return to->insert_short(integer<CORBA::Short>(value, type));
        case CORBA::tk_long:
            return to->insert_long(integer<CORBA::Long>(value, type));
        case CORBA::tk_ushort:
            return to->insert_ushort(integer<CORBA::UShort>(value, type));
        case CORBA::tk_ulong:
            return to->insert_ulong(integer<CORBA::ULong>(value, type));
        case CORBA::tk_longlong:
            return to->insert_longlong(integer<CORBA::LongLong>(value, type));
        case CORBA::tk_ulonglong:
            return to->insert_ulonglong(integer<CORBA::ULongLong>(value, type));
        case CORBA::tk_octet:
            return to->insert_octet(integer<CORBA::Octet>(value, type));
        case CORBA::tk_float:
            return to->insert_float(real<CORBA::Float>(value, type));
        case CORBA::tk_double:
            return to->insert_double(real<CORBA::Double>(value, type));
        case CORBA::tk_longdouble:
            return to->insert_longdouble(CORBA::LongDouble(real<long double>(value, type)));
        case CORBA::tk_boolean:
            if (!value.is_boolean()) mismatch(value, type);
            return to->insert_boolean(value.get<bool>());
        case CORBA::tk_char: {
            const std::string text = octets(value, type);
            if (text.size() != 1) mismatch(value, type);
            return to->insert_char(text.front());
        }
        case CORBA::tk_wchar:
            return read_wide(value, to, type);
        case CORBA::tk_string:
            return read_text(value, to, type);
        case CORBA::tk_wstring:
            return read_wide_text(value, to, type);
        case CORBA::tk_fixed:
            return read_fixed(value, to, type);
        case CORBA::tk_enum:
            return read_enum(value, to, type);
        case CORBA::tk_any:
            return read_any(value, to, type);
        case CORBA::tk_TypeCode:
            return to->insert_typecode(type_at(value).in());
        case CORBA::tk_objref:
            return read_reference(value, to, type);
        case CORBA::tk_struct:
        case CORBA::tk_except:
            return read_members<DynStruct>(value, to, type);
        case CORBA::tk_union:
            return read_union(value, to, type);
        case CORBA::tk_sequence:
        case CORBA::tk_array:
            return read_elements(value, to, type);
        case CORBA::tk_value:
        case CORBA::tk_event: {
            const DynValue_var held = DynValue::_narrow(to);
            if (value.is_null()) return held->set_to_null();
            held->set_to_value();
            return read_members<DynValue>(value, to, type);
        }
        case CORBA::tk_value_box:
            return read_box(value, to, type);
        default:
            wrong(fmt::format("JSON has no form for a value of type {}", name_of(type)));
        }
    }

    CORBA::TypeCode_var type_at(const json& value) const
    {
        try {
            return type_of(value, values.find_);
        } catch (const std::runtime_error& error) {
            wrong(error.what());
        }
    }

    void read_wide(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        if (value.is_string()) {
            std::string_view text = value.get_ref<const std::string&>();
            const auto code = text.empty() ? std::nullopt : take_utf8(text);
            if (!code || !text.empty()) mismatch(value, type);
            return to->insert_wchar(static_cast<CORBA::WChar>(*code));
        }
        to->insert_wchar(static_cast<CORBA::WChar>(integer<std::uint32_t>(value, type)));
    }

    void read_text(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        const std::string text = octets(value, type);
        if (text.find('\0') != std::string::npos) wrong("no string may hold the character 0");
        if (type.length() != 0 && text.size() > type.length()) mismatch(value, type);
        to->insert_string(text.c_str());
    }

    void read_wide_text(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        std::basic_string<CORBA::WChar> text;
        if (value.is_string()) {
            std::string_view utf8 = value.get_ref<const std::string&>();
            while (!utf8.empty()) {
                const auto code = take_utf8(utf8);
                if (!code) mismatch(value, type);
                text.push_back(static_cast<CORBA::WChar>(*code));
            }
        } else if (value.is_array()) {
            for (const json& code : value)
                text.push_back(static_cast<CORBA::WChar>(integer<std::uint32_t>(code, type)));
        } else {
            mismatch(value, type);
        }
        if (text.find(CORBA::WChar(0)) != text.npos) wrong("no wstring may hold the character 0");
        if (type.length() != 0 && text.size() > type.length()) mismatch(value, type);
        to->insert_wstring(text.c_str());
    }

    void read_fixed(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        std::string text;
        if (value.is_string())
            text = value.get<std::string>();
        else if (value.is_number())
            text = value.dump();
        else
            mismatch(value, type);
        const DynFixed_var fixed = DynFixed::_narrow(to);
        try {
            if (fixed->set_value(text.c_str())) return;
        } catch (const CORBA::UserException&) { // too large, or no number
        }
        mismatch(value, type);
    }

    void read_enum(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        const DynEnum_var enumerator = DynEnum::_narrow(to);
        if (!value.is_string()) mismatch(value, type);
        try {
            enumerator->set_as_string(value.get_ref<const std::string&>().c_str());
        } catch (const DynAny::InvalidValue&) {
            std::string known;
            for (CORBA::ULong i = 0; i < type.member_count(); ++i)
                known += fmt::format("{}{}", i == 0 ? "" : ", ", type.member_name(i));
            wrong(fmt::format("{} is none of {}: {}", value.dump(), name_of(type), known));
        }
    }

    void read_any(const json& value, DynAny_ptr to, const CORBA::TypeCode& type)
    {
        if (value.is_null()) return to->insert_any(CORBA::Any());
        if (!value.is_object() || value.size() != 2 || !value.contains("type") ||
            !value.contains("value"))
            wrong("an any is null or {\"type\": …, \"value\": …}");
        static_cast<void>(type);
        const CORBA::TypeCode_var held = type_at(value["type"]);
        const Step step(*this, "value");
        const CORBA::Any_var any = any_of(value["value"], held.in());
        to->insert_any(any.in());
    }

    void read_reference(const json& value, DynAny_ptr to, const CORBA::TypeCode& type) const
    {
        CORBA::Object_var object;
        if (value.is_string()) {
            const auto& text = value.get_ref<const std::string&>();
            try {
                object = values.options_.find_object ? values.options_.find_object(text)
                                                     : values.orb_->string_to_object(text.c_str());
            } catch (const CORBA::Exception& exception) {
                wrong(exception.what());
            } catch (const std::runtime_error& error) {
                wrong(error.what());
            }
        } else if (!value.is_null()) {
            mismatch(value, type);
        }
        to->insert_reference(object.in());
    }

    template <typename Composed>
    void read_members(const json& value, DynAny_ptr to, const CORBA::TypeCode& type)
    {
        if (!value.is_object()) mismatch(value, type);
        const typename Composed::_var_type members = Composed::_narrow(to);
        const CORBA::ULong count = to->component_count();
        for (CORBA::ULong i = 0; i < count; ++i) {
            const DynAny_var component = component_at(to, i);
            const CORBA::String_var name = members->current_member_name();
            const auto found = value.find(name.in());
            if (found == value.end())
                wrong(fmt::format("member '{}' of {} is missing", name.in(), name_of(type)));
            const Step step(*this, name.in());
            read(*found, component.in());
        }
        if (value.size() != count)
            wrong(fmt::format("{} has only these members: {}", name_of(type),
                              member_names(to, members)));
    }

    template <typename Members>
    static std::string member_names(DynAny_ptr of, const Members& members)
    {
        std::string names;
        for (CORBA::ULong i = 0; i < of->component_count(); ++i) {
            of->seek(static_cast<CORBA::Long>(i));
            const CORBA::String_var name = members->current_member_name();
            names += fmt::format("{}{}", i == 0 ? "" : ", ", name.in());
        }
        return names.empty() ? "none" : names;
    }

    /// The label that a member has alone or first: what a value without `_d` means.
    std::optional<std::int64_t> first_label(const CORBA::TypeCode& type, const std::string& member)
    {
        for (CORBA::ULong i = 0; i < type.member_count(); ++i)
            if (member == type.member_name(i) &&
                type.default_index() != static_cast<CORBA::Long>(i))
                return type._kairos_label(i);
        return std::nullopt;
    }

    void read_union(const json& value, DynAny_ptr to, const CORBA::TypeCode& type)
    {
        if (!value.is_object() || value.empty() || value.size() > 2) mismatch(value, type);
        const DynUnion_var choice = DynUnion::_narrow(to);
        const CORBA::TypeCode_var discriminator_type = type.discriminator_type();
        const bool says = value.contains("_d");
        auto member = value.begin();
        if (member != value.end() && member.key() == "_d") ++member;
        if (!says && value.size() != 1) mismatch(value, type);

        if (says) {
            const DynAny_var discriminator =
                values.factory_->create_dyn_any_from_type_code(discriminator_type.in());
            const Step step(*this, "_d");
            read(value["_d"], discriminator.in());
            choice->set_discriminator(discriminator.in());
        } else if (const auto label = first_label(type, member.key())) {
            const DynAny_var discriminator =
                values.factory_->create_dyn_any_from_type_code(discriminator_type.in());
            read(label_json(*discriminator_type.in(), *label), discriminator.in());
            choice->set_discriminator(discriminator.in());
        } else {
            if (type.default_index() < 0) mismatch(value, type);
            choice->set_to_default_member();
        }

        if (choice->has_no_active_member()) {
            if (member != value.end())
                wrong(fmt::format("{} has no member for this '_d'", name_of(type)));
            return;
        }
        const CORBA::String_var name = choice->member_name();
        if (member == value.end() || member.key() != name.in())
            wrong(fmt::format("{} has the member '{}' for this '_d'", name_of(type), name.in()));
        const Step step(*this, name.in());
        const DynAny_var active = choice->member();
        read(*member, active.in());
    }

    void read_elements(const json& value, DynAny_ptr to, const CORBA::TypeCode& type)
    {
        const CORBA::TypeCode_var content = type.content_type();
        const bool is_octets = types::resolved(*content.in()).kind() == CORBA::tk_octet;
        const bool is_sequence = type.kind() == CORBA::tk_sequence;
        std::optional<std::string> octets;
        if (is_octets && value.is_string()) {
            octets = octets_of(value.get_ref<const std::string&>());
            if (!octets) wrong("octets are an even number of hexadecimal digits");
        } else if (!value.is_array()) {
            mismatch(value, type);
        }
        const std::size_t length = octets ? octets->size() : value.size();
        const CORBA::ULong bound = type.length();
        if (is_sequence ? bound != 0 && length > bound : length != bound)
            wrong(fmt::format("{} elements where there are {}{}", length,
                              is_sequence ? "at most " : "", bound));
        if (octets) {
            CORBA::OctetSeq sequence;
            sequence.length(static_cast<CORBA::ULong>(length));
            std::copy(octets->begin(), octets->end(), sequence.get_buffer());
            return to->insert_octet_seq(sequence);
        }
        if (is_sequence) {
            const DynSequence_var sequence = DynSequence::_narrow(to);
            sequence->set_length(static_cast<CORBA::ULong>(length));
        }
        for (std::size_t i = 0; i < length; ++i) {
            const Step step(*this, fmt::format("[{}]", i));
            const DynAny_var component = component_at(to, static_cast<CORBA::ULong>(i));
            read(value[i], component.in());
        }
    }

    void read_box(const json& value, DynAny_ptr to, const CORBA::TypeCode& type)
    {
        const DynValueBox_var box = DynValueBox::_narrow(to);
        if (value.is_null()) return box->set_to_null();
        if (!value.is_object() || value.size() != 1 || !value.contains("boxed"))
            mismatch(value, type);
        const CORBA::TypeCode_var content = type.content_type();
        const Step step(*this, "boxed");
        const CORBA::Any_var boxed = any_of(value["boxed"], content.in());
        box->set_boxed_value(boxed.in());
    }
};

ValueJson::ValueJson(CORBA::ORB_ptr orb, FindType find, ValueJsonOptions options)
    : orb_(orb), find_(std::move(find)), options_(std::move(options))
{
    const CORBA::Object_var object = orb->resolve_initial_references("DynAnyFactory");
    factory_ = DynAnyFactory::_narrow(object.in());
}

json ValueJson::json_of(const CORBA::Any& value) const
{
    JsonBudget without_end;
    JsonBudget& budget = options_.budget != nullptr ? *options_.budget : without_end;
    return Writer{.values = *this, .budget = budget}.of_any(value);
}

CORBA::Any_var ValueJson::value_of(const json& json, CORBA::TypeCode_ptr type) const
{
    return Reader{.values = *this}.any_of(json, type);
}

void insert_plain(CORBA::Any& any, const std::string& text)
{
    const json value = json::parse(text, nullptr, false);
    if (value.is_boolean())
        any <<= CORBA::Any::from_boolean(value.get<bool>());
    else if (value.is_number_integer() && value >= -2'147'483'648LL && value <= 2'147'483'647LL)
        any <<= value.get<CORBA::Long>();
    else if (value.is_number_integer())
        any <<= static_cast<CORBA::LongLong>(value.get<std::int64_t>());
    else if (value.is_number())
        any <<= static_cast<CORBA::Double>(value.get<double>());
    else if (value.is_string())
        any <<= value.get<std::string>().c_str();
    else
        any <<= text.c_str();
}

} // namespace kairos::tools
