// SPDX-License-Identifier: Apache-2.0
//
// What a text becomes: instructions for a machine with a stack, in the order in which they are
// executed. They only jump forward, so that none is executed twice. Private to this module.
// Immutable when it has been made; any thread.
#pragma once

#include "kairos/constraints/operand.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::constraints {

enum class Op : std::uint8_t {
    constant,   ///< operand: index of a constant
    load,       ///< operand: index of a path
    exist,      ///< operand: index of a path
    is_default, ///< operand: index of a path
    in,         ///< operand: index of a path; the element is on the stack
    negate,
    number, ///< leaves a number where it is
    add,
    subtract,
    multiply,
    divide,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    contained, ///< `~`: the left is part of the right
    not_,
    and_,    ///< operand: where to go on if the left is FALSE, which stays; else it goes
    or_,     ///< operand: where to go on if the left is TRUE, which stays; else it goes
    boolean, ///< leaves a boolean where it is
};

struct Instruction {
    Op op;
    std::uint32_t operand = 0;
    std::uint32_t offset = 0; ///< in the text, for Answer::offset
};

struct Step {
    enum class Kind : std::uint8_t {
        member,        ///< `.name`: text
        position,      ///< `.2`: number
        element,       ///< `[2]`: number
        named,         ///< `(name)`: text
        label,         ///< `.(2)`: number
        label_name,    ///< `.('x')`: text
        label_default, ///< `.()`
        length,        ///< `._length`
        discriminator, ///< `._d`
        type_id,       ///< `._type_id`
        repository_id, ///< `._repos_id`
    };
    Kind kind;
    std::string_view text{};
    std::int64_t number = 0;

    [[nodiscard]] bool operator==(const Step&) const = default;
};

struct Path {
    enum class Root : std::uint8_t {
        event,    ///< `$`
        variable, ///< `$name`
        property, ///< the trader's `name`
    };
    Root root;
    std::string_view name{};
    std::vector<Step> steps{};

    [[nodiscard]] bool operator==(const Path&) const = default;
};

/// A condition without which the whole constraint cannot be fulfilled: a component compares with a
/// literal so.
struct Need {
    std::uint32_t path;
    std::uint32_t constant;
    Relation relation; ///< of the component, on the left, to the literal
};

struct Program {
    std::string text;
    std::unique_ptr<char[]> names; ///< what paths and constants refer to
    std::vector<Operand> constants;
    std::vector<Path> paths;
    std::vector<Instruction> code; ///< none: TRUE
    std::vector<Need> needs;

    /// Operands on the stack at the same time; a text that needs more is refused.
    static constexpr std::size_t operands_max = 128;
};

} // namespace kairos::constraints
