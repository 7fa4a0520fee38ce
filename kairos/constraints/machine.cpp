// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/machine.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kairos::constraints {
namespace {

using Kind = Operand::Kind;

constexpr std::size_t buffer_kept_max = std::size_t{1} << 20;

bool holds(Op op, std::partial_ordering order) noexcept
{
    switch (op) {
    case Op::equal:
        return order == 0;
    case Op::unequal:
        return order != 0;
    case Op::less:
        return order < 0;
    case Op::less_equal:
        return order <= 0;
    case Op::greater:
        return order > 0;
    default:
        return order >= 0;
    }
}

Fault need_boolean(const Operand& operand) noexcept
{
    return operand.kind == Kind::boolean ? Fault::none : Fault::mismatch;
}

Fault need_number(const Operand& operand) noexcept
{
    return operand.kind == Kind::integer || operand.kind == Kind::real ||
                   operand.kind == Kind::boolean
               ? Fault::none
               : Fault::mismatch;
}

Arithmetic arithmetic_of(Op op) noexcept
{
    switch (op) {
    case Op::add:
        return Arithmetic::add;
    case Op::subtract:
        return Arithmetic::subtract;
    case Op::multiply:
        return Arithmetic::multiply;
    default:
        return Arithmetic::divide;
    }
}

} // namespace

void Machine::look_at(const Subject& subject) noexcept
{
    subject_ = &subject;
    // Their buffers stay for the next, but for those that one large value needed.
    for (std::size_t i = 0; i < encoded_count_; ++i)
        if (encoded_[i].buffer.capacity() > buffer_kept_max) encoded_[i].buffer.clear();
    encoded_count_ = 0;
}

void Machine::begin() noexcept
{
    work_left_ = work_max_;
    types_.clear();
}

Answer Machine::evaluate(const Program& program)
{
    Answer answer;
    if (subject_ == nullptr) return answer;
    if (program.code.empty()) return {.matches = true};
    Operand result; // NOLINT(cppcoreguidelines-pro-type-member-init)
    answer.fault = value(program, result, answer.offset);
    answer.matches = answer.fault == Fault::none && result.boolean;
    return answer;
}

Fault Machine::value(const Program& program, Operand& result, std::uint32_t& offset)
{
    std::array<Operand, Program::operands_max> stack; // NOLINT(*-member-init): written before read
    std::size_t top = 0;
    begin();
    const Fault fault = run(program, stack.data(), top, offset);
    if (fault == Fault::none) result = stack[0];
    return fault;
}

Fault Machine::load_alone(const Path& path, Operand& result)
{
    begin();
    return load(path, result);
}

Fault Machine::run(const Program& program, Operand* stack, std::size_t& top, std::uint32_t& offset)
{
    for (std::size_t next = 0; next < program.code.size();) {
        const Instruction& instruction = program.code[next++];
        offset = instruction.offset;
        if (!work(1)) return Fault::limit;
        const Fault fault = execute(program, instruction, stack, top, next);
        if (fault != Fault::none) return fault;
    }
    return Fault::none;
}

/// `top` is the number of operands; the parser has made sure of those that an operator needs.
Fault Machine::execute(const Program& program, const Instruction& instruction, Operand* stack,
                       std::size_t& top, std::size_t& next)
{
    const auto is = [&](Fault fault, bool value) {
        stack[top++] = Operand::of(value);
        return fault;
    };
    Operand* const last = stack + top - 1; // if there is one
    bool result = false;
    switch (instruction.op) {
    case Op::constant:
        stack[top++] = program.constants[instruction.operand];
        return Fault::none;
    case Op::load:
        return load(program.paths[instruction.operand], stack[top++]);
    case Op::exist: {
        const Fault fault = exists(program.paths[instruction.operand], result);
        return is(fault, result);
    }
    case Op::is_default: {
        const Fault fault = is_default(program.paths[instruction.operand], result);
        return is(fault, result);
    }
    case Op::in: {
        const Fault fault = is_in(*last, program.paths[instruction.operand], result);
        --top;
        return is(fault, result);
    }
    case Op::negate:
        return negate(*last);
    case Op::number:
        return need_number(*last);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
        --top;
        return compute(arithmetic_of(instruction.op), last[-1], *last);
    case Op::contained:
        return contained(stack, top);
    case Op::not_:
        if (last->kind != Kind::boolean) return Fault::mismatch;
        last->boolean = !last->boolean;
        return Fault::none;
    case Op::and_:
    case Op::or_:
        if (last->kind != Kind::boolean) return Fault::mismatch;
        if (last->boolean == (instruction.op == Op::or_)) {
            next = instruction.operand;
        } else {
            --top;
        }
        return Fault::none;
    case Op::boolean:
        return need_boolean(*last);
    default:
        return compare_top(instruction.op, stack, top);
    }
}

Fault Machine::compare_top(Op op, Operand* stack, std::size_t& top)
{
    const Operand& right = stack[--top];
    Operand& left = stack[top - 1];
    if (left.kind == Kind::text && right.kind == Kind::text &&
        !work(steps_of(std::min(left.characters.size, right.characters.size))))
        return Fault::limit;
    if (left.kind == Kind::enumerator && right.kind != left.kind && !work(left.type->count / 16))
        return Fault::limit;
    if (right.kind == Kind::enumerator && right.kind != left.kind && !work(right.type->count / 16))
        return Fault::limit;
    std::partial_ordering order = std::partial_ordering::unordered;
    const Fault fault = compare(left, right, order);
    left = Operand::of(holds(op, order));
    return fault;
}

Fault Machine::contained(Operand* stack, std::size_t& top)
{
    const Operand& right = stack[--top];
    Operand& left = stack[top - 1];
    if (left.kind != Kind::text || right.kind != Kind::text) return Fault::mismatch;
    const std::string_view part = left.text();
    const std::string_view whole = right.text();
    // Not find(), which takes as long as both lengths multiplied; memmem does so for short parts.
    const std::size_t multiplied = std::min<std::size_t>(part.size(), 256);
    if (!work(steps_of(part.size()) + steps_of(whole.size()) * steps_of(multiplied)))
        return Fault::limit;
    left = Operand::of(part.empty() ||
                       memmem(whole.data(), whole.size(), part.data(), part.size()) != nullptr);
    return Fault::none;
}

Fault Machine::load(const Path& path, Operand& result)
{
    Place place;
    const Fault fault = find(path, place);
    return fault == Fault::none ? read(place, result) : fault;
}

Fault Machine::exists(const Path& path, bool& found)
{
    Place place;
    const Fault fault = find(path, place);
    found = fault == Fault::none;
    return fault == Fault::limit ? fault : Fault::none;
}

Fault Machine::is_default(const Path& path, bool& result)
{
    Place place;
    if (const Fault fault = find(path, place); fault != Fault::none) return fault;
    if (place.form != Place::Form::cdr || place.type->kind != CORBA::tk_union)
        return Fault::mismatch;
    const types::TypeCodeData& type = *place.type;
    std::uint32_t active = 0;
    if (const Fault fault = read_union(place, active); fault != Fault::none) return fault;
    result = active == type.count || types::is_default_member(type, active);
    return Fault::none;
}

Fault Machine::is_in(const Operand& element, const Path& path, bool& result)
{
    Place place;
    if (const Fault fault = find(path, place); fault != Fault::none) return fault;
    switch (place.form) {
    case Place::Form::structure:
        return is_in_structure(element, *place.structure, result);
    case Place::Form::cdr:
        return is_in_cdr(element, place, result);
    default:
        return Fault::mismatch;
    }
}

Fault Machine::is_equal(const Operand& element, Place& place, bool& result)
{
    Operand other; // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (const Fault fault = read(place, other); fault != Fault::none) return fault;
    if (other.kind == Kind::text && !work(steps_of(other.characters.size))) return Fault::limit;
    std::partial_ordering order = std::partial_ordering::unordered;
    const Fault fault = compare(element, other, order);
    result = order == 0;
    return fault;
}

Fault Machine::is_in_cdr(const Operand& element, Place& place, bool& result)
{
    std::uint32_t count = 0;
    if (const Fault fault = read_count(place, count); fault != Fault::none) return fault;
    const CORBA::TypeCode& type = *place.type->content;
    for (; count != 0 && !result; --count) {
        if (!work(1)) return Fault::limit;
        Place at = place;
        if (const Fault fault = enter_cdr(type, at); fault != Fault::none) return fault;
        if (const Fault fault = is_equal(element, at, result); fault != Fault::none) return fault;
        if (const Fault fault = pass(place.in, type); fault != Fault::none) return fault;
    }
    return Fault::none;
}

Fault Machine::is_in_structure(const Operand& element, const Structure& structure, bool& result)
{
    const std::optional<std::size_t> count = structure.length();
    if (!count) return Fault::mismatch;
    for (std::size_t i = 0; i < *count && !result; ++i) {
        if (!work(1)) return Fault::limit;
        Place at;
        if (const Fault fault = enter(structure.element(i), at); fault != Fault::none) return fault;
        if (const Fault fault = is_equal(element, at, result); fault != Fault::none) return fault;
    }
    return Fault::none;
}

} // namespace kairos::constraints
