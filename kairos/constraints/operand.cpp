// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/operand.h"

#include <cmath>
#include <limits>

namespace kairos::constraints {
namespace {

using Kind = Operand::Kind;

constexpr Integer integer_min = std::numeric_limits<std::int64_t>::min();
constexpr Integer integer_max = std::numeric_limits<std::uint64_t>::max();

/// Booleans and enumerators count as integers where a number is wanted.
bool is_integral(const Operand& operand) noexcept
{
    return operand.kind == Kind::boolean || operand.kind == Kind::integer ||
           operand.kind == Kind::enumerator;
}

Integer integral(const Operand& operand) noexcept
{
    return operand.kind == Kind::boolean ? Integer{operand.boolean} : operand.integer;
}

bool is_number(const Operand& operand) noexcept
{
    return operand.kind == Kind::boolean || operand.kind == Kind::integer ||
           operand.kind == Kind::real;
}

double real_of(const Operand& operand) noexcept
{
    return operand.kind == Kind::real ? operand.real : static_cast<double>(integral(operand));
}

Fault compute_integers(Arithmetic operation, Operand& left, Integer a, Integer b) noexcept
{
    Integer result = 0; // of two numbers of 65 bits: nothing is lost
    switch (operation) {
    case Arithmetic::add:
        result = a + b;
        break;
    case Arithmetic::subtract:
        result = a - b;
        break;
    case Arithmetic::multiply:
        if (__builtin_mul_overflow(a, b, &result)) return Fault::arithmetic;
        break;
    case Arithmetic::divide:
        if (b == 0) return Fault::arithmetic;
        result = a / b;
        break;
    }
    if (result < integer_min || result > integer_max) return Fault::arithmetic;
    left = Operand::of(result);
    return Fault::none;
}

Fault compute_reals(Arithmetic operation, Operand& left, double a, double b) noexcept
{
    double result = 0;
    switch (operation) {
    case Arithmetic::add:
        result = a + b;
        break;
    case Arithmetic::subtract:
        result = a - b;
        break;
    case Arithmetic::multiply:
        result = a * b;
        break;
    case Arithmetic::divide:
        if (b == 0) return Fault::arithmetic;
        result = a / b;
        break;
    }
    left = Operand::of(result);
    return Fault::none;
}

/// The place in an enum of the enumerator that a literal names; -1 for none.
Integer place_of(std::string_view name, const types::TypeCodeData& type) noexcept
{
    for (CORBA::ULong i = 0; i < type.count; ++i)
        if (name == type.members[i].name) return Integer{i};
    return -1;
}

Fault compare_with_name(const Operand& enumerator, const Operand& name,
                        std::partial_ordering& order) noexcept
{
    const Integer place = place_of(name.text(), *enumerator.type);
    if (place < 0) return Fault::mismatch;
    order = enumerator.integer <=> place;
    return Fault::none;
}

} // namespace

std::string_view Operand::enumerator_name() const noexcept
{
    const auto place = static_cast<std::uint64_t>(integer);
    return place < type->count ? std::string_view(type->members[place].name) : std::string_view();
}

Fault compute(Arithmetic operation, Operand& left, const Operand& right) noexcept
{
    if (!is_number(left) || !is_number(right)) return Fault::mismatch;
    if (is_integral(left) && is_integral(right))
        return compute_integers(operation, left, integral(left), integral(right));
    return compute_reals(operation, left, real_of(left), real_of(right));
}

Fault negate(Operand& operand) noexcept
{
    if (operand.kind == Kind::real) {
        operand.real = -operand.real;
        return Fault::none;
    }
    Operand zero = Operand::of(Integer{0});
    const Fault fault = compute(Arithmetic::subtract, zero, operand);
    operand = zero;
    return fault;
}

Fault compare(const Operand& left, const Operand& right, std::partial_ordering& order) noexcept
{
    if (is_integral(left) && is_integral(right)) {
        order = integral(left) <=> integral(right);
        return Fault::none;
    }
    const bool left_text = left.kind == Kind::text || left.kind == Kind::name;
    const bool right_text = right.kind == Kind::text || right.kind == Kind::name;
    if (left_text && right_text) {
        if (left.kind != right.kind) return Fault::mismatch;
        order = left.text() <=> right.text();
        return Fault::none;
    }
    if (left.kind == Kind::enumerator && right_text) return compare_with_name(left, right, order);
    if (left_text && right.kind == Kind::enumerator) {
        const Fault fault = compare_with_name(right, left, order);
        order = 0 <=> order;
        return fault;
    }
    if (left_text || right_text) return Fault::mismatch;
    order = real_of(left) <=> real_of(right);
    return Fault::none;
}

} // namespace kairos::constraints
