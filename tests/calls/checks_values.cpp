// SPDX-License-Identifier: Apache-2.0
//
// The checks of each type as in, inout and out argument and as result.
#include "checks.h"
#include "kinds.h"

namespace calls {
namespace {

constexpr std::uint32_t seeds = 4; // with values of other seeds

template <typename T>
void fill(Context& context, T& value)
{
    Filler filler(context.pool, ++context.seed);
    visit(filler, value);
}

/// What went in, to be compared with what came back.
template <typename T>
struct Sent {
    Sent(const Pool& values_pool, const T& a_value, const T& b_value)
        : pool(values_pool), a(describe(pool, a_value)), b(describe(pool, b_value))
    {
    }
    void expect_echo(const T& result, const T& inout, const T& out) const
    {
        expect_same(a, describe(pool, result), "the result");
        expect_same(a, describe(pool, inout), "the inout argument");
        expect_same(b, describe(pool, out), "the out argument");
    }
    const Pool& pool;
    const std::string a;
    const std::string b;
};

template <typename T, typename Call>
void check_fixed(Context& context, Call call)
{
    for (std::uint32_t round = 0; round < seeds; ++round) {
        T a{};
        T b{};
        T c{};
        fill(context, a);
        fill(context, b);
        const Sent<T> sent(context.pool, a, b);
        const T result = call(a, b, c);
        sent.expect_echo(result, b, c);
        expect_same(sent.a, describe(context.pool, a), "the in argument");
    }
}

template <typename T, typename Var, typename Call>
void check_variable(Context& context, Call call)
{
    for (std::uint32_t round = 0; round < seeds; ++round) {
        const Var a = new T();
        Var b = new T();
        Var c;
        fill(context, const_cast<T&>(a.in()));
        fill(context, b.inout());
        const Sent<T> sent(context.pool, a.in(), b.in());
        const Var result = call(a.in(), b.inout(), c.out());
        sent.expect_echo(result.in(), b.in(), c.in());
        expect_same(sent.a, describe(context.pool, a.in()), "the in argument");
    }
}

/// Strings: `bound` is that of the type.
template <typename Call>
void check_string(Context& context, unsigned bound, Call call)
{
    for (std::uint32_t round = 0; round < seeds; ++round) {
        CORBA::String_var a;
        CORBA::String_var b;
        CORBA::String_var c;
        Filler filler(context.pool, ++context.seed);
        filler.text(a, round == 0 ? 0 : bound);
        filler.text(b, bound);
        const std::string sent_a = a.in();
        const std::string sent_b = b.in();
        const CORBA::String_var result = call(a.in(), b.inout(), c.out());
        expect_same(sent_a, result.in(), "the result");
        expect_same(sent_a, b.in(), "the inout argument");
        expect_same(sent_b, c.in(), "the out argument");
    }
}

template <typename T, typename Var, typename Call>
void check_reference(Context& context, Call call)
{
    const auto& echoes = context.pool.echoes;
    for (std::size_t i = 0; i < echoes.size(); ++i) {
        const std::size_t other = (i + 1) % echoes.size();
        Var a = T::_duplicate(echoes[i].in());
        Var b = T::_duplicate(echoes[other].in());
        Var c;
        const Var result = call(a.in(), b.inout(), c.out());
        const std::string sent_a = context.pool.describe(echoes[i].in());
        expect_same(sent_a, context.pool.describe(result.in()), "the result");
        expect_same(sent_a, context.pool.describe(b.in()), "the inout argument");
        expect_same(context.pool.describe(echoes[other].in()), context.pool.describe(c.in()),
                    "the out argument");
    }
}

/// Arrays are of one type for the language and of their own for CORBA: `Var` tells.
template <typename T, typename Var, typename Slice, typename Call>
void check_array(Context& context, Slice* (*allocate)(), Call call)
{
    for (std::uint32_t round = 0; round < seeds; ++round) {
        Var a = allocate();
        Var b = allocate();
        Var c;
        T& a_value = *reinterpret_cast<T*>(&a[0]);
        T& b_value = *reinterpret_cast<T*>(&b[0]);
        fill(context, a_value);
        fill(context, b_value);
        const Sent<T> sent(context.pool, a_value, b_value);
        Var result = call(a_value, b_value, c);
        sent.expect_echo(*reinterpret_cast<T*>(&result[0]), b_value, *reinterpret_cast<T*>(&c[0]));
    }
}

} // namespace

// Lambdas that only call: the types of their parameters are those of the operation.
#define CHECK_FIXED(T)                                                                             \
    {"echo_" #T, [](Context& context) {                                                            \
         check_fixed<Types::T>(context, [&](const Types::T& a, Types::T& b, Types::T& c) {         \
             return context.server->echo_##T(a, b, c);                                             \
         });                                                                                       \
     }},
#define CHECK_VARIABLE(T)                                                                          \
    {"echo_" #T, [](Context& context) {                                                            \
         check_variable<Types::T, Types::T##_var>(                                                 \
             context, [&](const Types::T& a, Types::T& b, Types::T##_out c) {                      \
                 return context.server->echo_##T(a, b, c);                                         \
             });                                                                                   \
     }},
#define CHECK_STRING(T, bound)                                                                     \
    {"echo_" #T, [](Context& context) {                                                            \
         check_string(context, bound, [&](const char* a, char*& b, CORBA::String_out c) {          \
             return context.server->echo_##T(a, b, c);                                             \
         });                                                                                       \
     }},
#define CHECK_REFERENCE(T)                                                                         \
    {"echo_" #T, [](Context& context) {                                                            \
         check_reference<Types::T, Types::T##_var>(                                                \
             context, [&](Types::T##_ptr a, Types::T##_ptr& b, Types::T##_out c) {                 \
                 return context.server->echo_##T(a, b, c);                                         \
             });                                                                                   \
     }},
#define CHECK_FIXED_ARRAY(T)                                                                       \
    {"echo_" #T, [](Context& context) {                                                            \
         check_array<Types::T, Types::T##_var>(                                                    \
             context, &Types::T##_alloc, [&](Types::T& a, Types::T& b, Types::T##_var& c) {        \
                 c = Types::T##_alloc();                                                           \
                 return context.server->echo_##T(a, b, c.inout());                                 \
             });                                                                                   \
     }},
#define CHECK_VARIABLE_ARRAY(T)                                                                    \
    {"echo_" #T, [](Context& context) {                                                            \
         check_array<Types::T, Types::T##_var>(context, &Types::T##_alloc,                         \
                                               [&](Types::T& a, Types::T& b, Types::T##_var& c) {  \
                                                   return context.server->echo_##T(a, b, c.out()); \
                                               });                                                 \
     }},
#define CHECK_SEQUENCES(T) CHECK_VARIABLE(T##_s) CHECK_VARIABLE(T##_s4) CHECK_VARIABLE(T##_ss)
#define CHECK_OF_FIXED(T) CHECK_FIXED_ARRAY(T##_3) CHECK_FIXED_ARRAY(T##_2x3) CHECK_SEQUENCES(T)
#define CHECK_OF_VARIABLE(T)                                                                       \
    CHECK_VARIABLE_ARRAY(T##_3) CHECK_VARIABLE_ARRAY(T##_2x3) CHECK_SEQUENCES(T)

std::vector<Check> value_checks()
{
#define BASIC(T) CHECK_FIXED(T) CHECK_OF_FIXED(T)
#define FIXED(T) CHECK_FIXED(T) CHECK_OF_FIXED(T)
#define STRING(T) CHECK_OF_VARIABLE(T)
#define VARIABLE(T) CHECK_VARIABLE(T) CHECK_OF_VARIABLE(T)
#define REFERENCE(T) CHECK_REFERENCE(T) CHECK_OF_VARIABLE(T)
    return {KINDS CHECK_STRING(Name, 100) CHECK_STRING(ShortName, 8) CHECK_FIXED(Wrapped)
                CHECK_VARIABLE(Node) CHECK_VARIABLE(Tree) CHECK_VARIABLE(Wrapped_s)
                    CHECK_VARIABLE(I32_3_s) CHECK_VARIABLE(Point_3_s) CHECK_VARIABLE(Name_3_s)
                        CHECK_VARIABLE(PersonsAgain)
#ifndef NO_LONG_DOUBLE
                            CHECK_VARIABLE(F128Structs)
#endif
    };
}

} // namespace calls
