// SPDX-License-Identifier: Apache-2.0
//
// Random constraints as trees, random values, and what the former say of the latter by a slow,
// plain walk over the tree: nothing in it is shared with what is tested. One thread.
#pragma once

#include "kairos/constraints/constraints_testing.h"
#include "kairos/types/types_testing.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace testing_constraints {

using Whole = __int128;
struct Colour {
    std::uint32_t place;
};
using Numbers = std::vector<CORBA::Long>;
using Plain = std::variant<bool, Whole, double, std::string, Colour, Numbers>;
/// What constraints ask of: values by name.
using Values = std::map<std::string, Plain>;

inline constexpr std::array<const char*, 3> colour_names{"red", "green", "blue"};
inline constexpr std::array<const char*, 7> value_names{"a", "b", "c", "d", "e", "f", "none"};

// --- Values -------------------------------------------------------------------------------------

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
    [[nodiscard]] bool one_in(std::size_t end) { return below(end) == 0; }

  private:
    std::mt19937_64 random_;
};

[[nodiscard]] inline Plain random_plain(Dice& dice)
{
    switch (dice.below(9)) {
    case 0:
        return dice.one_in(2);
    case 1:
        return Whole{INT64_MAX} + static_cast<std::int64_t>(dice.below(3)); // beyond long long
    case 2:
        return -Whole{INT64_MAX} - 1;
    case 3:
        return static_cast<double>(dice.below(9)) / 2;
    case 4:
        return std::string(dice.below(3), 'x') + std::string(dice.below(2), 'y');
    case 5:
        return Colour{static_cast<std::uint32_t>(dice.below(3))};
    case 6: {
        Numbers numbers(dice.below(4));
        for (CORBA::Long& number : numbers)
            number = static_cast<CORBA::Long>(dice.below(4));
        return numbers;
    }
    default:
        return Whole{static_cast<std::int64_t>(dice.below(7))} - 3;
    }
}

[[nodiscard]] inline Values random_values(Dice& dice)
{
    Values values;
    for (const char* name : value_names)
        if (std::string_view(name) != "none" && !dice.one_in(8)) values[name] = random_plain(dice);
    return values;
}

/// Integers as some type that has room for them.
[[nodiscard]] inline CORBA::Any any_of_whole(Whole value, Dice& dice)
{
    if (value > INT64_MAX) return any_of(static_cast<CORBA::ULongLong>(value));
    if (value < INT32_MIN || value > INT32_MAX) return any_of(static_cast<CORBA::LongLong>(value));
    if (value >= 0 && dice.one_in(3)) {
        CORBA::Any any;
        any <<= CORBA::Any::from_octet(static_cast<CORBA::Octet>(value)); // they are small
        return any;
    }
    if (value >= 0 && dice.one_in(2)) return any_of(static_cast<CORBA::UShort>(value));
    if (dice.one_in(2)) return any_of(static_cast<CORBA::Short>(value));
    return any_of(static_cast<CORBA::Long>(value));
}

[[nodiscard]] inline CORBA::Any any_of_plain(const Plain& plain, Dice& dice)
{
    CORBA::Any any;
    if (const bool* truth = std::get_if<bool>(&plain)) {
        any <<= CORBA::Any::from_boolean(*truth);
    } else if (const Whole* whole = std::get_if<Whole>(&plain)) {
        any = any_of_whole(*whole, dice);
    } else if (const double* real = std::get_if<double>(&plain)) {
        any = dice.one_in(2) ? any_of(*real) : any_of(static_cast<CORBA::Float>(*real));
    } else if (const auto* text = std::get_if<std::string>(&plain)) {
        any <<= text->c_str();
        if (text->size() == 1 && dice.one_in(2)) any <<= CORBA::Any::from_char(text->front());
    } else if (const Colour* colour = std::get_if<Colour>(&plain)) {
        any <<= static_cast<testing_types::Color>(colour->place);
    } else {
        testing_types::Numbers numbers;
        numbers.length(static_cast<CORBA::ULong>(std::get<Numbers>(plain).size()));
        for (CORBA::ULong i = 0; i < numbers.length(); ++i)
            numbers[i] = std::get<Numbers>(plain)[i];
        any <<= numbers;
    }
    return dice.one_in(2) ? any : received(any);
}

/// A structured event that has them in its header and its data.
[[nodiscard]] inline Event event_of(const Values& values, Dice& dice)
{
    Event event;
    for (const auto& [name, plain] : values) {
        Properties& properties = dice.one_in(3) ? event.variable_header : event.filterable_data;
        properties.emplace_back(name, any_of_plain(plain, dice));
    }
    return event;
}

/// A list of names and values as a channel may hold it.
class HeldProperties : public Structure {
  public:
    explicit HeldProperties(const Properties& properties) : properties_(properties) {}
    [[nodiscard]] std::optional<std::size_t> length() const override { return properties_.size(); }
    [[nodiscard]] Term named(std::string_view name) const override
    {
        for (const auto& [each, value] : properties_)
            if (each == name) return Term(value);
        return {};
    }

  private:
    const Properties& properties_;
};

/// A structured event as a channel may hold it: it is its own header and fixed header.
class HeldEvent : public Subject, public Structure {
  public:
    /// Borrows the event.
    explicit HeldEvent(const Event& event)
        : event_(event), header_(event.variable_header), data_(event.filterable_data)
    {
    }
    [[nodiscard]] Term event() const override { return Term(static_cast<const Structure&>(*this)); }
    [[nodiscard]] Term member(std::string_view name) const override
    {
        if (name == "header" || name == "fixed_header" || name == "event_type") return event();
        if (name == "variable_header") return Term(header_);
        if (name == "filterable_data") return Term(data_);
        if (name == "domain_name") return Term(std::string_view(event_.domain_name));
        if (name == "type_name") return Term(std::string_view(event_.type_name));
        if (name == "event_name") return Term(std::string_view(event_.event_name));
        return {};
    }

  private:
    const Event& event_;
    const HeldProperties header_;
    const HeldProperties data_;
};

/// An offer that has them as properties.
class OfferOf : public Subject {
  public:
    OfferOf(const Values& values, Dice& dice)
    {
        for (const auto& [name, plain] : values)
            properties_[name] = any_of_plain(plain, dice);
    }
    [[nodiscard]] Term find(std::string_view name) const override
    {
        const auto found = properties_.find(name);
        return found == properties_.end() ? Term() : Term(found->second);
    }

  private:
    std::map<std::string, CORBA::Any, std::less<>> properties_;
};

// --- Trees --------------------------------------------------------------------------------------

struct Tree {
    enum class Kind : std::uint8_t {
        literal,
        colour, ///< an enumerator's name
        component,
        exist,
        in,
        negate,
        no, ///< not
        binary,
    };
    Kind kind = Kind::literal;
    Plain value{};
    std::string text{}; ///< of a component or enumerator its name; of a binary its operator
    std::unique_ptr<Tree> left{};
    std::unique_ptr<Tree> right{};
};
using TreePtr = std::unique_ptr<Tree>;

class Grower {
  public:
    Grower(Dice& dice, Language language) : dice_(dice), language_(language) {}

    [[nodiscard]] TreePtr truth(int depth)
    {
        if (depth == 0 || dice_.one_in(8)) {
            if (dice_.one_in(2)) return component();
            if (dice_.one_in(2)) return leaf(Tree::Kind::exist, random_name());
            return literal(dice_.one_in(2));
        }
        switch (dice_.below(9)) {
        case 0:
        case 1:
            return binary("and", truth(depth - 1), truth(depth - 1));
        case 2:
            return binary("or", truth(depth - 1), truth(depth - 1));
        case 3: {
            TreePtr tree = leaf(Tree::Kind::no, "");
            tree->left = truth(depth - 1);
            return tree;
        }
        case 4: {
            TreePtr tree = leaf(Tree::Kind::in, random_name());
            tree->left = number(depth - 1);
            return tree;
        }
        case 5:
            return binary("~", words(), words());
        case 6:
            return binary(comparison(), words(), words());
        case 7:
            if (language_ == Language::extended)
                return binary(comparison(), component(),
                              leaf(Tree::Kind::colour, colour_names.at(dice_.below(3))));
            return binary("==", truth(depth - 1), truth(depth - 1));
        default:
            return binary(comparison(), number(depth - 1), number(depth - 1));
        }
    }

    /// One that can be filed: a component equals a literal, and more.
    [[nodiscard]] TreePtr with_equality(int depth)
    {
        TreePtr value;
        switch (dice_.below(4)) {
        case 0:
            value = literal(std::string(dice_.below(3), 'x'));
            break;
        case 1:
            value = literal(dice_.one_in(2));
            break;
        case 2:
            value = leaf(Tree::Kind::colour, colour_names.at(dice_.below(3)));
            break;
        default:
            value = number(0);
        }
        TreePtr equality = dice_.one_in(2) ? binary("==", component(), std::move(value))
                                           : binary("==", std::move(value), component());
        if (dice_.one_in(3)) return equality;
        return binary("and", std::move(equality), truth(depth));
    }

  private:
    [[nodiscard]] static TreePtr leaf(Tree::Kind kind, std::string text)
    {
        auto tree = std::make_unique<Tree>();
        tree->kind = kind;
        tree->text = std::move(text);
        return tree;
    }
    template <typename T>
    [[nodiscard]] static TreePtr literal(T value)
    {
        TreePtr tree = leaf(Tree::Kind::literal, "");
        tree->value = std::move(value);
        return tree;
    }
    [[nodiscard]] static TreePtr binary(std::string op, TreePtr left, TreePtr right)
    {
        TreePtr tree = leaf(Tree::Kind::binary, std::move(op));
        tree->left = std::move(left);
        tree->right = std::move(right);
        return tree;
    }
    [[nodiscard]] std::string random_name() { return value_names.at(dice_.below(7)); }
    [[nodiscard]] TreePtr component() { return leaf(Tree::Kind::component, random_name()); }
    [[nodiscard]] std::string comparison()
    {
        constexpr std::array<const char*, 6> all{"==", "!=", "<", "<=", ">", ">="};
        return all.at(dice_.below(6));
    }
    [[nodiscard]] TreePtr words()
    {
        if (dice_.one_in(2)) return component();
        return literal(std::string(dice_.below(3), 'x') + std::string(dice_.below(2), 'y'));
    }
    [[nodiscard]] TreePtr number(int depth)
    {
        if (depth == 0 || dice_.one_in(4)) {
            if (dice_.one_in(2)) return component();
            if (dice_.one_in(3)) return literal(static_cast<double>(dice_.below(9)) / 4);
            if (dice_.one_in(9)) return literal(Whole{UINT64_MAX});
            return literal(Whole{static_cast<std::int64_t>(dice_.below(6))});
        }
        if (dice_.one_in(6)) {
            TreePtr tree = leaf(Tree::Kind::negate, "");
            tree->left = number(depth - 1);
            // A literal without room for its sign is refused.
            if (tree->left->kind == Tree::Kind::literal) tree->left = literal(Whole{3});
            return tree;
        }
        constexpr std::array<const char*, 4> all{"+", "-", "*", "/"};
        std::string op = all.at(dice_.below(4));
        return binary(std::move(op), number(depth - 1), number(depth - 1));
    }

    Dice& dice_;
    const Language language_;
};

// --- As text ------------------------------------------------------------------------------------

/// Writes trees with no more parentheses than they need, and a few more.
class Scribe {
  public:
    Scribe(Dice& dice, Language language) : dice_(dice), language_(language) {}

    [[nodiscard]] std::string write(const Tree& tree, int strength_min = 0)
    {
        std::string text = plainly(tree);
        if (strength(tree) >= strength_min && !dice_.one_in(10)) return text;
        return '(' + text + ')';
    }

  private:
    [[nodiscard]] static int strength(const Tree& tree)
    {
        static const std::map<std::string, int, std::less<>> of_operators{
            {"or", 1}, {"and", 2}, {"==", 3}, {"!=", 3}, {"<", 3}, {"<=", 3}, {">", 3},
            {">=", 3}, {"~", 5},   {"+", 6},  {"-", 6},  {"*", 7}, {"/", 7}};
        switch (tree.kind) {
        case Tree::Kind::binary:
            return of_operators.at(tree.text);
        case Tree::Kind::in:
            return 4;
        case Tree::Kind::no:
            return 8;
        case Tree::Kind::negate:
            return 9;
        default:
            return 10;
        }
    }
    [[nodiscard]] std::string blank() { return dice_.one_in(4) ? "\n\t " : " "; }
    [[nodiscard]] std::string name(const std::string& text)
    {
        if (language_ == Language::trader) return dice_.one_in(5) ? '\\' + text : text;
        return '$' + text;
    }
    [[nodiscard]] static std::string literal(const Plain& value)
    {
        if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "TRUE" : "FALSE";
        if (const Whole* whole = std::get_if<Whole>(&value))
            return std::to_string(static_cast<std::uint64_t>(*whole)); // none is negative
        if (const double* real = std::get_if<double>(&value)) return std::to_string(*real);
        return '\'' + std::get<std::string>(value) + '\'';
    }
    [[nodiscard]] std::string plainly(const Tree& tree)
    {
        switch (tree.kind) {
        case Tree::Kind::literal:
            return literal(tree.value);
        case Tree::Kind::colour:
            return tree.text;
        case Tree::Kind::component:
            return name(tree.text);
        case Tree::Kind::exist:
            return "exist" + blank() + name(tree.text);
        case Tree::Kind::in:
            return write(*tree.left, 5) + blank() + "in" + blank() + name(tree.text);
        case Tree::Kind::negate:
            return '-' + blank() + write(*tree.left, 10);
        case Tree::Kind::no:
            return "not" + blank() + write(*tree.left, 9);
        case Tree::Kind::binary:
            break;
        }
        const int own = strength(tree);
        const bool chains = own != 3 && own != 5;
        return write(*tree.left, chains ? own : own + 1) + blank() + tree.text + blank() +
               write(*tree.right, own + 1);
    }

    Dice& dice_;
    const Language language_;
};

// --- What is true -------------------------------------------------------------------------------

/// Thrown where a constraint has no value.
struct NoValue {
    Fault fault;
};

class Judge {
  public:
    explicit Judge(const Values& values) : values_(values) {}

    [[nodiscard]] Answer judge(const Tree& tree)
    {
        try {
            return {.matches = truth(tree)};
        } catch (const NoValue& none) {
            return {.fault = none.fault};
        }
    }

  private:
    [[nodiscard]] bool truth(const Tree& tree)
    {
        const Plain value = evaluate(tree);
        if (!std::holds_alternative<bool>(value)) throw NoValue{Fault::mismatch};
        return std::get<bool>(value);
    }
    [[nodiscard]] const Plain& lookup(const std::string& name)
    {
        const auto found = values_.find(name);
        if (found == values_.end()) throw NoValue{Fault::missing};
        return found->second;
    }
    [[nodiscard]] static bool is_number(const Plain& value)
    {
        return std::holds_alternative<bool>(value) || std::holds_alternative<Whole>(value) ||
               std::holds_alternative<double>(value);
    }
    [[nodiscard]] static Whole whole(const Plain& value)
    {
        if (const Colour* colour = std::get_if<Colour>(&value)) return colour->place;
        if (const bool* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
        return std::get<Whole>(value);
    }
    [[nodiscard]] static double real(const Plain& value)
    {
        const double* number = std::get_if<double>(&value);
        return number != nullptr ? *number : static_cast<double>(whole(value));
    }
    [[nodiscard]] static Plain bounded(Whole value)
    {
        if (value < INT64_MIN || value > Whole{UINT64_MAX}) throw NoValue{Fault::arithmetic};
        return value;
    }
    [[nodiscard]] static Plain compute(char op, const Plain& a, const Plain& b)
    {
        if (!is_number(a) || !is_number(b)) throw NoValue{Fault::mismatch};
        if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b)) {
            const double x = real(a);
            const double y = real(b);
            if (op == '/' && y == 0) throw NoValue{Fault::arithmetic};
            return op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
        }
        const Whole x = whole(a);
        const Whole y = whole(b);
        if (op == '+') return bounded(x + y);
        if (op == '-') return bounded(x - y);
        if (op == '/') {
            if (y == 0) throw NoValue{Fault::arithmetic};
            return bounded(x / y);
        }
        // Where even 128 bits are too few, a double is exact enough to say so.
        const double about = static_cast<double>(x) * static_cast<double>(y);
        if (about > 1e20 || about < -1e20) throw NoValue{Fault::arithmetic};
        return bounded(x * y);
    }

    /// An enumerator's place by its name.
    [[nodiscard]] static Plain as_place(const std::string& name)
    {
        for (std::size_t i = 0; i < colour_names.size(); ++i)
            if (name == colour_names.at(i)) return Whole{static_cast<std::int64_t>(i)};
        throw NoValue{Fault::mismatch};
    }
    [[nodiscard]] static bool compare(const std::string& op, Plain a, Plain b)
    {
        if (std::holds_alternative<Numbers>(a) || std::holds_alternative<Numbers>(b))
            throw NoValue{Fault::mismatch};
        const auto* x = std::get_if<std::string>(&a);
        const auto* y = std::get_if<std::string>(&b);
        if (x != nullptr && y != nullptr) return holds(op, *x, *y);
        if (x != nullptr && std::holds_alternative<Colour>(b)) {
            a = as_place(*x);
            x = nullptr;
        }
        if (y != nullptr && std::holds_alternative<Colour>(a)) {
            b = as_place(*y);
            y = nullptr;
        }
        if (x != nullptr || y != nullptr) throw NoValue{Fault::mismatch};
        if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b))
            return holds(op, real(a), real(b));
        return holds(op, whole(a), whole(b));
    }
    template <typename T>
    [[nodiscard]] static bool holds(const std::string& op, const T& a, const T& b)
    {
        if (op == "==") return a == b;
        if (op == "!=") return a != b;
        if (op == "<") return a < b;
        if (op == "<=") return a <= b;
        return op == ">" ? a > b : a >= b;
    }

    /// A component's value, as an operand: lists are none.
    [[nodiscard]] Plain component(const Tree& tree)
    {
        const Plain& value = lookup(tree.text);
        if (std::holds_alternative<Numbers>(value)) throw NoValue{Fault::mismatch};
        return value;
    }
    [[nodiscard]] bool is_in(const Tree& tree)
    {
        const Plain element = evaluate(*tree.left);
        const Plain& list = lookup(tree.text);
        if (!std::holds_alternative<Numbers>(list)) throw NoValue{Fault::mismatch};
        for (const CORBA::Long number : std::get<Numbers>(list))
            if (compare("==", element, Whole{number})) return true;
        return false;
    }
    [[nodiscard]] Plain evaluate(const Tree& tree)
    {
        switch (tree.kind) {
        case Tree::Kind::literal:
            return tree.value;
        case Tree::Kind::colour:
            return tree.text;
        case Tree::Kind::component:
            return component(tree);
        case Tree::Kind::exist:
            return values_.contains(tree.text);
        case Tree::Kind::in:
            return is_in(tree);
        case Tree::Kind::negate:
            return negated(evaluate(*tree.left));
        case Tree::Kind::no:
            return !truth(*tree.left);
        case Tree::Kind::binary:
            break;
        }
        if (tree.text == "and") return truth(*tree.left) && truth(*tree.right);
        if (tree.text == "or") return truth(*tree.left) || truth(*tree.right);
        const Plain left = evaluate(*tree.left);
        const Plain right = evaluate(*tree.right);
        if (tree.text == "~") {
            const auto* part = std::get_if<std::string>(&left);
            const auto* text = std::get_if<std::string>(&right);
            if (part == nullptr || text == nullptr) throw NoValue{Fault::mismatch};
            return text->find(*part) != std::string::npos;
        }
        if (std::string_view("+-*/").find(tree.text) != std::string_view::npos)
            return compute(tree.text[0], left, right);
        // An enumerator's name is no string, though it is compared with enumerators as one.
        const bool name =
            tree.right->kind == Tree::Kind::colour || tree.left->kind == Tree::Kind::colour;
        if (name && std::holds_alternative<std::string>(left) &&
            std::holds_alternative<std::string>(right))
            throw NoValue{Fault::mismatch};
        return compare(tree.text, left, right);
    }
    [[nodiscard]] static Plain negated(const Plain& value)
    {
        if (const double* number = std::get_if<double>(&value)) return -*number;
        return compute('-', Whole{0}, value);
    }

    const Values& values_;
};

} // namespace testing_constraints
