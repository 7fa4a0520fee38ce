// SPDX-License-Identifier: Apache-2.0
//
// What marshalling costs beside memcpy of the same bytes. The bars of the experiments start here:
// sequences of BinStruct are to move nearly as fast as octets. The tests run it for a moment only.
#include "kairos/mapping/marshal.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

namespace {

struct BinStruct {
    CORBA::Short s;
    CORBA::Char c;
    CORBA::Long l;
    CORBA::Octet o;
    CORBA::Double d;
};

/// Fixed_Struct of bench/param.idl.
struct Mixed {
    CORBA::Long l;
    CORBA::Char c;
    CORBA::Short s;
    CORBA::Octet o;
    CORBA::Float f;
    CORBA::Boolean b;
    CORBA::Double d;
};

} // namespace

template <>
struct kairos::mapping::Marshal<Mixed>
    : FixedStruct<Mixed, Field<&Mixed::l, offsetof(Mixed, l)>, Field<&Mixed::c, offsetof(Mixed, c)>,
                  Field<&Mixed::s, offsetof(Mixed, s)>, Field<&Mixed::o, offsetof(Mixed, o)>,
                  Field<&Mixed::f, offsetof(Mixed, f)>, Field<&Mixed::b, offsetof(Mixed, b)>,
                  Field<&Mixed::d, offsetof(Mixed, d)>> {};

template <>
struct kairos::mapping::Marshal<BinStruct>
    : FixedStruct<BinStruct, Field<&BinStruct::s, offsetof(BinStruct, s)>,
                  Field<&BinStruct::c, offsetof(BinStruct, c)>,
                  Field<&BinStruct::l, offsetof(BinStruct, l)>,
                  Field<&BinStruct::o, offsetof(BinStruct, o)>,
                  Field<&BinStruct::d, offsetof(BinStruct, d)>> {};

namespace kairos::mapping {
namespace {

constexpr std::size_t payload_bytes = 128 << 10;

template <typename T>
UnboundedSequence<T> filled()
{
    UnboundedSequence<T> elements;
    elements.length(static_cast<CORBA::ULong>(payload_bytes / sizeof(T)));
    std::memset(static_cast<void*>(elements.get_buffer()), 1, elements.size() * sizeof(T));
    return elements;
}

void count(benchmark::State& state, std::size_t bytes)
{
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(bytes));
}

void memcpy_of_the_same_bytes(benchmark::State& state)
{
    const auto from = filled<CORBA::Octet>();
    cdr::Buffer to(payload_bytes + 64);
    for (auto _ : state) {
        std::memcpy(to.data() + 8, from.data(), payload_bytes);
        benchmark::ClobberMemory();
    }
    count(state, payload_bytes);
}
BENCHMARK(memcpy_of_the_same_bytes);

template <typename T>
void encode_sequence(benchmark::State& state)
{
    const auto elements = filled<T>();
    cdr::Buffer buffer(payload_bytes + 64);
    for (auto _ : state) {
        cdr::Writer out(buffer);
        encode(out, elements);
        benchmark::ClobberMemory();
    }
    count(state, payload_bytes);
}
BENCHMARK(encode_sequence<CORBA::Octet>);
BENCHMARK(encode_sequence<CORBA::Short>);
BENCHMARK(encode_sequence<CORBA::Long>);
BENCHMARK(encode_sequence<CORBA::Double>);
BENCHMARK(encode_sequence<BinStruct>);

template <typename T>
std::vector<std::byte> encoded(const T& value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    encode(out, value);
    std::vector<std::byte> bytes(out.contiguous().begin(), out.contiguous().end());
    for (const auto& external : out.externals())
        bytes.insert(bytes.end(), external.bytes.begin(), external.bytes.end());
    return bytes;
}

template <typename T, bool swapped = false>
void decode_sequence(benchmark::State& state)
{
    auto bytes = encoded(filled<T>());
    if (swapped)
        std::reverse(bytes.begin(), bytes.begin() + 4); // the length; elements are all ones
    UnboundedSequence<T> elements;
    for (auto _ : state) {
        cdr::Reader in(bytes, native_little_endian != swapped);
        decode(in, elements);
        benchmark::DoNotOptimize(elements.data());
        benchmark::ClobberMemory();
    }
    count(state, payload_bytes);
}
BENCHMARK(decode_sequence<CORBA::Octet>);
BENCHMARK(decode_sequence<CORBA::Short>);
BENCHMARK(decode_sequence<CORBA::Long>);
BENCHMARK(decode_sequence<CORBA::Double>);
BENCHMARK(decode_sequence<BinStruct>);
BENCHMARK(decode_sequence<CORBA::Short, true>);
BENCHMARK(decode_sequence<CORBA::Long, true>);
BENCHMARK(decode_sequence<CORBA::Double, true>);
BENCHMARK(decode_sequence<BinStruct, true>);

/// One struct, as a parameter is.
template <typename T>
void encode_struct(benchmark::State& state)
{
    T value;
    std::memset(static_cast<void*>(&value), 1, sizeof value);
    cdr::Buffer buffer(payload_bytes);
    for (auto _ : state) {
        cdr::Writer out(buffer);
        for (int i = 0; i < 100; ++i)
            encode(out, value);
        benchmark::ClobberMemory();
    }
    count(state, 100 * sizeof value);
}
BENCHMARK(encode_struct<BinStruct>);
BENCHMARK(encode_struct<Mixed>);

template <typename T>
void decode_struct(benchmark::State& state)
{
    T value;
    const std::vector<std::byte> bytes(100 * sizeof value, std::byte{1});
    for (auto _ : state) {
        cdr::Reader in(bytes, native_little_endian);
        for (int i = 0; i < 100; ++i) {
            decode(in, value);
            benchmark::DoNotOptimize(value);
        }
    }
    count(state, 100 * sizeof value);
}
BENCHMARK(decode_struct<BinStruct>);
BENCHMARK(decode_struct<Mixed>);

template <typename T>
void view_sequence(benchmark::State& state)
{
    const auto bytes = encoded(filled<T>());
    Arena arena;
    for (auto _ : state) {
        cdr::Reader in(bytes, native_little_endian);
        UnboundedSequence<T> elements;
        decode(in, elements, &arena);
        benchmark::DoNotOptimize(elements.data());
        arena.reset();
    }
    count(state, payload_bytes);
}
BENCHMARK(view_sequence<CORBA::Double>);
BENCHMARK(view_sequence<BinStruct>);

UnboundedStringSequence<> many_strings()
{
    UnboundedStringSequence<> texts;
    texts.length(payload_bytes / 32);
    for (CORBA::ULong i = 0; i < texts.length(); ++i)
        texts[i] = "a string of thirty-one characte";
    return texts;
}

void items(benchmark::State& state)
{
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * payload_bytes / 32));
}

void encode_strings(benchmark::State& state)
{
    const auto texts = many_strings();
    cdr::Buffer buffer(2 * payload_bytes);
    for (auto _ : state) {
        cdr::Writer out(buffer);
        encode(out, texts);
        benchmark::ClobberMemory();
    }
    items(state);
}
BENCHMARK(encode_strings);

void view_strings(benchmark::State& state)
{
    const auto bytes = encoded(many_strings());
    Arena arena;
    for (auto _ : state) {
        cdr::Reader in(bytes, native_little_endian);
        UnboundedStringSequence<> texts;
        decode(in, texts, &arena);
        benchmark::DoNotOptimize(texts.data());
        arena.reset();
    }
    items(state);
}
BENCHMARK(view_strings);

void decode_strings(benchmark::State& state)
{
    const auto bytes = encoded(many_strings());
    UnboundedStringSequence<> texts;
    for (auto _ : state) {
        cdr::Reader in(bytes, native_little_endian);
        decode(in, texts);
        benchmark::DoNotOptimize(texts.data());
    }
    items(state);
}
BENCHMARK(decode_strings);

} // namespace
} // namespace kairos::mapping

BENCHMARK_MAIN();
