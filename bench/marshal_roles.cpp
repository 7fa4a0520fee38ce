// SPDX-License-Identifier: Apache-2.0
//
// What one call of Param_Test marshals, by role: the client encodes in and inout and decodes the
// result, inout and out; the server the other way round. The paper counted the same with a profiler
// (table XIII). Values are made as stubs and skeletons make them: owned, and views for `in`.
#include "param.h"

#include "bench/marshal_engine.h"
#include "bench/marshal_peer.h"
#include "bench/marshal_timing.h"
#include "bench/param_values.h"

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace kairos::bench {
namespace {

/// A parameter that is a value: numbers, structs of fixed length.
template <typename T>
struct Fixed {
    using Owned = T;
    static Owned decode(cdr::Reader& in)
    {
        T value{};
        engine::decode(in, value);
        return value;
    }
    using Inout = T;
    static void decode_inout(cdr::Reader& in, T& value) { engine::decode(in, value); }
    static void decode_in(cdr::Reader& in, Arena&)
    {
        T value{};
        engine::decode(in, value);
        touch(&value);
    }
    static void encode(cdr::Writer& out, const Owned& value) { engine::encode(out, value); }
};

/// A parameter of variable length: results and outs are made with new.
template <typename T>
struct Variable {
    using Owned = std::unique_ptr<T>;
    static Owned decode(cdr::Reader& in)
    {
        auto value = std::make_unique<T>();
        engine::decode(in, *value);
        return value;
    }
    using Inout = T;
    static void decode_inout(cdr::Reader& in, T& value) { engine::decode(in, value); }
    static void decode_in(cdr::Reader& in, Arena& arena)
    {
        const engine::Borrowed<T> value(in, arena);
        touch(&value);
    }
    static void encode(cdr::Writer& out, const Owned& value) { engine::encode(out, *value); }
};

struct Text {
    using Owned = CORBA::String_var;
    static Owned decode(cdr::Reader& in)
    {
        Owned value;
        engine::decode_text(in, value);
        return value;
    }
    using Inout = CORBA::String_var;
    static void decode_inout(cdr::Reader& in, Inout& value) { engine::decode_text(in, value); }
    static void decode_in(cdr::Reader& in, Arena& arena)
    {
        const char* value = nullptr;
        engine::decode_text_view(in, arena, value);
        touch(value);
    }
    static void encode(cdr::Writer& out, const Owned& value)
    {
        engine::encode_text(out, value.in());
    }
};

template <typename Parameter>
class Roles {
  public:
    explicit Roles(typename Parameter::Owned value) : value_(std::move(value)) {}

    [[nodiscard]] double marshal(std::uint32_t times, int parameters)
    {
        cdr::Buffer buffer;
        return ns_per(times, [&] {
            cdr::Writer out(buffer);
            for (int i = 0; i < parameters; ++i)
                Parameter::encode(out, value_);
            touch(buffer.data());
        });
    }
    [[nodiscard]] double client_demarshal(std::uint32_t times)
    {
        const auto reply = message(3);
        typename Parameter::Inout inout{}; // stays, as an application's does
        return ns_per(times, [&] {
            cdr::Reader in(reply, native_little_endian);
            const auto result = Parameter::decode(in);
            Parameter::decode_inout(in, inout);
            const auto out = Parameter::decode(in);
            check(in);
            touch(&result);
            touch(&out);
        });
    }
    [[nodiscard]] double server_demarshal(std::uint32_t times)
    {
        const auto request = message(2);
        Arena arena;
        return ns_per(times, [&] {
            cdr::Reader in(request, native_little_endian);
            Parameter::decode_in(in, arena);
            typename Parameter::Inout inout{};
            Parameter::decode_inout(in, inout);
            check(in);
            touch(&inout);
            arena.reset();
        });
    }
    [[nodiscard]] std::string timed(std::uint32_t times)
    {
        char text[240];
        std::snprintf(text, sizeof text,
                      "{\"client_marshal_ns\":%.2f,\"client_demarshal_ns\":%.2f,"
                      "\"server_marshal_ns\":%.2f,\"server_demarshal_ns\":%.2f}",
                      marshal(times, 2), client_demarshal(times), marshal(times, 3),
                      server_demarshal(times));
        return text;
    }

  private:
    static void check(const cdr::Reader& in)
    {
        if (!in.ok()) throw std::runtime_error("a message of its own was refused");
    }
    [[nodiscard]] std::vector<std::byte> message(int parameters)
    {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        for (int i = 0; i < parameters; ++i)
            Parameter::encode(out, value_);
        return {out.contiguous().begin(), out.contiguous().end()};
    }

    typename Parameter::Owned value_;
};

template <typename T>
std::string time_variable(const T& value, std::uint32_t times)
{
    return Roles<Variable<T>>(std::make_unique<T>(value)).timed(times);
}

} // namespace

std::string time_roles(const Exercise& exercise)
{
    const std::uint32_t times = exercise.calls;
    if (times == 0) throw std::invalid_argument("how often?");
    switch (exercise.payload) {
    case Payload::int16:
        return Roles<Fixed<CORBA::Short>>(7).timed(times);
    case Payload::ubstring:
        return Roles<Text>(CORBA::string_dup(param_text().c_str())).timed(times);
    case Payload::fixed_struct:
        return Roles<Fixed<Param::Fixed_Struct>>(param_fixed_struct()).timed(times);
    case Payload::strseq:
        return time_variable(param_strseq(), times);
    case Payload::var_struct:
        return time_variable(param_var_struct(), times);
    case Payload::nested_struct:
        return time_variable(param_nested_struct(), times);
    case Payload::struct_seq:
        return time_variable(param_struct_seq(), times);
    default:
        throw std::invalid_argument("Param_Test has no such parameters");
    }
}

} // namespace kairos::bench
