// SPDX-License-Identifier: Apache-2.0
//
// The types of all_types.idl by the way in which the C++ mapping passes them, listed once:
// all_types.idl makes operations and exceptions of them, all_servant.h serves these, all_checks.cpp
// calls them. Whoever uses ALL_KINDS says what each word makes of a type. Read by IDL compilers and
// by C++.
//
//     PLAIN      by value or const reference, returned by value: numbers, what is of fixed length
//     WRAPPED    the same of types that C++ cannot tell from others: Any has a wrapper for each
//     DECIMAL    fixed, the same with digits and scale
//     OWNED      variable length: const T&, T&, T*&, T*
//     TEXT       strings with their bound, 0 for none; WIDE_TEXT wide ones
//     FIXED_ARRAY, VARIABLE_ARRAY
//     REFERENCE  interfaces and pseudo-objects: the class's T_ptr
//     VALUETYPE  valuetypes and boxes: T*
//
// NO_CUSTOM and NO_BOXED_REFERENCE leave out what not every peer has.

#ifdef NO_CUSTOM
#define CUSTOM_KIND
#else
#define CUSTOM_KIND VALUETYPE(Route)
#endif
#ifdef NO_BOXED_REFERENCE
#define BOXED_REFERENCE_KIND
#else
#define BOXED_REFERENCE_KIND VALUETYPE(ReferenceBox)
#endif

// clang-format off
#define NUMBER_KINDS                                                                               \
    WRAPPED(Flag, boolean) WRAPPED(Letter, char) WRAPPED(Byte, octet) WRAPPED(Wide, wchar)         \
    PLAIN(I16) PLAIN(U16) PLAIN(I32) PLAIN(U32) PLAIN(I64) PLAIN(U64) PLAIN(F32) PLAIN(F64)        \
    PLAIN(Color)
#define DECIMAL_KINDS                                                                              \
    DECIMAL(Money, 9, 2) DECIMAL(Large, 31, 10) DECIMAL(Whole, 4, 0) DECIMAL(Fraction, 5, 5)
#define TEXT_KINDS TEXT(Name, 0) TEXT(ShortName, 8) WIDE_TEXT(Prose, 0) WIDE_TEXT(ShortProse, 8)
#define UNION_KINDS                                                                                \
    OWNED(OnLong) OWNED(OnBoolean) OWNED(OnChar) OWNED(OnColor) OWNED(OnShort)                     \
    OWNED(OnUnsignedShort) OWNED(OnUnsignedLong) OWNED(OnLongLong) OWNED(OnUnsignedLongLong)       \
    PLAIN(Small) OWNED(Expression) OWNED(Price)
#define STRUCT_KINDS PLAIN(Point) PLAIN(Priced) OWNED(Person) OWNED(Tree)
#define ANY_KINDS OWNED(Anything) REFERENCE(TypeDescription, CORBA::TypeCode)
#define REFERENCE_KINDS REFERENCE(Everything, All::Everything) REFERENCE(Reference, CORBA::Object)
#define ARRAY_KINDS                                                                                \
    FIXED_ARRAY(I32_2x3) FIXED_ARRAY(Point_3) FIXED_ARRAY(Money_3) FIXED_ARRAY(Wide_3)             \
    FIXED_ARRAY(Small_3) VARIABLE_ARRAY(Prose_3) VARIABLE_ARRAY(OnLong_3)                          \
    VARIABLE_ARRAY(Anything_3)
#define SEQUENCE_KINDS                                                                             \
    OWNED(Flag_s) OWNED(Letter_s) OWNED(Byte_s) OWNED(I16_s) OWNED(I32_s) OWNED(U64_s)             \
    OWNED(F64_s) OWNED(Wide_s) OWNED(Color_s) OWNED(Money_s) OWNED(Name_s) OWNED(Prose_s)          \
    OWNED(Point_s) OWNED(Small_s) OWNED(OnColor_s) OWNED(Person_s4) OWNED(Anything_s)              \
    OWNED(TypeDescription_s) OWNED(Reference_s)
#define VALUE_KINDS                                                                                \
    VALUETYPE(Node) VALUETYPE(Base) VALUETYPE(Derived) VALUETYPE(Counter) VALUETYPE(Card)          \
    VALUETYPE(NumberBox) VALUETYPE(NameBox) VALUETYPE(ProseBox) VALUETYPE(PointBox)                \
    VALUETYPE(NamesBox) BOXED_REFERENCE_KIND CUSTOM_KIND REFERENCE(Titled, All::Titled)            \
    OWNED(Holding) OWNED(OnValue) OWNED(Node_s) OWNED(NameBox_s) OWNED(Titled_s)                   \
    VARIABLE_ARRAY(Node_3)

#define ALL_KINDS                                                                                  \
    NUMBER_KINDS DECIMAL_KINDS TEXT_KINDS UNION_KINDS STRUCT_KINDS ANY_KINDS REFERENCE_KINDS       \
    ARRAY_KINDS SEQUENCE_KINDS VALUE_KINDS
// clang-format on
