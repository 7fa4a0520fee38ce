// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Any of the classic C++ mapping (formal/2012-07-02, 5.17 "Mapping for the any type"): a
// value of any IDL type with its TypeCode. What was received stays in CDR until it is extracted;
// what is extracted belongs to the Any. A value: not shared by threads that change it; threads that
// only extract may share one.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"
#include "kairos/mapping/marshal.h"
#include "kairos/types/typecode.h"

#include <array>

namespace kairos::types {
struct AnyBytes;
struct AnyValue;
class AnyAccess;
} // namespace kairos::types

namespace CORBA {

class Any;
class Fixed;
class ValueBase;
class AbstractBase;
typedef AbstractBase* AbstractBase_ptr;
typedef Any* Any_ptr;
typedef kairos::mapping::VariableVar<Any> Any_var;
typedef kairos::mapping::VariableOut<Any> Any_out;

class KAIROS_API Any {
  public:
    typedef Any_var _var_type;

    // C++ types that stand for several IDL types are told apart by these (5.17.4).
    struct from_boolean {
        explicit from_boolean(Boolean value) : val(value) {}
        Boolean val;
    };
    struct from_octet {
        explicit from_octet(Octet value) : val(value) {}
        Octet val;
    };
    struct from_char {
        explicit from_char(Char value) : val(value) {}
        Char val;
    };
    struct from_wchar {
        explicit from_wchar(WChar value) : val(value) {}
        WChar val;
    };
    /// `nocopy`: the Any takes the string over. A bound of 0 is none.
    struct from_string {
        from_string(char* text, ULong limit, Boolean adopt = false)
            : val(text), bound(limit), nocopy(adopt)
        {
        }
        from_string(const char* text, ULong limit) : val(const_cast<char*>(text)), bound(limit) {}
        template <kairos::mapping::HoldsText<char> Holder>
        from_string(const Holder& holder, ULong limit) : from_string(holder.in(), limit)
        {
        }
        char* val;
        ULong bound;
        Boolean nocopy = false;
    };
    struct from_wstring {
        from_wstring(WChar* text, ULong limit, Boolean adopt = false)
            : val(text), bound(limit), nocopy(adopt)
        {
        }
        from_wstring(const WChar* text, ULong limit) : val(const_cast<WChar*>(text)), bound(limit)
        {
        }
        template <kairos::mapping::HoldsText<WChar> Holder>
        from_wstring(const Holder& holder, ULong limit) : from_wstring(holder.in(), limit)
        {
        }
        WChar* val;
        ULong bound;
        Boolean nocopy = false;
    };
    struct from_fixed {
        from_fixed(const Fixed& value, UShort digit_count, UShort point)
            : val(value), digits(digit_count), scale(point)
        {
        }
        const Fixed& val;
        UShort digits;
        UShort scale;
    };

    struct to_boolean {
        explicit to_boolean(Boolean& value) : ref(value) {}
        Boolean& ref;
    };
    struct to_octet {
        explicit to_octet(Octet& value) : ref(value) {}
        Octet& ref;
    };
    struct to_char {
        explicit to_char(Char& value) : ref(value) {}
        Char& ref;
    };
    struct to_wchar {
        explicit to_wchar(WChar& value) : ref(value) {}
        WChar& ref;
    };
    /// The string stays the Any's.
    struct to_string {
        to_string(const char*& text, ULong limit) : val(text), bound(limit) {}
        const char*& val;
        ULong bound;
    };
    struct to_wstring {
        to_wstring(const WChar*& text, ULong limit) : val(text), bound(limit) {}
        const WChar*& val;
        ULong bound;
    };
    struct to_fixed {
        to_fixed(Fixed& value, UShort digit_count, UShort point)
            : val(value), digits(digit_count), scale(point)
        {
        }
        Fixed& val;
        UShort digits;
        UShort scale;
    };
    /// Any object reference, widened; the caller releases it.
    struct to_object {
        explicit to_object(kairos::mapping::ObjectOut<Object> object) : ref(object.ptr()) {}
        Object*& ref;
    };
    /// Any value, widened; the caller removes its reference.
    struct to_value {
        explicit to_value(ValueBase*& base) : ref(base) {}
        ValueBase*& ref;
    };
    /// Any abstract interface's object or value, widened; the caller releases it.
    struct to_abstract_base {
        explicit to_abstract_base(AbstractBase_ptr& base) : ref(base) {}
        AbstractBase_ptr& ref;
    };

    /// Makes an Any without a value, of type tk_null.
    Any() noexcept {} // NOLINT(modernize-use-equals-default): so `const Any any;` is allowed
    Any(const Any& other);
    Any(Any&& other) noexcept;
    /// Makes an Any of this type and value as `replace` does; deprecated by the mapping, too.
    Any(TypeCode_ptr type, void* value, Boolean release = false);
    ~Any() { clear(); }
    Any& operator=(const Any& other);
    Any& operator=(Any&& other) noexcept;

    void operator<<=(from_boolean value);
    void operator<<=(from_octet value);
    void operator<<=(from_char value);
    void operator<<=(from_wchar value);
    /// Inserts a string. Throws BAD_PARAM for null and for more characters than the bound allows.
    void operator<<=(from_string value);
    /// Inserts a wide string. Throws BAD_PARAM for null and for more characters than the bound
    /// allows.
    void operator<<=(from_wstring value);
    /// Inserts a fixed-point number, cut to its scale. Throws DATA_CONVERSION if the value has more
    /// digits in front of the point than the type, BAD_PARAM if no type has such digits and scale.
    void operator<<=(from_fixed value);

    Boolean operator>>=(to_boolean value) const;
    Boolean operator>>=(to_octet value) const;
    Boolean operator>>=(to_char value) const;
    Boolean operator>>=(to_wchar value) const;
    Boolean operator>>=(to_string value) const;
    Boolean operator>>=(to_wstring value) const;
    Boolean operator>>=(to_fixed value) const;
    Boolean operator>>=(to_object value) const;
    Boolean operator>>=(to_value value) const;
    Boolean operator>>=(to_abstract_base value) const;

    /// The TypeCode of the value. Owned by the caller.
    [[nodiscard]] TypeCode_ptr type() const;
    /// Changes the TypeCode in names and aliases only: throws BAD_TYPECODE if `type` is not
    /// equivalent to it.
    void type(TypeCode_ptr type);

    /// Deprecated by the mapping, as nothing checks what `value` points to. Of numbers, enums,
    /// strings (`value` is the char*), any and TypeCode (the TypeCode_ptr); BAD_PARAM for the rest.
    /// `release`: the Any takes `value` over. Null: the type alone, of any kind, for what a dynamic
    /// invocation is to put in; until then nothing can be extracted, and sending it is BAD_PARAM.
    void replace(TypeCode_ptr type, void* value, Boolean release = false);
    /// The C++ value inside, as `replace` takes it; null if there is none, or if what was received
    /// has not been extracted yet.
    [[nodiscard]] const void* value() const noexcept;

  private:
    friend class kairos::types::AnyAccess;

    /// Where the value is.
    enum class Form : std::uint8_t {
        none,    ///< there is none: tk_null, tk_void, or a type without its value
        scalar,  ///< in `scalar_`
        string,  ///< `string_`, owned
        wstring, ///< `wstring_`, owned
        bytes,   ///< `bytes_`, shared
        value,   ///< the last of `values_`
    };

    void clear() noexcept;
    void steal(Any& other) noexcept;

    /// The TypeCode; null stands for tk_null.
    TypeCode_ptr type_ = nullptr;
    Form form_ = Form::none;
    union {
        std::array<std::uint64_t, 2> scalar_{};
        char* string_;
        WChar* wstring_;
        kairos::types::AnyBytes* bytes_;
    };
    /// What was inserted (the last one) and what was extracted as other C++ types or from bytes:
    /// all live as long as the Any holds this value. Extraction adds in front.
    mutable kairos::AtomicWord<kairos::types::AnyValue*> values_;
};

// Numbers, strings and what else has one C++ type. Extraction gives false, and changes nothing,
// where the Any holds a value of another type; aliases do not matter.
KAIROS_API void operator<<=(Any& any, Short value);
KAIROS_API void operator<<=(Any& any, UShort value);
KAIROS_API void operator<<=(Any& any, Long value);
KAIROS_API void operator<<=(Any& any, ULong value);
KAIROS_API void operator<<=(Any& any, LongLong value);
KAIROS_API void operator<<=(Any& any, ULongLong value);
KAIROS_API void operator<<=(Any& any, Float value);
KAIROS_API void operator<<=(Any& any, Double value);
KAIROS_API void operator<<=(Any& any, LongDouble value);
/// Inserts a copy of the text. Throws BAD_PARAM for null.
KAIROS_API void operator<<=(Any& any, const char* text);
/// Inserts a copy of the text. Throws BAD_PARAM for null.
KAIROS_API void operator<<=(Any& any, const WChar* text);
/// Inserts a copy of an Any as the value.
KAIROS_API void operator<<=(Any& any, const Any& value);
/// Inserts an Any as the value and takes it over. Throws BAD_PARAM for null.
KAIROS_API void operator<<=(Any& any, Any* value);
/// Inserts a TypeCode with a count of its own. Throws BAD_TYPECODE for nil.
KAIROS_API void operator<<=(Any& any, TypeCode_ptr value);
/// Inserts a TypeCode and takes over the caller's count. Throws BAD_TYPECODE for nil.
KAIROS_API void operator<<=(Any& any, TypeCode_ptr* value);
/// Inserts a reference, perhaps nil, with a count of its own. The Any's TypeCode becomes that of
/// CORBA::Object.
KAIROS_API void operator<<=(Any& any, Object* value);
/// Inserts a reference, perhaps nil, and takes over the caller's count. The Any's TypeCode becomes
/// that of CORBA::Object.
KAIROS_API void operator<<=(Any& any, Object** value);
/// Inserts a copy of a system exception, as its most derived type.
KAIROS_API void operator<<=(Any& any, const SystemException& exception);
/// Inserts a system exception, as its most derived type, and takes it over. Throws BAD_PARAM for
/// null.
KAIROS_API void operator<<=(Any& any, SystemException* exception);

/// Inserts a copy of the string in a T_var, a member or an element. Throws BAD_PARAM for null.
template <kairos::mapping::HoldsText<char> Holder>
void operator<<=(Any& any, const Holder& holder)
{
    any <<= holder.in();
}
/// Inserts a copy of the wide string in a T_var, a member or an element. Throws BAD_PARAM for null.
template <kairos::mapping::HoldsText<WChar> Holder>
void operator<<=(Any& any, const Holder& holder)
{
    any <<= holder.in();
}

// Which of from_boolean, from_char, from_octet and from_wchar?
KAIROS_API void operator<<=(Any& any, Boolean value) = delete;
KAIROS_API void operator<<=(Any& any, Char value) = delete;
KAIROS_API void operator<<=(Any& any, Octet value) = delete;
KAIROS_API void operator<<=(Any& any, Int8 value) = delete;
KAIROS_API void operator<<=(Any& any, WChar value) = delete;

KAIROS_API Boolean operator>>=(const Any& any, Short& value);
KAIROS_API Boolean operator>>=(const Any& any, UShort& value);
KAIROS_API Boolean operator>>=(const Any& any, Long& value);
KAIROS_API Boolean operator>>=(const Any& any, ULong& value);
KAIROS_API Boolean operator>>=(const Any& any, LongLong& value);
KAIROS_API Boolean operator>>=(const Any& any, ULongLong& value);
KAIROS_API Boolean operator>>=(const Any& any, Float& value);
KAIROS_API Boolean operator>>=(const Any& any, Double& value);
KAIROS_API Boolean operator>>=(const Any& any, LongDouble& value);
/// Extracts a string, which stays the Any's. False if the Any holds none without a bound.
KAIROS_API Boolean operator>>=(const Any& any, const char*& text);
/// Extracts a wide string, which stays the Any's. False if the Any holds none without a bound.
KAIROS_API Boolean operator>>=(const Any& any, const WChar*& text);
/// Extracts an Any, which stays the outer one's. False if that holds none.
KAIROS_API Boolean operator>>=(const Any& any, const Any*& value);
/// Extracts a TypeCode, which stays the Any's. False if the Any holds none.
KAIROS_API Boolean operator>>=(const Any& any, TypeCode_ptr& value);
/// Extracts a system exception of any type, which stays the Any's.
KAIROS_API Boolean operator>>=(const Any& any, const SystemException*& exception);

/// Extracts a boolean: what is meant is clear, other than with the next ones.
inline Boolean operator>>=(const Any& any, Boolean& value)
{
    return any >>= Any::to_boolean(value);
}
KAIROS_API Boolean operator>>=(const Any& any, Char& value) = delete;
KAIROS_API Boolean operator>>=(const Any& any, Octet& value) = delete;
KAIROS_API Boolean operator>>=(const Any& any, Int8& value) = delete;
KAIROS_API Boolean operator>>=(const Any& any, WChar& value) = delete;

} // namespace CORBA

namespace kairos::types {

/// The system exception of this repository id, which stays the Any's; null if the Any holds none.
[[nodiscard]] KAIROS_API const CORBA::SystemException*
extract_system_exception(const CORBA::Any& any, const char* repository_id);

} // namespace kairos::types

namespace CORBA {

/// `const BAD_PARAM*&` and the like; the form without const, too, is not to be changed.
template <typename E>
    requires std::is_convertible_v<E*, const SystemException*>
Boolean operator>>=(const Any& any, E*& exception)
{
    using Plain = std::remove_const_t<E>;
    const SystemException* found = kairos::types::extract_system_exception(any, Plain::kairos_id);
    if (found == nullptr) return false;
    exception = const_cast<Plain*>(static_cast<const Plain*>(found));
    return true;
}

} // namespace CORBA

namespace kairos::mapping {

/// How an Any travels: its TypeCode, and the value as that says (CORBA 3.3 part 2, 9.3.5.2).
template <>
struct KAIROS_API Marshal<CORBA::Any> {
    static constexpr std::size_t wire_bytes_min = 4;
    static void encode(cdr::Writer& out, const CORBA::Any& value);
    static void decode(cdr::Reader& in, CORBA::Any& value);
};

} // namespace kairos::mapping
