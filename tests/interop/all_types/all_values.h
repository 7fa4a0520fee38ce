// SPDX-License-Identifier: Apache-2.0
//
// Values of any type of all_types.idl: filled at random (extremes included, from a seed) and
// described as text, which is how two of them are compared. One function a struct or union lists
// what is in it; everything else follows from the shape of the type. Plain mapping code, for any
// ORB.
#pragma once

#include "all_valuetypes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace all {

/// The references and TypeCodes that values are made with. The first of each is nil.
struct Pool {
    std::vector<CORBA::Object_var> objects;
    std::vector<CORBA::TypeCode_var> types;
};

// The shapes of types.
template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <typename T>
concept Decimal = std::is_base_of_v<CORBA::Fixed, T>;
template <typename T>
concept Text = !Number<T> && !Decimal<T> && std::is_convertible_v<T, const char*>;
template <typename T>
concept WideText = !Number<T> && !Decimal<T> && std::is_convertible_v<T, const CORBA::WChar*>;
template <typename T>
concept Type = !Number<T> && std::is_convertible_v<T, CORBA::TypeCode_ptr>;
template <typename T>
concept Reference = !Text<T> && !Number<T> && std::is_convertible_v<T, CORBA::Object_ptr>;
template <typename T>
concept OwnReference = Reference<T> && std::is_convertible_v<T, All::Everything_ptr>;
template <typename T>
concept Valuetype = !std::is_void_v<ValuetypeOf<T>>;
template <typename T>
concept Abstract = !Reference<T> && !Valuetype<T> && std::is_convertible_v<T, All::Titled_ptr>;
template <typename T, typename U>
concept Is = std::is_same_v<std::remove_cvref_t<T>, U>;

/// What a sequence may hold at most, and strings.
struct Bounds {
    unsigned length = 4; // the bound of every bounded sequence but one
    unsigned text = 8;   // the bound of ShortName: short enough for every string
};

template <typename Visitor, typename T>
void visit(Visitor& visitor, T&& value, Bounds bounds = {});
template <typename V>
void members(V& v, All::Derived& value);

/// What an accessor or an insertion takes of a variable that owns.
template <typename T>
decltype(auto) in_of(const T& value)
{
    if constexpr (requires { value.in(); })
        return value.in();
    else
        return (value);
}

struct Digits {
    int digits;
    int scale;
};
/// Of a fixed type: its values do not tell in every ORB.
template <typename T>
constexpr Digits digits_of()
{
    if constexpr (std::is_same_v<T, All::Money>)
        return {9, 2};
    else if constexpr (std::is_same_v<T, All::Large>)
        return {31, 10};
    else if constexpr (std::is_same_v<T, All::Whole>)
        return {4, 0};
    else if constexpr (std::is_same_v<T, All::Fraction>)
        return {5, 5};
}

// --- Any -----------------------------------------------------------------------------------------

// Types that C++ cannot tell from others are not given to these.
template <typename T>
bool get(const CORBA::Any& any, T& value)
{
    if constexpr (Number<T>)
        return any >>= value;
    else { // the Any keeps what it points to
        const T* inside = nullptr;
        if (!(any >>= inside)) return false;
        value = *inside;
        return true;
    }
}

// References, of which an Any gives one that it keeps, or for Object a new one.
inline CORBA::Object_ptr duplicate(CORBA::Object_ptr object)
{
    return CORBA::Object::_duplicate(object);
}
inline All::Everything_ptr duplicate(All::Everything_ptr object)
{
    return All::Everything::_duplicate(object);
}
inline CORBA::TypeCode_ptr duplicate(CORBA::TypeCode_ptr type)
{
    return CORBA::TypeCode::_duplicate(type);
}
inline All::Titled_ptr duplicate(All::Titled_ptr object) { return All::Titled::_duplicate(object); }
inline bool get_reference(const CORBA::Any& any, CORBA::Object_var& object)
{
    return any >>= CORBA::Any::to_object(object.out());
}
inline bool get_reference(const CORBA::Any& any, All::Everything_var& object)
{
    All::Everything_ptr inside = All::Everything::_nil();
    if (!(any >>= inside)) return false;
    object = duplicate(inside);
    return true;
}
inline bool get_reference(const CORBA::Any& any, All::Titled_var& object)
{
    All::Titled_ptr inside = All::Titled::_nil();
    if (!(any >>= inside)) return false;
    object = duplicate(inside);
    return true;
}
inline bool get_reference(const CORBA::Any& any, CORBA::TypeCode_var& type)
{
    CORBA::TypeCode_ptr inside = CORBA::TypeCode::_nil();
    if (!(any >>= inside)) return false;
    type = duplicate(inside);
    return true;
}

/// How a type of fixed length is passed: numbers by value.
template <typename T>
using In = std::conditional_t<Number<T>, T, const T&>;

// --- filling -------------------------------------------------------------------------------------

/// Fills what it is applied to.
class Filler {
  public:
    /// `in_any`: what is filled goes into an Any. Who passes it on knows the types that the
    /// TypeCode names: not that of a value behind an abstract interface, nor one that derives from
    /// another.
    Filler(const Pool& pool, std::uint32_t seed, bool in_any)
        : pool_(pool), random_(seed), in_any_(in_any)
    {
    }

    template <Number T>
    void value(T& number)
    {
        if constexpr (std::is_enum_v<T>)
            number = static_cast<T>(random_() % 3);
        else if constexpr (std::is_same_v<T, bool>)
            number = random_() % 2 != 0;
        else if constexpr (std::is_same_v<T, CORBA::WChar>)
            number = wide();
        else if constexpr (std::is_floating_point_v<T>)
            number = static_cast<T>(1) / static_cast<T>(1 + random_()) - static_cast<T>(random_());
        else
            number = integer<T>();
    }
    template <Decimal T>
    void decimal(T& number)
    {
        // As many digits as the type has, of either sign: what has fewer JacORB sends in fewer
        // octets than it should.
        constexpr Digits type = digits_of<T>();
        std::string text = random_() % 2 == 0 ? "" : "-";
        for (int i = 0; i < type.digits; ++i) {
            if (i == type.digits - type.scale) text += i == 0 ? "0." : ".";
            text += static_cast<char>('1' + random_() % 9);
        }
        number = T(CORBA::Fixed(text.c_str()));
    }
    template <typename T>
    void text(T&& place, unsigned length_max)
    {
        std::string text(random_() % (length_max + 1), ' ');
        for (char& c : text)
            c = static_cast<char>(1 + random_() % 255);
        place = CORBA::string_dup(text.c_str());
    }
    template <typename T>
    void wide_text(T&& place, unsigned length_max)
    {
        std::basic_string<CORBA::WChar> text(random_() % (length_max + 1), L' ');
        for (CORBA::WChar& c : text)
            c = wide();
        place = CORBA::wstring_dup(text.c_str());
    }
    template <typename T>
    void type(T&& place)
    {
        place = CORBA::TypeCode::_duplicate(pool_.types[random_() % pool_.types.size()].in());
    }
    template <typename T>
    void reference(T&& place)
    {
        CORBA::Object_ptr chosen = pool_.objects[random_() % pool_.objects.size()].in();
        if constexpr (OwnReference<T>)
            place = All::Everything::_narrow(chosen);
        else
            place = CORBA::Object::_duplicate(chosen);
    }
    /// Null, a value of before, or a new one.
    template <typename T>
    void valuetype(T&& place)
    {
        using V = ValuetypeOf<T>;
        const auto choice = ++depth_ > 4 ? 0 : random_() % 5;
        V* chosen = nullptr;
        if (choice == 1)
            chosen = share(earlier<V>());
        else if (choice > 1)
            chosen = make<V>();
        place = chosen;
        --depth_;
    }
    template <typename T>
    void abstract(T&& place)
    {
        if (in_any_ || random_() % 2 == 0) {
            All::Everything_var object;
            reference(object);
            place = All::Titled::_duplicate(object.in());
        } else {
            All::Card_var card;
            valuetype(card);
            place = All::Titled::_duplicate(card.in());
        }
    }
    /// Of a value: `access` is accessor and modifier.
    template <typename Member, typename V, typename Access>
    void state(V& value, Access access)
    {
        Member member{};
        visit(*this, member);
        access(value, in_of(member));
    }
    void any(CORBA::Any& any);

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

    /// A member of a union, at random: `access` is its accessor. Whether it was chosen.
    template <typename Member, typename Union, typename Label, typename Access>
    bool branch(Union& value, Label label, Access access)
    {
        if (random_() % 2 != 0) return false;
        otherwise<Member>(value, label, access);
        return true;
    }
    /// The last of a union's members.
    template <typename Member, typename Union, typename Label, typename Access>
    void otherwise(Union& value, Label label, Access access)
    {
        if constexpr (std::is_array_v<Member>) {
            Member member{};
            visit(*this, member);
            access(value, member);
        } else {
            Member member{};
            visit(*this, member);
            access(value, in_of(member));
        }
        value._d(static_cast<decltype(value._d())>(label));
    }
    /// No member, where some labels have none: the label 0.
    template <typename Union>
    void nothing(Union& value)
    {
        value._default();
        value._d({});
    }

  private:
    template <typename V>
    V* make()
    {
        if constexpr (std::is_same_v<V, All::Base>)
            if (!in_any_ && random_() % 2 == 0) return make<All::Derived>();
        V* value = new_value<V>();
        constexpr bool may_be_cyclic = std::is_same_v<V, All::Node>;
        if (may_be_cyclic) made_.push_back(value);
        members(*this, *value);
        if (!may_be_cyclic) made_.push_back(value);
        return value;
    }
    template <typename V>
    V* earlier()
    {
        std::vector<V*> candidates;
        for (CORBA::ValueBase* value : made_)
            if (V* const candidate = V::_downcast(value)) candidates.push_back(candidate);
        return candidates.empty() ? nullptr : candidates[random_() % candidates.size()];
    }

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
    /// Any character of the first plane but the surrogates, which Java's wchar cannot hold alone.
    CORBA::WChar wide()
    {
        const auto code = static_cast<CORBA::WChar>(1 + random_() % 0xfffd);
        return code >= 0xd800 && code < 0xe000 ? L'\x3b1' : code;
    }

    const Pool& pool_;
    std::mt19937 random_;
    bool in_any_;
    int depth_ = 0;
    std::vector<CORBA::ValueBase*> made_; // what is filled owns them
};

// --- describing ----------------------------------------------------------------------------------

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
    template <Decimal T>
    void decimal(const T& number)
    {
        const CORBA::String_var digits = number.to_string();
        std::string text = digits.in();
        if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) text.pop_back();
        text_ << text << ' ';
    }
    template <typename T>
    void text(const T& text, unsigned)
    {
        text_ << '"' << static_cast<const char*>(text) << "\" ";
    }
    template <typename T>
    void wide_text(const T& text, unsigned)
    {
        text_ << 'L' << '"';
        for (const CORBA::WChar* c = text; *c != 0; ++c)
            text_ << static_cast<long>(*c) << ' ';
        text_ << "\" ";
    }
    template <typename T>
    void type(const T& type)
    {
        CORBA::TypeCode_ptr given = type;
        for (std::size_t i = 0; i < pool_.types.size(); ++i)
            if (!CORBA::is_nil(pool_.types[i].in()) && pool_.types[i]->equal(given)) {
                text_ << "type " << i << ' ';
                return;
            }
        text_ << "unknown type ";
    }
    template <typename T>
    void reference(const T& reference)
    {
        CORBA::Object_ptr object = reference;
        if (CORBA::is_nil(object)) {
            text_ << "nil ";
            return;
        }
        for (std::size_t i = 1; i < pool_.objects.size(); ++i)
            if (pool_.objects[i]->_is_equivalent(object)) {
                text_ << "object " << i << ' ';
                return;
            }
        text_ << "unknown object ";
    }
    template <typename T>
    void valuetype(const T& place)
    {
        ValuetypeOf<T>* const value = place;
        if (value == nullptr) {
            text_ << "null ";
            return;
        }
        const auto before = std::ranges::find(seen_, static_cast<CORBA::ValueBase*>(value));
        text_ << "value " << before - seen_.begin() << ' ';
        if (before != seen_.end()) return;
        seen_.push_back(value);
        text_ << '{';
        if constexpr (std::is_same_v<ValuetypeOf<T>, All::Base>) {
            if (All::Derived* const derived = All::Derived::_downcast(value))
                members(*this, *derived);
            else
                members(*this, *value);
        } else {
            members(*this, *value);
        }
        text_ << '}';
    }
    template <typename T>
    void abstract(const T& place)
    {
        All::Titled_ptr titled = place;
        if (CORBA::is_nil(titled)) {
            text_ << "nil ";
            return;
        }
        const CORBA::Object_var object = titled->_to_object();
        const CORBA::ValueBase_var value = titled->_to_value();
        if (value.in() != nullptr)
            valuetype(All::Card::_downcast(value.in()));
        else
            reference(object.in());
    }
    template <typename Member, typename V, typename Access>
    void state(V& value, Access access)
    {
        visit(*this, access(value));
    }
    void any(const CORBA::Any& any);

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

    template <typename Member, typename Union, typename Label, typename Access>
    bool branch(Union& value, Label label, Access access)
    {
        if (value._d() != static_cast<decltype(value._d())>(label)) return false;
        otherwise<Member>(value, label, access);
        return true;
    }
    template <typename Member, typename Union, typename Label, typename Access>
    void otherwise(Union& value, Label, Access access)
    {
        text_ << "case " << static_cast<long long>(value._d()) << ": ";
        if constexpr (std::is_array_v<Member>)
            visit(*this, *reinterpret_cast<const Member*>(access(value)));
        else
            visit(*this, access(value));
    }
    template <typename Union>
    void nothing(Union& value)
    {
        text_ << "case " << static_cast<long long>(value._d()) << ' ';
    }

    [[nodiscard]] std::string text() const { return text_.str(); }

  private:
    const Pool& pool_;
    std::ostringstream text_;
    std::vector<CORBA::ValueBase*> seen_;
};

// --- what is in what -----------------------------------------------------------------------------

template <typename V, Is<All::Point> T>
void members(V& v, T& point)
{
    visit(v, point.s);
    visit(v, point.c);
    visit(v, point.l);
    visit(v, point.u);
    visit(v, point.d);
    visit(v, point.o);
}
template <typename V, Is<All::Priced> T>
void members(V& v, T& priced)
{
    visit(v, priced.price);
    visit(v, priced.o);
    visit(v, priced.amount);
    visit(v, priced.number);
    visit(v, priced.part);
}
template <typename V, Is<All::Tree> T>
void members(V& v, T& tree)
{
    visit(v, tree.called);
    visit(v, tree.branches);
    visit(v, tree.fruit);
}
template <typename V, Is<All::Person> T>
void members(V& v, T& person)
{
    visit(v, person.called);
    visit(v, person.nickname);
    visit(v, person.motto);
    visit(v, person.initial);
    visit(v, person.wish);
    visit(v, person.wished);
    visit(v, person.choice);
    visit(v, person.answer);
    visit(v, person.tiny);
    visit(v, person.mood);
    visit(v, person.choices, Bounds{2});
    visit(v, person.dreams);
    visit(v, person.where);
    visit(v, person.house);
    visit(v, person.last);
}

// A union: MEMBER(label, type, name) for each label, then the default member or one that needs none
// (LAST), or that there are labels without a member (NONE).
#define ACCESS(name) [](auto& of, auto&&... member) -> decltype(auto) { return of.name(member...); }
#define MEMBER(label, type, name)                                                                  \
    if (v.template branch<type>(value, label, ACCESS(name))) return;
#define LAST(label, type, name) v.template otherwise<type>(value, label, ACCESS(name));
#define NONE v.nothing(value);
#define UNION(U, ...)                                                                              \
    template <typename V, Is<All::U> T>                                                            \
    void members(V& v, T& value)                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
using CORBA::String_var;
using CORBA::WString_var;
// The labels of the default members are those that JacORB knows: it sends no others.
UNION(OnLong, MEMBER(1, All::I32, number) MEMBER(-2147483647, String_var, text)
                  MEMBER(2147483647, String_var, text) MEMBER(0, String_var, text)
                      LAST(2, All::Point, where))
UNION(OnBoolean, MEMBER(true, WString_var, yes) LAST(false, All::F64, no))
UNION(OnChar, MEMBER('a', All::I16, number) MEMBER('z', CORBA::Any, something) NONE)
UNION(OnColor,
      MEMBER(All::green, CORBA::Object_var, where) MEMBER(All::blue, All::I32_s, numbers) NONE)
UNION(OnShort, MEMBER(-32768, All::F32, amount) LAST(0, String_var, text))
UNION(Price, MEMBER(-1, All::Large, amount) LAST(0, String_var, text))
UNION(OnUnsignedShort, MEMBER(32767, All::Byte, small) MEMBER(9, String_var, text) NONE)
UNION(OnUnsignedLong,
      MEMBER(2147483647u, All::Name_s, names) MEMBER(7u, All::I32_2x3, numbers) NONE)
UNION(OnLongLong, MEMBER(-2147483647, All::U64, number) MEMBER(5, String_var, text) NONE)
UNION(OnUnsignedLongLong, MEMBER(2147483647u, All::I64, number) LAST(0u, WString_var, text))
UNION(Small, MEMBER(1u, All::Byte, o) MEMBER(2u, All::F64, d) MEMBER(3u, All::Point, where) NONE)
UNION(Expression, MEMBER(1, All::Expression::_terms_seq, terms) LAST(0, All::F64, number))
UNION(OnValue, MEMBER(1, All::Node_var, link) MEMBER(2, All::PointBox_var, where)
                   LAST(0, All::Titled_var, thing))
#undef UNION
#undef NONE
#undef LAST
#undef MEMBER

template <typename V, Is<All::Holding> T>
void members(V& v, T& holding)
{
    visit(v, holding.before);
    visit(v, holding.value);
    visit(v, holding.between);
    visit(v, holding.words);
    visit(v, holding.thing);
    visit(v, holding.choice);
    visit(v, holding.last);
}

// A valuetype: STATE(type, name) for each member, that of its base first.
#define STATE(type, name) v.template state<type>(value, ACCESS(name));
#define VALUETYPE(T, ...)                                                                          \
    template <typename V>                                                                          \
    void members(V& v, All::T& value)                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
VALUETYPE(Node, STATE(String_var, called) STATE(All::Node_var, left) STATE(All::Node_var, right))
VALUETYPE(Base, STATE(All::Byte, small) STATE(All::I64, number))
VALUETYPE(Derived, members(v, static_cast<All::Base&>(value));
          STATE(String_var, text) STATE(All::Base_var, inner) STATE(All::Byte_s, data)
              STATE(All::Point, where) STATE(CORBA::Any, thing) STATE(All::F64, last))
VALUETYPE(Counter, STATE(All::I32, count))
VALUETYPE(Card, STATE(String_var, title))
VALUETYPE(NumberBox, STATE(All::I32, _value))
VALUETYPE(NameBox, STATE(String_var, _value))
VALUETYPE(ProseBox, STATE(WString_var, _value))
VALUETYPE(PointBox, STATE(All::Point, _value))
VALUETYPE(NamesBox, STATE(All::Name_s, _value))
VALUETYPE(ReferenceBox, STATE(CORBA::Object_var, _value))
#ifndef NO_CUSTOM
VALUETYPE(Route, STATE(String_var, from) STATE(All::I32, stops) STATE(All::Base_var, last))
#endif
#undef VALUETYPE
#undef STATE
#undef ACCESS

template <typename Visitor, typename T>
void visit(Visitor& visitor, T&& value, Bounds bounds)
{
    using Plain = std::remove_reference_t<T>;
    using Bare = std::remove_cv_t<Plain>;
    if constexpr (Number<Bare>)
        visitor.value(value);
    else if constexpr (std::is_array_v<Plain>)
        for (auto& element : value)
            visit(visitor, element, bounds);
    else if constexpr (Decimal<Bare>)
        visitor.decimal(value);
    else if constexpr (Valuetype<Plain>)
        visitor.valuetype(value);
    else if constexpr (Abstract<Plain>)
        visitor.abstract(value);
    else if constexpr (std::is_same_v<Bare, CORBA::Any>)
        visitor.any(value);
    else if constexpr (Text<Plain>)
        visitor.text(value, bounds.text);
    else if constexpr (WideText<Plain>)
        visitor.wide_text(value, bounds.text);
    else if constexpr (Type<Plain>)
        visitor.type(value);
    else if constexpr (Reference<Plain>)
        visitor.reference(value);
    else if constexpr (requires { members(visitor, value); })
        members(visitor, value);
    else {
        visitor.length(value, bounds.length);
        for (CORBA::ULong i = 0; i < value.length(); ++i)
            visit(visitor, value[i], bounds);
        visitor.end(value);
    }
}

template <typename T>
std::string describe(const Pool& pool, const T& value)
{
    Describer describer(pool);
    visit(describer, value);
    return describer.text();
}

} // namespace all
