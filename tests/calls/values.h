// SPDX-License-Identifier: Apache-2.0
//
// Values of any type of types.idl: filled at random (extremes included, from a seed) and described
// as text, which is how two of them are compared. One function a struct, `members`, lists what is
// in it; everything else follows from the shape of the type. Plain mapping code, for any ORB.
#pragma once

#include "peer_orb.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace calls {

template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
/// char*, String_var and the strings of structs and sequences, however an ORB spells these.
template <typename T>
concept Text = !Number<T> && std::is_convertible_v<T, const char*>;
template <typename T>
concept Reference = !Text<T> && !Number<T> && std::is_convertible_v<T, CORBA::Object_ptr>;
template <typename T>
concept EchoReference = Reference<T> && std::is_convertible_v<T, Types::Echo_ptr>;

/// The references that values are made with. The first is nil.
struct Pool {
    std::vector<Types::Echo_var> echoes;

    [[nodiscard]] std::string describe(CORBA::Object_ptr object) const
    {
        if (CORBA::is_nil(object)) return "nil";
        for (std::size_t i = 0; i < echoes.size(); ++i) {
            CORBA::Object_ptr known = echoes[i].in();
            if (!CORBA::is_nil(known) && known->_is_equivalent(object))
                return "object " + std::to_string(i);
        }
        return "unknown object";
    }
};

/// Fills what it is applied to.
class Filler {
  public:
    Filler(const Pool& pool, std::uint32_t seed) : pool_(pool), random_(seed) {}

    template <Number T>
    void value(T& number)
    {
        if constexpr (std::is_enum_v<T>)
            number = static_cast<T>(random_() % 3);
        else if constexpr (std::is_same_v<T, bool>)
            number = random_() % 2 != 0;
        else if constexpr (std::is_floating_point_v<T>)
            number = floating<T>();
        else
            number = integer<T>();
    }
    template <typename T>
        requires Text<T>
    void text(T&& place, unsigned length_max)
    {
        std::string text(random_() % (length_max + 1), ' ');
        for (char& c : text)
            c = static_cast<char>(1 + random_() % 255);
        place = CORBA::string_dup(text.c_str());
    }
    template <typename T>
        requires Reference<T>
    void reference(T&& place)
    {
        Types::Echo_ptr chosen = pool_.echoes[random_() % pool_.echoes.size()].in();
        if constexpr (EchoReference<T>)
            place = Types::Echo::_duplicate(chosen);
        else
            place = CORBA::Object::_duplicate(chosen);
    }
    template <typename Sequence>
    void length(Sequence& sequence, unsigned length_max)
    {
        const bool deep = ++depth_ > 3; // recursive types must end somewhere
        sequence.length(deep ? 0 : static_cast<CORBA::ULong>(random_() % (length_max + 1)));
    }
    template <typename Sequence>
    void end(Sequence&)
    {
        --depth_;
    }

  private:
    template <typename T>
    T integer()
    {
        switch (random_() % 4) {
        case 0:
            return std::numeric_limits<T>::max();
        case 1:
            return std::numeric_limits<T>::min();
        default:
            return static_cast<T>((std::uint64_t{random_()} << 32) | random_());
        }
    }
    template <typename T>
    T floating()
    {
        using Limits = std::numeric_limits<T>;
        switch (random_() % 8) {
        case 0:
            return Limits::infinity();
        case 1:
            return Limits::denorm_min();
        case 2:
            return -T(0);
        case 3:
            return Limits::lowest();
        default: // every bit of the mantissa may be set
            return T(1) / static_cast<T>(1 + random_()) - static_cast<T>(random_());
        }
    }

    const Pool& pool_;
    std::mt19937 random_;
    int depth_ = 0;
};

/// Writes down what it is applied to.
class Describer {
  public:
    explicit Describer(const Pool& pool) : pool_(pool) { text_ << std::hexfloat; }

    template <Number T>
    void value(const T& number)
    {
        if constexpr (std::is_floating_point_v<T>)
            text_ << number << ' ';
        else
            text_ << static_cast<long long>(number) << ' ';
    }
    template <typename T>
    void text(const T& text, unsigned)
    {
        text_ << '"' << static_cast<const char*>(text) << "\" ";
    }
    template <typename T>
    void reference(const T& reference)
    {
        text_ << pool_.describe(reference) << ' ';
    }
    template <typename Sequence>
    void length(const Sequence& sequence, unsigned)
    {
        text_ << sequence.length() << '[';
    }
    template <typename Sequence>
    void end(const Sequence&)
    {
        text_ << ']';
    }
    [[nodiscard]] std::string text() const { return text_.str(); }

  private:
    const Pool& pool_;
    std::ostringstream text_;
};

/// What a sequence may hold at most, and its strings.
struct Bounds {
    unsigned length = 4; // the bound of every bounded sequence but one
    unsigned text = 8;   // the bound of ShortName: short enough for every string
};

template <typename Visitor, typename T>
void visit(Visitor& visitor, T&& value, Bounds bounds = {});

template <typename Visitor, typename Sequence>
void visit_elements(Visitor& visitor, Sequence& sequence, Bounds bounds)
{
    visitor.length(sequence, bounds.length);
    for (CORBA::ULong i = 0; i < sequence.length(); ++i)
        visit(visitor, sequence[i], bounds);
    visitor.end(sequence);
}

/// Sequences of arrays: what their operator[] returns differs from ORB to ORB.
template <typename Array, typename Visitor, typename Sequence>
void visit_arrays(Visitor& visitor, Sequence& sequence)
{
    visitor.length(sequence, 5);
    for (CORBA::ULong i = 0; i < sequence.length(); ++i)
        visit(visitor, *reinterpret_cast<Array*>(&sequence[i][0]));
    visitor.end(sequence);
}

template <typename T, typename U>
concept Is = std::is_same_v<std::remove_cvref_t<T>, U>;

template <typename V, Is<Types::Point> T>
void members(V& v, T& point)
{
    visit(v, point.s);
    visit(v, point.c);
    visit(v, point.l);
    visit(v, point.o);
    visit(v, point.d);
}
template <typename V, Is<Types::Shape> T>
void members(V& v, T& shape)
{
    visit(v, shape.origin);
    visit(v, shape.marked);
    visit(v, shape.vector);
    visit(v, shape.matrix);
    visit(v, shape.raw);
    visit(v, shape.corners);
    visit(v, shape.count);
    visit(v, shape.large);
    visit(v, shape.fill);
    visit(v, shape.small);
}
template <typename V, Is<Types::Wrapped> T>
void members(V& v, T& wrapped)
{
    visit(v, wrapped.inner);
    visit(v, wrapped.tail);
}
#ifndef NO_LONG_DOUBLE
template <typename V, Is<Types::F128Struct> T>
void members(V& v, T& quad)
{
    visit(v, quad.before);
    visit(v, quad.number);
    visit(v, quad.after);
}
#endif
template <typename V, Is<Types::Person> T>
void members(V& v, T& person)
{
    visit(v, person.called);
    visit(v, person.nickname);
    visit(v, person.outline);
    visit(v, person.marks);
    visit(v, person.position, Bounds{2});
    visit(v, person.lines);
    visit(v, person.titles);
    visit(v, person.visited);
    visit(v, person.house);
    visit(v, person.other);
    visit(v, person.friends);
    visit(v, person.pair);
    visit(v, person.mood);
    visit(v, person.last);
}
template <typename V, Is<Types::Node> T>
void members(V& v, T& node)
{
    visit(v, node.value);
    visit(v, node.children);
}
template <typename V, Is<Types::Tree> T>
void members(V& v, T& tree)
{
    visit(v, tree.called);
    visit(v, tree.branches);
}
template <typename V, Is<Types::Full> T>
void members(V& v, T& full)
{
    visit(v, full.number);
    visit(v, full.outline);
    visit(v, full.called);
    visit(v, full.owner);
    visit(v, full.vector);
    visit(v, full.names);
    visit(v, full.where);
    visit(v, full.rows);
    visit(v, full.mood);
}
template <typename V, Is<Types::I32_3_s> T>
void members(V& v, T& sequence)
{
    visit_arrays<std::conditional_t<std::is_const_v<T>, const Types::I32_3, Types::I32_3>>(
        v, sequence);
}
template <typename V, Is<Types::Point_3_s> T>
void members(V& v, T& sequence)
{
    visit_arrays<std::conditional_t<std::is_const_v<T>, const Types::Point_3, Types::Point_3>>(
        v, sequence);
}
template <typename V, Is<Types::Name_3_s> T>
void members(V& v, T& sequence)
{
    visit_arrays<std::conditional_t<std::is_const_v<T>, const Types::Name_3, Types::Name_3>>(
        v, sequence);
}

template <typename Visitor, typename T>
void visit(Visitor& visitor, T&& value, Bounds bounds)
{
    using Plain = std::remove_reference_t<T>;
    if constexpr (Number<std::remove_cv_t<Plain>>)
        visitor.value(value);
    else if constexpr (std::is_array_v<Plain>)
        for (auto& element : value)
            visit(visitor, element, bounds);
    else if constexpr (Text<Plain>)
        visitor.text(value, bounds.text);
    else if constexpr (Reference<Plain>)
        visitor.reference(value);
    else if constexpr (requires { members(visitor, value); })
        members(visitor, value);
    else
        visit_elements(visitor, value, bounds);
}

template <typename T>
std::string describe(const Pool& pool, const T& value)
{
    Describer describer(pool);
    visit(describer, value);
    return describer.text();
}

} // namespace calls
