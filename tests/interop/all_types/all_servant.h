// SPDX-License-Identifier: Apache-2.0
//
// The servant of Everything: echoes return a, pass b on as c and a back as b; the others move a
// value in and out of an Any or an exception. Plain mapping code, for any ORB. Any thread.
#pragma once

#include "all_kinds.h"
#include "all_values.h"

namespace all {

/// The value of a type that is passed on in an Any which has another is refused.
[[noreturn]] inline void wrong_type() { throw CORBA::BAD_PARAM(4711, CORBA::COMPLETED_NO); }

class EverythingServant : public POA_All::Everything {
  public:
#define RAISE(T)                                                                                   \
    All::T##_raised raised;                                                                        \
    raised.after = 42;
#define VALUE(T, put_value, get_value)                                                             \
    All::T echo_##T(all::In<All::T> a, All::T& b, All::T& c) override                              \
    {                                                                                              \
        c = b;                                                                                     \
        b = a;                                                                                     \
        return a;                                                                                  \
    }                                                                                              \
    CORBA::Any* insert_##T(all::In<All::T> value) override                                         \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        put_value;                                                                                 \
        return any._retn();                                                                        \
    }                                                                                              \
    All::T extract_##T(const CORBA::Any& any) override                                             \
    {                                                                                              \
        All::T value{};                                                                            \
        if (!(get_value)) wrong_type();                                                            \
        return value;                                                                              \
    }                                                                                              \
    void raise_##T(all::In<All::T> value) override                                                 \
    {                                                                                              \
        RAISE(T)                                                                                   \
        raised.value = value;                                                                      \
        throw raised;                                                                              \
    }
#define PLAIN(T) VALUE(T, any.inout() <<= value, get(any, value))
#define WRAPPED(T, kind)                                                                           \
    VALUE(T, any.inout() <<= CORBA::Any::from_##kind(value), any >>= CORBA::Any::to_##kind(value))
#define DECIMAL(T, digits, scale)                                                                  \
    VALUE(T, any.inout() <<= CORBA::Any::from_fixed(value, digits, scale),                         \
          any >>= CORBA::Any::to_fixed(value, digits, scale))
#define OWNED(T)                                                                                   \
    All::T* echo_##T(const All::T& a, All::T& b, All::T##_out c) override                          \
    {                                                                                              \
        c = new All::T(b);                                                                         \
        b = a;                                                                                     \
        return new All::T(a);                                                                      \
    }                                                                                              \
    CORBA::Any* insert_##T(const All::T& value) override                                           \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        any.inout() <<= value;                                                                     \
        return any._retn();                                                                        \
    }                                                                                              \
    All::T* extract_##T(const CORBA::Any& any) override                                            \
    {                                                                                              \
        const All::T* value = nullptr;                                                             \
        if (!(any >>= value)) wrong_type();                                                        \
        return new All::T(*value);                                                                 \
    }                                                                                              \
    void raise_##T(const All::T& value) override                                                   \
    {                                                                                              \
        RAISE(T)                                                                                   \
        raised.value = value;                                                                      \
        throw raised;                                                                              \
    }
#define STRING(T, C, String, prefix, bound)                                                        \
    C* echo_##T(const C* a, C*& b, CORBA::String##_out c) override                                 \
    {                                                                                              \
        c = CORBA::prefix##_dup(b);                                                                \
        CORBA::prefix##_free(b);                                                                   \
        b = CORBA::prefix##_dup(a);                                                                \
        return CORBA::prefix##_dup(a);                                                             \
    }                                                                                              \
    CORBA::Any* insert_##T(const C* value) override                                                \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        any.inout() <<= CORBA::Any::from_##prefix(const_cast<C*>(value), bound);                   \
        return any._retn();                                                                        \
    }                                                                                              \
    C* extract_##T(const CORBA::Any& any) override                                                 \
    {                                                                                              \
        const C* value = nullptr;                                                                  \
        if (!(any >>= CORBA::Any::to_##prefix(value, bound))) wrong_type();                        \
        return CORBA::prefix##_dup(value);                                                         \
    }                                                                                              \
    void raise_##T(const C* value) override                                                        \
    {                                                                                              \
        RAISE(T)                                                                                   \
        raised.value = value;                                                                      \
        throw raised;                                                                              \
    }
#define TEXT(T, bound) STRING(T, char, String, string, bound)
#define WIDE_TEXT(T, bound) STRING(T, CORBA::WChar, WString, wstring, bound)
#define ARRAY(T)                                                                                   \
    CORBA::Any* insert_##T(const All::T value) override                                            \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        any.inout() <<= All::T##_forany(const_cast<All::T##_slice*>(value));                       \
        return any._retn();                                                                        \
    }                                                                                              \
    All::T##_slice* extract_##T(const CORBA::Any& any) override                                    \
    {                                                                                              \
        All::T##_forany value;                                                                     \
        if (!(any >>= value)) wrong_type();                                                        \
        return All::T##_dup(value.in());                                                           \
    }                                                                                              \
    void raise_##T(const All::T value) override                                                    \
    {                                                                                              \
        RAISE(T)                                                                                   \
        All::T##_copy(raised.value, value);                                                        \
        throw raised;                                                                              \
    }
#define FIXED_ARRAY(T)                                                                             \
    All::T##_slice* echo_##T(const All::T a, All::T b, All::T c) override                          \
    {                                                                                              \
        All::T##_copy(c, b);                                                                       \
        All::T##_copy(b, a);                                                                       \
        return All::T##_dup(a);                                                                    \
    }                                                                                              \
    ARRAY(T)
#define VARIABLE_ARRAY(T)                                                                          \
    All::T##_slice* echo_##T(const All::T a, All::T b, All::T##_out c) override                    \
    {                                                                                              \
        c = All::T##_dup(b);                                                                       \
        All::T##_copy(b, a);                                                                       \
        return All::T##_dup(a);                                                                    \
    }                                                                                              \
    ARRAY(T)
#define REFERENCE(T, Class)                                                                        \
    Class##_ptr echo_##T(Class##_ptr a, Class##_ptr& b, Class##_out c) override                    \
    {                                                                                              \
        c = duplicate(b);                                                                          \
        CORBA::release(b);                                                                         \
        b = duplicate(a);                                                                          \
        return duplicate(a);                                                                       \
    }                                                                                              \
    CORBA::Any* insert_##T(Class##_ptr value) override                                             \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        any.inout() <<= value;                                                                     \
        return any._retn();                                                                        \
    }                                                                                              \
    Class##_ptr extract_##T(const CORBA::Any& any) override                                        \
    {                                                                                              \
        Class##_var value;                                                                         \
        if (!get_reference(any, value)) wrong_type();                                              \
        return value._retn();                                                                      \
    }                                                                                              \
    void raise_##T(Class##_ptr value) override                                                     \
    {                                                                                              \
        RAISE(T)                                                                                   \
        raised.value = duplicate(value);                                                           \
        throw raised;                                                                              \
    }
#define VALUETYPE(T)                                                                               \
    All::T* echo_##T(All::T* a, All::T*& b, All::T##_out c) override                               \
    {                                                                                              \
        c = b;                                                                                     \
        b = share(a);                                                                              \
        return share(a);                                                                           \
    }                                                                                              \
    CORBA::Any* insert_##T(All::T* value) override                                                 \
    {                                                                                              \
        CORBA::Any_var any = new CORBA::Any;                                                       \
        any.inout() <<= value;                                                                     \
        return any._retn();                                                                        \
    }                                                                                              \
    All::T* extract_##T(const CORBA::Any& any) override                                            \
    {                                                                                              \
        All::T* value = nullptr;                                                                   \
        if (!(any >>= value)) wrong_type();                                                        \
        return share(value);                                                                       \
    }                                                                                              \
    void raise_##T(All::T* value) override                                                         \
    {                                                                                              \
        RAISE(T)                                                                                   \
        raised.value = share(value);                                                               \
        throw raised;                                                                              \
    }
    ALL_KINDS
#undef VALUETYPE
#undef PLAIN
#undef WRAPPED
#undef DECIMAL
#undef OWNED
#undef TEXT
#undef WIDE_TEXT
#undef FIXED_ARRAY
#undef VARIABLE_ARRAY
#undef REFERENCE
#undef ARRAY
#undef STRING
#undef VALUE
#undef RAISE

    // An exception in an Any.
    CORBA::Any* insert_raised(const All::Person& value) override
    {
        CORBA::Any_var any = new CORBA::Any;
        any.inout() <<= All::Person_raised(value, 43);
        return any._retn();
    }
    CORBA::Boolean extract_raised(const CORBA::Any& any, All::Person_out back) override
    {
        const All::Person_raised* raised = nullptr;
        if (!(any >>= raised)) {
            back = new All::Person;
            return false;
        }
        back = new All::Person(raised->value);
        return raised->after == 43;
    }

    CORBA::Any* pass_on(const CORBA::Any& any) override { return new CORBA::Any(any); }

    All::Base* send_deeper(All::Derived* like) override
    {
        auto* deeper = new OBV_All::Deeper;
        deeper->small(like->small());
        deeper->number(like->number());
        deeper->text(like->text());
        deeper->inner(like->inner());
        deeper->data(like->data());
        deeper->where(like->where());
        deeper->thing(like->thing());
        deeper->last(like->last());
        deeper->sign('d');
        All::Base_s4 more;
        more.length(2);
        more[0] = share(like->inner());
        more[1] = share(static_cast<All::Base*>(like));
        deeper->more(more);
        deeper->end(-1);
        return deeper;
    }
    char* title_of() override { return CORBA::string_dup("an object"); }
};

} // namespace all
