// SPDX-License-Identifier: Apache-2.0
//
// Insertion and extraction of what has no IDL of its own: numbers, strings, Any and TypeCode.
#include "kairos/mapping/fixed_point.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_graph.h"
#include "kairos/types/typecode_wire.h"

namespace CORBA {

using kairos::types::AnyAccess;

namespace {

[[noreturn]] void raise_null()
{
    throw BAD_PARAM(0, COMPLETED_NO, "a null pointer inserted into an Any");
}

/// A TypeCode of its own, owned by the caller.
TypeCode_ptr make_type(const kairos::types::TypeCodeData& data)
{
    kairos::types::GraphPtr graph(new kairos::types::TypeCodeGraph);
    const TypeCode* type = graph->make(data);
    (void)graph.release(); // its first count is the TypeCode's
    return kairos::types::pointer(*type);
}

/// The TypeCode of strings of this bound, owned by the caller.
TypeCode_ptr string_type(TCKind kind, ULong bound)
{
    if (bound == 0) return kind == tk_string ? _tc_string : _tc_wstring;
    return make_type(kairos::types::text_type(kind, bound));
}

bool is_string(const TypeCode& type, TCKind kind, ULong bound)
{
    const TypeCode& actual = kairos::types::resolved(type);
    return actual.kind() == kind && actual.length() == bound;
}

} // namespace

// clang-format off
/// The types that have an operator each, and the names of their TypeCodes.
#define KAIROS_NUMBERS(apply)                                                                      \
    apply(Short, short) apply(UShort, ushort) apply(Long, long) apply(ULong, ulong)                \
    apply(LongLong, longlong) apply(ULongLong, ulonglong) apply(Float, float)                      \
    apply(Double, double) apply(LongDouble, longdouble)
/// Those that are told apart by helpers.
#define KAIROS_HELPED(apply)                                                                       \
    apply(boolean) apply(octet) apply(char) apply(wchar)
// clang-format on

// NOLINTBEGIN(bugprone-macro-parentheses): types take none
#define KAIROS_OPERATORS(type, name)                                                               \
    void operator<<=(Any& any, type value)                                                         \
    {                                                                                              \
        kairos::types::insert_scalar(any, _tc_##name, &value, sizeof value);                       \
    }                                                                                              \
    Boolean operator>>=(const Any& any, type& value)                                               \
    {                                                                                              \
        return kairos::types::extract_scalar(any, _tc_##name, &value, sizeof value);               \
    }
// NOLINTEND(bugprone-macro-parentheses)
KAIROS_NUMBERS(KAIROS_OPERATORS)
#undef KAIROS_OPERATORS
#undef KAIROS_NUMBERS

#define KAIROS_OPERATORS(name)                                                                     \
    void Any::operator<<=(from_##name value)                                                       \
    {                                                                                              \
        kairos::types::insert_scalar(*this, _tc_##name, &value.val, sizeof value.val);             \
    }                                                                                              \
    Boolean Any::operator>>=(to_##name value) const                                                \
    {                                                                                              \
        return kairos::types::extract_scalar(*this, _tc_##name, &value.ref, sizeof value.ref);     \
    }
KAIROS_HELPED(KAIROS_OPERATORS)
#undef KAIROS_OPERATORS
#undef KAIROS_HELPED

// --- Strings -----------------------------------------------------------------------------------

namespace {

/// The functions of char and wchar_t that differ in name.
template <typename Char>
struct Text;

template <>
struct Text<char> {
    static constexpr TCKind kind = tk_string;
    static void set(Any& any, TypeCode_ptr owned_type, char* owned) noexcept
    {
        AnyAccess::set_string(any, owned_type, owned);
    }
    static const char* get(const Any& any) noexcept { return AnyAccess::string(any); }
};

template <>
struct Text<WChar> {
    static constexpr TCKind kind = tk_wstring;
    static void set(Any& any, TypeCode_ptr owned_type, WChar* owned) noexcept
    {
        AnyAccess::set_wstring(any, owned_type, owned);
    }
    static const WChar* get(const Any& any) noexcept { return AnyAccess::wstring(any); }
};

template <typename Char>
void insert_text(Any& any, Char* text, ULong bound, bool adopt)
{
    if (text == nullptr) raise_null();
    kairos::mapping::TextOwner<Char, false> owner;
    if (adopt) owner = text; // freed when what follows throws
    if (bound != 0 && std::basic_string_view<Char>(text).size() > bound)
        kairos::mapping::raise_string_bound_exceeded();
    TypeCode_var type = string_type(Text<Char>::kind, bound);
    if (!adopt) owner = static_cast<const Char*>(text);
    Text<Char>::set(any, type._retn(), owner._retn());
}

template <typename Char>
bool extract_text(const Any& any, const Char*& text, ULong bound)
{
    const Char* found = Text<Char>::get(any);
    if (found == nullptr || !is_string(AnyAccess::type(any), Text<Char>::kind, bound)) return false;
    text = found;
    return true;
}

} // namespace

void operator<<=(Any& any, const char* text)
{
    insert_text(any, const_cast<char*>(text), 0, false);
}
void operator<<=(Any& any, const WChar* text)
{
    insert_text(any, const_cast<WChar*>(text), 0, false);
}
void Any::operator<<=(from_string value)
{
    insert_text(*this, value.val, value.bound, value.nocopy);
}
void Any::operator<<=(from_wstring value)
{
    insert_text(*this, value.val, value.bound, value.nocopy);
}
Boolean operator>>=(const Any& any, const char*& text) { return extract_text(any, text, 0); }
Boolean operator>>=(const Any& any, const WChar*& text) { return extract_text(any, text, 0); }
Boolean Any::operator>>=(to_string value) const
{
    return extract_text(*this, value.val, value.bound);
}
Boolean Any::operator>>=(to_wstring value) const
{
    return extract_text(*this, value.val, value.bound);
}

// --- fixed -------------------------------------------------------------------------------------

/// Kept as CDR has it: no C++ type is that of all digits and scales.
void Any::operator<<=(from_fixed value)
{
    if (value.digits == 0 || value.digits > Fixed::kairos_digits_max || value.scale > value.digits)
        throw BAD_PARAM(0, COMPLETED_NO, "no fixed-point type has such digits and scale");
    const Fixed fitted = value.val.kairos_fitted(value.digits, value.scale);
    TypeCode_var type =
        make_type(kairos::types::fixed_type(value.digits, static_cast<Short>(value.scale)));
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::mapping::encode_fixed(out, fitted, value.digits, value.scale);
    kairos::types::AnyBytes* bytes = AnyAccess::bytes_of(out, 0);
    AnyAccess::set_bytes(*this, type._retn(), bytes);
}

Boolean Any::operator>>=(to_fixed value) const
{
    const TypeCode& actual = kairos::types::resolved(AnyAccess::type(*this));
    if (!AnyAccess::holds(*this, type_) || actual.kind() != tk_fixed ||
        actual.fixed_digits() != value.digits || actual.fixed_scale() != value.scale)
        return false;
    AnyAccess::with_reader(*this, [&](kairos::cdr::Reader& in) {
        Fixed read;
        kairos::mapping::decode_fixed(in, read, value.digits, value.scale);
        if (!in.ok()) throw MARSHAL(0, COMPLETED_NO, kairos::cdr::describe(in.fault()));
        value.val = read;
    });
    return true;
}

// --- Any and TypeCode --------------------------------------------------------------------------

void operator<<=(Any& any, const Any& value)
{
    kairos::types::insert_copy(any, _tc_any, value); // before `any` changes: it may be `value`
}

void operator<<=(Any& any, Any* value) { kairos::types::insert_adopted(any, _tc_any, value); }

Boolean operator>>=(const Any& any, const Any*& value)
{
    return kairos::types::extract(any, _tc_any, value);
}

void operator<<=(Any& any, TypeCode_ptr value)
{
    TypeCode_ptr counted = TypeCode::_duplicate(value);
    any <<= &counted;
}

void operator<<=(Any& any, TypeCode_ptr* value)
{
    if (value == nullptr) raise_null();
    TypeCode_var adopted = *value;
    if (is_nil(adopted.in()))
        throw BAD_TYPECODE(0, COMPLETED_NO, "a nil TypeCode inserted into an Any");
    kairos::types::insert_copy(any, _tc_TypeCode, adopted);
}

Boolean operator>>=(const Any& any, TypeCode_ptr& value)
{
    const TypeCode_var* found = nullptr;
    if (!kairos::types::extract(any, _tc_TypeCode, found)) return false;
    value = found->in();
    return true;
}

// --- Labels ------------------------------------------------------------------------------------

Any* TypeCode::member_label(ULong index) const
{
    const LongLong label = _kairos_label(index);
    Any_var any = new Any;
    Any& value = any.inout();
    TypeCode_ptr type = discriminator_type();
    const TypeCode_var owner = type;
    const auto insert = [&]<typename T>(std::type_identity<T>) {
        const T number = static_cast<T>(label);
        kairos::types::insert_scalar(value, type, &number, sizeof number);
    };
    if (kairos::types::is_default_member(_kairos_data(), index)) {
        value <<= Any::from_octet(0);
        return any._retn();
    }
    switch (kairos::types::resolved(*type).kind()) {
    case tk_boolean:
    case tk_char:
    case tk_octet:
        insert(std::type_identity<Octet>());
        break;
    case tk_short:
    case tk_ushort:
        insert(std::type_identity<Short>());
        break;
    case tk_longlong:
    case tk_ulonglong:
        insert(std::type_identity<LongLong>());
        break;
    default: // long, unsigned long, enums, wchar
        insert(std::type_identity<Long>());
        break;
    }
    return any._retn();
}

// --- Without types -----------------------------------------------------------------------------

void Any::replace(TypeCode_ptr type, void* value, Boolean release)
{
    if (type == nullptr) throw BAD_TYPECODE(0, COMPLETED_NO, "an Any needs a TypeCode");
    const TypeCode& actual = kairos::types::resolved(*type);
    const TypeCode_var kept = TypeCode::_duplicate(type); // *this may be its only owner
    if (value == nullptr) return AnyAccess::reset(*this, TypeCode::_duplicate(type), Form::none);
    const auto number = [&]<typename T>(std::type_identity<T>) {
        kairos::types::insert_scalar(*this, type, value, sizeof(T));
        if (release) delete static_cast<T*>(value);
    };
    switch (actual.kind()) {
    case tk_null:
    case tk_void:
        return AnyAccess::reset(*this, TypeCode::_duplicate(type), Form::none);
    case tk_boolean:
        return number(std::type_identity<Boolean>());
    case tk_char:
        return number(std::type_identity<Char>());
    case tk_octet:
        return number(std::type_identity<Octet>());
    case tk_wchar:
        return number(std::type_identity<WChar>());
    case tk_short:
    case tk_ushort:
        return number(std::type_identity<Short>());
    case tk_long:
    case tk_ulong:
    case tk_enum:
        return number(std::type_identity<Long>());
    case tk_longlong:
    case tk_ulonglong:
        return number(std::type_identity<LongLong>());
    case tk_float:
        return number(std::type_identity<Float>());
    case tk_double:
        return number(std::type_identity<Double>());
    case tk_longdouble:
        return number(std::type_identity<LongDouble>());
    case tk_string:
        *this <<= from_string(static_cast<char*>(value), actual.length(), release);
        return this->type(type);
    case tk_wstring:
        *this <<= from_wstring(static_cast<WChar*>(value), actual.length(), release);
        return this->type(type);
    case tk_any:
        if (release) {
            *this <<= static_cast<Any*>(value);
        } else {
            *this <<= *static_cast<const Any*>(value);
        }
        return this->type(type);
    case tk_TypeCode: {
        auto* inner = static_cast<TypeCode_ptr>(value);
        if (release) {
            *this <<= &inner;
        } else {
            *this <<= inner;
        }
        return this->type(type);
    }
    default:
        throw BAD_PARAM(0, COMPLETED_NO, "a value of this type is inserted with its operator only");
    }
}

} // namespace CORBA
