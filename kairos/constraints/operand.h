// SPDX-License-Identifier: Apache-2.0
//
// Simple values as evaluation has them, and what operators make of two: the one place for the rules
// of conversion (CosNotification 1.1, 2.4.3: those of C). Private to this module. Immutable or on
// one thread's stack.
#pragma once

#include "kairos/constraints/evaluator.h"
#include "kairos/types/typecode_data.h"

#include <compare>
#include <string_view>

namespace kairos::constraints {

/// Holds every long long and every unsigned long long, and sums and products of them.
using Integer = __int128;

/// Trivial: an evaluation has an array of them that is written before it is read.
struct Operand {
    enum class Kind : std::uint8_t {
        boolean,
        integer,
        real,
        text,       ///< a string or a char
        enumerator, ///< a value of an enum: `integer` is its place in `type`
        name,       ///< a literal: an enumerator's, of whatever type the other operand has
    };

    Kind kind;
    union {
        bool boolean;
        Integer integer;
        double real;
        struct {
            const char* data;
            std::size_t size;
        } characters; ///< of text and name
    };
    const types::TypeCodeData* type; ///< of an enumerator

    [[nodiscard]] static Operand of(bool value) noexcept
    {
        Operand operand; // NOLINT(cppcoreguidelines-pro-type-member-init)
        operand.kind = Kind::boolean;
        operand.boolean = value;
        return operand;
    }
    [[nodiscard]] static Operand of(Integer value) noexcept
    {
        Operand operand; // NOLINT(cppcoreguidelines-pro-type-member-init)
        operand.kind = Kind::integer;
        operand.integer = value;
        return operand;
    }
    [[nodiscard]] static Operand of(double value) noexcept
    {
        Operand operand; // NOLINT(cppcoreguidelines-pro-type-member-init)
        operand.kind = Kind::real;
        operand.real = value;
        return operand;
    }
    [[nodiscard]] static Operand of(std::string_view text, Kind kind = Kind::text) noexcept
    {
        Operand operand; // NOLINT(cppcoreguidelines-pro-type-member-init)
        operand.kind = kind;
        operand.characters = {text.data(), text.size()};
        return operand;
    }
    [[nodiscard]] static Operand of(const types::TypeCodeData& type, std::uint32_t place) noexcept
    {
        Operand operand = of(Integer{place});
        operand.kind = Kind::enumerator;
        operand.type = &type;
        return operand;
    }

    [[nodiscard]] std::string_view text() const noexcept
    {
        return {characters.data, characters.size};
    }
    /// The name of an enumerator; empty where its type has none there.
    [[nodiscard]] std::string_view enumerator_name() const noexcept;
};

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide };

/// Computes `left` (operation) `right` into `left`. Numbers, and booleans as 0 and 1.
[[nodiscard]] Fault compute(Arithmetic operation, Operand& left, const Operand& right) noexcept;
/// Changes the sign.
[[nodiscard]] Fault negate(Operand& operand) noexcept;
/// Says how two operands stand to each other; `unordered` where one is no number at all (NaN).
[[nodiscard]] Fault compare(const Operand& left, const Operand& right,
                            std::partial_ordering& order) noexcept;

} // namespace kairos::constraints
