// SPDX-License-Identifier: Apache-2.0
//
// What kairos-bench-marshal… times, under one name for both engines: the functions that compiled
// stubs and skeletons are made of, or those that corba::call and corba::serve walk through with the
// tables of interpretive ones. Chosen by the target (KAIROS_BENCH_INTERPRETIVE).
#pragma once

#include "kairos/corba/stub.h"

#ifdef KAIROS_BENCH_INTERPRETIVE
#include "kairos/types/interpreter.h"
#endif

namespace kairos::bench::engine {

#ifdef KAIROS_BENCH_INTERPRETIVE

using TextTable = types::TableOf<types::TextParameter<char, 0>>;

template <typename T>
void encode(cdr::Writer& out, const T& value)
{
    types::encode(out, types::TableOf<T>::table, &value);
}
template <typename T>
void decode(cdr::Reader& in, T& value, Arena* arena = nullptr)
{
    types::decode(in, types::TableOf<T>::table, &value, arena);
}
/// As corba::serve makes an `in` parameter.
template <typename T>
class Borrowed {
  public:
    Borrowed(cdr::Reader& in, Arena& arena)
    {
        types::decode(in, types::TableOf<T>::table, storage_, &arena);
    }

  private:
    alignas(T) std::byte storage_[sizeof(T)];
};
inline void encode_text(cdr::Writer& out, const char* text)
{
    types::encode(out, TextTable::table, &text);
}
inline void decode_text(cdr::Reader& in, CORBA::String_var& text)
{
    char* decoded = nullptr;
    types::decode(in, TextTable::table, &decoded);
    text = decoded;
}
inline void decode_text_view(cdr::Reader& in, Arena& arena, const char*& text)
{
    types::decode(in, TextTable::table, &text, &arena);
}

#else

using mapping::Borrowed;
using mapping::decode;
using mapping::encode;

inline void encode_text(cdr::Writer& out, const char* text) { mapping::encode_string(out, text); }
inline void decode_text(cdr::Reader& in, CORBA::String_var& text)
{
    mapping::decode_string(in, text);
}
inline void decode_text_view(cdr::Reader& in, Arena& arena, const char*& text)
{
    mapping::decode_string_view(in, arena, text);
}

#endif

} // namespace kairos::bench::engine
