// SPDX-License-Identifier: Apache-2.0
//
// Values of constant expressions while they are computed, and their conversion to the type that
// wants them, with every check of range that CORBA 3.3 part 1, 7.11.2 asks for. The parser walks
// the expression; this knows the arithmetic.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/fixed.h"
#include "idlc/lex.h"
#include "idlc/model.h"

#include <string>
#include <string_view>
#include <variant>

namespace kairos::idlc {

/// Holds every intermediate integer: operands are within [-2^63, 2^64), checked after each step.
__extension__ using WideInteger = __int128;

/// monostate: an error that has been reported.
using Operand = std::variant<std::monostate, WideInteger, long double, Decimal, bool, char,
                             char32_t, std::string, std::u32string, const Enumerator*>;

class ConstantArithmetic {
  public:
    explicit ConstantArithmetic(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    /// The value of one literal token.
    [[nodiscard]] Operand literal(const Token& token);
    /// Appends an adjacent string literal to `left`; both must be of the same kind.
    [[nodiscard]] Operand concatenate(Operand left, const Token& token);
    /// `-`, `+` or `~`. `wanted` is the type of the whole expression: `~` depends on its width.
    [[nodiscard]] Operand unary(const Token& op, Operand operand, const Type& wanted);
    [[nodiscard]] Operand binary(const Token& op, Operand left, Operand right);
    /// The value as the wanted type holds it; monostate where it does not fit, which is reported.
    [[nodiscard]] Value convert(const Operand& operand, const Type& wanted, Location location);

    /// A constant's value as an operand again.
    [[nodiscard]] static Operand operand(const Value& value);

  private:
    Operand fail(Location location, std::string message);
    [[nodiscard]] Operand integer(const Token& token);
    [[nodiscard]] Operand floating(const Token& token);
    template <typename Text>
    [[nodiscard]] bool decode(const Token& token, bool wide, Text& out);
    [[nodiscard]] Operand binary_integer(const Token& op, WideInteger left, WideInteger right);
    [[nodiscard]] Operand binary_floating(const Token& op, long double left, long double right);
    [[nodiscard]] Operand binary_fixed(const Token& op, const Decimal& left, const Decimal& right);
    [[nodiscard]] Value convert_integer(const Operand& operand, const Type& wanted,
                                        Location location);
    [[nodiscard]] Value convert_floating(const Operand& operand, const Type& wanted,
                                         Location location);
    [[nodiscard]] Value convert_fixed(const Operand& operand, const Type& wanted,
                                      Location location);
    [[nodiscard]] Value mismatch(const Operand& operand, const Type& wanted, Location location);

    Diagnostics& diagnostics_;
};

/// Whether a constant, a union's discriminator or a label may have this (resolved) type.
[[nodiscard]] bool is_integer(TypeKind kind) noexcept;
[[nodiscard]] bool is_floating(TypeKind kind) noexcept;

} // namespace kairos::idlc
