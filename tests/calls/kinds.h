// SPDX-License-Identifier: Apache-2.0
//
// The kinds of types that the C++ mapping tells apart, listed once: types.idl makes types and
// operations of them, servant.h serves these, checks.cpp calls them. Whoever uses KINDS says what
// BASIC, FIXED, STRING, VARIABLE and REFERENCE make of a type. Read by IDL compilers and by C++.
// NO_LONG_DOUBLE leaves out what not every peer has.

#ifdef NO_LONG_DOUBLE
#define LONG_DOUBLE_KIND
#else
#define LONG_DOUBLE_KIND BASIC(F128)
#endif

// clang-format off
#define KINDS                                                                                      \
    BASIC(Flag) BASIC(Letter) BASIC(Byte) BASIC(I16) BASIC(U16) BASIC(I32) BASIC(U32) BASIC(I64)   \
    BASIC(U64) BASIC(F32) BASIC(F64) LONG_DOUBLE_KIND BASIC(Color)                                 \
    FIXED(Point) FIXED(Shape)                                                                      \
    STRING(Name) STRING(ShortName)                                                                 \
    VARIABLE(Person)                                                                               \
    REFERENCE(Echo) REFERENCE(AnyObject)
// clang-format on
