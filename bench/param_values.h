// SPDX-License-Identifier: Apache-2.0
//
// The values that Param_Test passes: 128 characters, 9 elements (param.idl). Included behind the
// generated headers of whichever ORB is measured.
#pragma once

#include <cstring>
#include <string>

namespace kairos::bench {

inline std::string param_text() { return std::string(Param::string_length, 'k'); }

inline Param::Fixed_Struct param_fixed_struct()
{
    Param::Fixed_Struct value;
    value.l = 123'456'789;
    value.c = 'k';
    value.s = -2;
    value.o = 7;
    value.f = 0.5F;
    value.b = true;
    value.d = 2.5;
    return value;
}

inline Param::StrSeq param_strseq()
{
    Param::StrSeq value;
    value.length(Param::sequence_length);
    for (CORBA::ULong i = 0; i < Param::sequence_length; ++i)
        value[i] = param_text().c_str();
    return value;
}

inline Param::Var_Struct param_var_struct()
{
    Param::Var_Struct value;
    value.dummy1 = param_text().c_str();
    value.dummy2 = param_text().c_str();
    value.seq = param_strseq();
    return value;
}

inline Param::Nested_Struct param_nested_struct()
{
    Param::Nested_Struct value;
    value.vs = param_var_struct();
    return value;
}

inline Param::StructSeq param_struct_seq()
{
    Param::StructSeq value;
    value.length(Param::sequence_length);
    for (CORBA::ULong i = 0; i < Param::sequence_length; ++i)
        value[i] = param_var_struct();
    return value;
}

// Whether a value came through a call as it was.
inline bool same(const char* a, const char* b) { return std::strcmp(a, b) == 0; }
inline bool same(const Param::Fixed_Struct& a, const Param::Fixed_Struct& b)
{
    return a.l == b.l && a.c == b.c && a.s == b.s && a.o == b.o && a.f == b.f && a.b == b.b &&
           a.d == b.d;
}
inline bool same(const Param::StrSeq& a, const Param::StrSeq& b)
{
    if (a.length() != b.length()) return false;
    for (CORBA::ULong i = 0; i < a.length(); ++i)
        if (!same(static_cast<const char*>(a[i]), static_cast<const char*>(b[i]))) return false;
    return true;
}
inline bool same(const Param::Var_Struct& a, const Param::Var_Struct& b)
{
    return same(a.dummy1.in(), b.dummy1.in()) && same(a.dummy2.in(), b.dummy2.in()) &&
           same(a.seq, b.seq);
}
inline bool same(const Param::Nested_Struct& a, const Param::Nested_Struct& b)
{
    return same(a.vs, b.vs);
}
inline bool same(const Param::StructSeq& a, const Param::StructSeq& b)
{
    if (a.length() != b.length()) return false;
    for (CORBA::ULong i = 0; i < a.length(); ++i)
        if (!same(a[i], b[i])) return false;
    return true;
}

} // namespace kairos::bench
