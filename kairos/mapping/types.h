// SPDX-License-Identifier: Apache-2.0
//
// The basic types of the C++ mapping (formal/2012-07-02, 5.7, "Mapping for basic data types"), as
// users and generated code name them. Each is the C++ type of the size that CDR gives it.
#pragma once

#include <cstdint>

namespace CORBA {

typedef bool Boolean;
typedef char Char;
typedef wchar_t WChar;
typedef unsigned char Octet;
typedef signed char Int8;    ///< int8 of IDL 4
typedef unsigned char UInt8; ///< uint8 of IDL 4
typedef std::int16_t Short;
typedef std::uint16_t UShort;
typedef std::int32_t Long;
typedef std::uint32_t ULong;
typedef std::int64_t LongLong;
typedef std::uint64_t ULongLong;
typedef float Float;
typedef double Double;
typedef long double LongDouble;

typedef Boolean& Boolean_out;
typedef Char& Char_out;
typedef WChar& WChar_out;
typedef Octet& Octet_out;
typedef Int8& Int8_out;
typedef UInt8& UInt8_out;
typedef Short& Short_out;
typedef UShort& UShort_out;
typedef Long& Long_out;
typedef ULong& ULong_out;
typedef LongLong& LongLong_out;
typedef ULongLong& ULongLong_out;
typedef Float& Float_out;
typedef Double& Double_out;
typedef LongDouble& LongDouble_out;

static_assert(sizeof(Boolean) == 1 && sizeof(Float) == 4 && sizeof(Double) == 8);

} // namespace CORBA
