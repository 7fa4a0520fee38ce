// SPDX-License-Identifier: Apache-2.0
//
// What constraints are asked of: an event, an offer's properties. The program says how to find what
// a constraint names; nothing is looked for, made or copied before a constraint asks.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/any.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::constraints {

class Structure;

/// What a name or a component is: a value, or nothing. Borrows what it is made of, which must live
/// until its evaluator looks at something else.
class KAIROS_API Term {
  public:
    enum class Form : std::uint8_t {
        missing, ///< there is no such thing
        boolean,
        integer,
        natural, ///< an integer that may be beyond `integer`
        real,
        text,
        any,
        structure,
    };

    Term() noexcept : form_(Form::missing), natural_(0) {}
    explicit Term(std::same_as<bool> auto value) noexcept : form_(Form::boolean), boolean_(value) {}
    template <std::integral T>
        requires(!std::same_as<T, bool> && !std::same_as<T, char>)
    explicit Term(T value) noexcept : form_(std::signed_integral<T> ? Form::integer : Form::natural)
    {
        if constexpr (std::signed_integral<T>) {
            integer_ = value;
        } else {
            natural_ = value;
        }
    }
    explicit Term(std::floating_point auto value) noexcept
        : form_(Form::real), real_(static_cast<double>(value))
    {
    }
    explicit Term(std::string_view text) noexcept : form_(Form::text), text_(text) {}
    explicit Term(const char* text) noexcept : Term(std::string_view(text)) {}
    explicit Term(std::string&& text) = delete; // it would be gone
    explicit Term(const CORBA::Any& any) noexcept : form_(Form::any), any_(&any) {}
    explicit Term(const CORBA::Any&& any) = delete;
    explicit Term(const Structure& structure) noexcept
        : form_(Form::structure), structure_(&structure)
    {
    }
    explicit Term(const Structure&& structure) = delete;

    [[nodiscard]] Form form() const noexcept { return form_; }
    // Each is to be asked only of a term of its form.
    [[nodiscard]] bool boolean() const noexcept { return boolean_; }
    [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }
    [[nodiscard]] std::uint64_t natural() const noexcept { return natural_; }
    [[nodiscard]] double real() const noexcept { return real_; }
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] const CORBA::Any& any() const noexcept { return *any_; }
    [[nodiscard]] const Structure& structure() const noexcept { return *structure_; }

  private:
    Form form_;
    union {
        bool boolean_;
        std::int64_t integer_;
        std::uint64_t natural_;
        double real_;
        std::string_view text_;
        const CORBA::Any* any_;
        const Structure* structure_;
    };
};

/// A constructed value that the program holds in its own way: what is asked of it is answered by
/// the program, so it need not become an Any first. What is not overridden is missing.
class KAIROS_API Structure {
  public:
    Structure() = default;
    Structure(const Structure&) = delete;
    Structure& operator=(const Structure&) = delete;
    virtual ~Structure() = default;

    /// Returns the member of this name: `.name`.
    [[nodiscard]] virtual Term member(std::string_view name) const;
    /// Returns the member at this position, from 0: `.2`.
    [[nodiscard]] virtual Term member_at(std::size_t position) const;
    /// Returns how many elements there are, where it is a sequence: `._length`, `in`.
    [[nodiscard]] virtual std::optional<std::size_t> length() const;
    /// Returns the element at this index, which is below length(): `[2]`, `in`.
    [[nodiscard]] virtual Term element(std::size_t index) const;
    /// Returns the value of this name, where it is a list of names and values: `(name)`.
    [[nodiscard]] virtual Term named(std::string_view name) const;
    /// Returns the IDL name of the type, without a scope: `._type_id`. Empty: there is none.
    [[nodiscard]] virtual std::string_view type_name() const;
    /// Returns the repository id of the type: `._repos_id`. Empty: there is none.
    [[nodiscard]] virtual std::string_view repository_id() const;
};

/// An event or an offer. Asked by the thread that evaluates; what it throws ends the evaluation and
/// goes to the caller.
class KAIROS_API Subject {
  public:
    Subject() = default;
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;
    virtual ~Subject() = default;

    /// Returns the property of this name, in the trader's language; in the extended one what
    /// `$name` stands for wherever that is not looked for in the event, as `$curtime`.
    [[nodiscard]] virtual Term find(std::string_view name) const;
    /// Returns what `$` stands for: the event.
    [[nodiscard]] virtual Term event() const;
};

/// An event that is an Any.
class KAIROS_API AnyEvent : public Subject {
  public:
    /// Borrows the Any.
    explicit AnyEvent(const CORBA::Any& event) noexcept : event_(event) {}
    explicit AnyEvent(const CORBA::Any&& event) = delete;
    [[nodiscard]] Term event() const override { return Term(event_); }

  private:
    const CORBA::Any& event_;
};

} // namespace kairos::constraints
