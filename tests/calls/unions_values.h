// SPDX-License-Identifier: Apache-2.0
//
// Values of the types of unions.idl: fill() makes the n-th one, describe() writes one as text, by
// which two are compared. Plain mapping code, for any ORB.
#pragma once

#ifdef PEER_OMNIORB
#include "unions.hh"
#else
#include "unions_skel.h"

#include <kairos/corba/CORBA.h>
#endif

#include <sstream>
#include <string>

namespace Unions { // so that templates find them by their argument

/// So many values of each type are worth a call.
constexpr int variants = 6;

inline std::string line(std::string text) { return "[" + text + "]"; }
template <typename... Parts>
std::string describe_parts(const Parts&... parts)
{
    std::ostringstream out;
    ((out << parts << ' '), ...);
    return line(out.str());
}

// --- Fixed-point numbers -----------------------------------------------------------------------

inline std::string describe(const CORBA::Fixed& value)
{
#ifdef PEER_OMNIORB // whose stream operator is ambiguous
    const CORBA::String_var text = value.NP_asString();
#else
    const CORBA::String_var text = value.to_string();
#endif
    return text.in();
}
inline void fill(Money& value, int n)
{
    static const char* const values[] = {"0", "123.45", "-123.45", "-0.01", "999.99", "7"};
    value = CORBA::Fixed(values[n % 6]);
}
inline void fill(Rate& value, int n)
{
    static const char* const values[] = {"0", "12.34", "-12.34", "-0.01", "99.99", "7"};
    value = CORBA::Fixed(values[n % 6]);
}
inline void fill(Huge& value, int n)
{
    static const char* const values[] = {"0", "9999999999999999999999999999999",  "-1",
                                         "1", "-1000000000000000000000000000000", "42"};
    value = CORBA::Fixed(values[n % 6]);
}
inline void fill(Tiny& value, int n)
{
    static const char* const values[] = {"0",
                                         "0.9999999999999999999999999999999",
                                         "-0.5",
                                         "0.0000000000000000000000000000001",
                                         "-0.1234567890123456789012345678901",
                                         "0.25"};
    value = CORBA::Fixed(values[n % 6]);
}

// --- Unions, one for each discriminator --------------------------------------------------------

inline std::string describe(const Point& value) { return describe_parts(value.x, value.y); }
inline Point point(int n)
{
    Point value;
    value.x = static_cast<CORBA::Short>(n - 3);
    value.y = n / 4.0;
    return value;
}

inline void fill(ByBoolean& value, int n)
{
    if (n % 2 == 0)
        value.yes(-n);
    else
        value.no(n / 2.0);
}
inline std::string describe(const ByBoolean& value)
{
    return value._d() ? describe_parts("yes", value.yes()) : describe_parts("no", value.no());
}

inline void fill(ByChar& value, int n)
{
    if (n % 3 == 0) {
        value.other(static_cast<CORBA::Octet>(n));
        if (n == 3) value._d('\xe9');
        return;
    }
    value.letter(static_cast<CORBA::Short>(n));
    if (n % 3 == 1) value._d('b');
}
inline std::string describe(const ByChar& value)
{
    const int label = value._d();
    if (label == 'a' || label == 'b') return describe_parts(label, value.letter());
    return describe_parts(label, static_cast<int>(value.other()));
}

inline void fill(ByShort& value, int n)
{
    if (n % 3 == 0) {
        value._default();
        value._d(static_cast<CORBA::Short>(100 + n));
    } else if (n % 3 == 1) {
        value.low(n);
    } else {
        value.text("some text");
        if (n > 2) value._d(0);
    }
}
inline std::string describe(const ByShort& value)
{
    if (value._d() == -1 || value._d() == 0) return describe_parts(value._d(), value.text());
    if (value._d() == -32768) return describe_parts("low", value.low());
    return describe_parts(value._d(), "nothing");
}

inline void fill(ByUShort& value, int n)
{
    value._default();
    if (n % 2 == 0) value.high(static_cast<CORBA::Float>(n) / 2);
}
inline std::string describe(const ByUShort& value)
{
    return value._d() == 65535 ? describe_parts("high", value.high()) : "nothing";
}

inline void fill(ByLong& value, int n)
{
    value._default();
    if (n % 3 == 1) value.low(static_cast<CORBA::Octet>(n));
    if (n % 3 == 2) value.high(point(n));
}
inline std::string describe(const ByLong& value)
{
    if (value._d() == 2147483647) return describe(value.high());
    if (value._d() == -2147483647) return describe_parts("low", static_cast<int>(value.low()));
    return "nothing";
}

inline void fill(ByULong& value, int n)
{
    value.high(static_cast<CORBA::Octet>(n));
    if (n % 2 == 0) return;
    value.rest(CORBA::LongLong{1} << (10 * n));
    value._d(4000000000U);
}
inline std::string describe(const ByULong& value)
{
    if (value._d() == 4294967295U) return describe_parts("high", static_cast<int>(value.high()));
    return describe_parts(value._d(), value.rest());
}

inline void fill(ByLongLong& value, int n)
{
    value._default();
    if (n % 3 == 1) value.low(static_cast<CORBA::Octet>(n));
    if (n % 3 == 2) value.high("high");
}
inline std::string describe(const ByLongLong& value)
{
    if (value._d() == 9223372036854775807) return describe_parts("high", value.high());
    if (value._d() == -9223372036854775807)
        return describe_parts("low", static_cast<int>(value.low()));
    return "nothing";
}

inline void fill(ByULongLong& value, int n)
{
    if (n % 2 == 0) {
        value.high("");
    } else {
        value.rest(point(n));
        value._d(1234567890123456789U + static_cast<unsigned>(n));
    }
}
inline std::string describe(const ByULongLong& value)
{
    if (value._d() == 18446744073709551615U) return describe_parts("high", value.high());
    return describe_parts(value._d(), describe(value.rest()));
}

inline void fill(ByColor& value, int n)
{
    if (n % 3 == 0) return value.r(n);
    value.g("green or blue");
    value._d(n % 3 == 1 ? green : blue);
}
inline std::string describe(const ByColor& value)
{
    if (value._d() == red) return describe_parts("red", value.r());
    return describe_parts(static_cast<int>(value._d()), value.g());
}

inline void fill(ByInner& value, int n)
{
    if (n % 2 == 0) return value.one(n);
    value.other(ByInner::third);
    if (n > 2) value._d(ByInner::third);
}
inline std::string describe(const ByInner& value)
{
    if (value._d() == ByInner::first) return describe_parts("first", value.one());
    return describe_parts(static_cast<int>(value._d()), static_cast<int>(value.other()));
}

// --- Unions of everything ----------------------------------------------------------------------

inline void fill(Plain& value, int n)
{
    switch (n % 5) {
    case 1: {
        const Digest digest = {1, 2, 3, 4, static_cast<CORBA::Octet>(n)};
        return value.hash(digest);
    }
    case 2:
        return value.place(point(n));
    case 3:
        return value.shade(blue);
    case 4: {
        ByBoolean nested;
        fill(nested, n + 1);
        return value.nested(nested);
    }
    default:
        value._default();
    }
}
inline std::string describe(const Plain& value)
{
    switch (value._d()) {
    case 1: {
        std::string text = "hash";
        for (int i = 0; i < 5; ++i)
            text += ' ' + std::to_string(value.hash()[i]);
        return line(text);
    }
    case 2:
        return describe(value.place());
    case 3:
        return describe_parts("shade", static_cast<int>(value.shade()));
    case 4:
        return describe(value.nested());
    default:
        return "nothing";
    }
}

#ifndef PEER_OMNIORB
inline void fill(Priced& value, int n)
{
    Money price;
    Rate share;
    fill(price, n);
    fill(share, n);
    if (n % 2 == 0)
        value.price(price);
    else
        value.share(share);
}
inline std::string describe(const Priced& value)
{
    return value._d() ? describe_parts("price", describe(value.price()))
                      : describe_parts("share", describe(value.share()));
}
#endif

inline void fill(Tree& value, int n)
{
    if (n == 0) return value.leaf("leaf");
    Trees branches;
    branches.length(static_cast<CORBA::ULong>(n % 3));
    for (CORBA::ULong i = 0; i < branches.length(); ++i)
        fill(branches[i], n - 1);
    value.branches(branches);
}
inline std::string describe(const Tree& value)
{
    if (!value._d()) return value.leaf();
    std::string text;
    for (CORBA::ULong i = 0; i < value.branches().length(); ++i)
        text += describe(value.branches()[i]);
    return line(text);
}

inline Peer_ptr& the_server()
{
    static Peer_ptr known = Peer::_nil(); // set by main
    return known;
}

inline void fill(Rich& value, int n)
{
    switch (n % 6) {
    case 1:
        return value.text("a text");
    case 2:
        return value.someone(n > 2 ? Peer::_nil() : the_server());
    case 3: {
        Points points;
        points.length(2);
        points[0] = point(1);
        points[1] = point(n);
        return value.places(points);
    }
    case 4: {
        ByShort nested;
        fill(nested, n + 1);
        value.nested(nested);
        return value._d(5);
    }
    default: {
        Names_var names = Names_alloc();
        names[0] = CORBA::string_dup("first");
        names[1] = CORBA::string_dup("");
        return value.pair(names);
    }
    }
}
inline std::string describe(const Rich& value)
{
    switch (value._d()) {
    case 1:
        return describe_parts("text", value.text());
    case 2:
        if (CORBA::is_nil(value.someone())) return "nil";
        return value.someone()->_is_equivalent(the_server()) ? "the server" : "unknown";
    case 3: {
        std::string text;
        for (CORBA::ULong i = 0; i < value.places().length(); ++i)
            text += describe(value.places()[i]);
        return line(text);
    }
    case 4:
    case 5:
        return describe_parts(value._d(), describe(value.nested()));
    default:
        return describe_parts(value.pair()[0].in(), value.pair()[1].in());
    }
}

// --- What contains them ------------------------------------------------------------------------

inline void fill(Holder& value, int n)
{
    value.before = static_cast<CORBA::Octet>(n);
    fill(value.b, n);
    fill(value.s, n);
    fill(value.plains[0], n);
    fill(value.plains[1], n + 1);
    fill(value.inner, n);
    value.numbers.length(static_cast<CORBA::ULong>(n));
    for (int i = 0; i < n; ++i)
        fill(value.numbers[static_cast<CORBA::ULong>(i)], i);
    fill(value.price, n);
    fill(value.rates[0], n);
    fill(value.rates[1], n + 1);
    fill(value.last, n);
}
inline std::string describe(const Holder& value)
{
    std::string text =
        describe_parts(static_cast<int>(value.before), describe(value.b), describe(value.s),
                       describe(value.plains[0]), describe(value.plains[1]), describe(value.inner));
    for (CORBA::ULong i = 0; i < value.numbers.length(); ++i)
        text += describe(value.numbers[i]);
    return text + describe_parts(describe(value.price), describe(value.rates[0]),
                                 describe(value.rates[1]), describe(value.last));
}

inline void fill(FixedHolder& value, int n)
{
    value.before = static_cast<CORBA::Octet>(n);
    fill(value.inner, n);
    fill(value.price, n);
    value.after = n / 8.0;
}
inline std::string describe(const FixedHolder& value)
{
    return describe_parts(static_cast<int>(value.before), describe(value.inner),
                          describe(value.price), value.after);
}

template <typename Sequence>
void fill_elements(Sequence& value, int n)
{
    value.length(static_cast<CORBA::ULong>(n));
    for (int i = 0; i < n; ++i)
        fill(value[static_cast<CORBA::ULong>(i)], i);
}
template <typename Sequence>
std::string describe_elements(const Sequence& value)
{
    std::string text;
    for (CORBA::ULong i = 0; i < value.length(); ++i)
        text += describe(value[i]) + ' ';
    return line(text);
}
inline void fill(Plains& value, int n) { fill_elements(value, n); }
inline void fill(Riches& value, int n) { fill_elements(value, n); }
inline void fill(Monies& value, int n) { fill_elements(value, n); }
inline std::string describe(const Plains& value) { return describe_elements(value); }
inline std::string describe(const Riches& value) { return describe_elements(value); }
inline std::string describe(const Monies& value) { return describe_elements(value); }

} // namespace Unions
