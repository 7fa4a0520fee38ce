// SPDX-License-Identifier: Apache-2.0
//
// What an Evaluator is: the machine that executes programs, and the way from a name or `$` to what
// a path leads to. Values in CDR are walked where they lie, as their TypeCodes say; what lies in
// front of a component is passed over. Private to this module. One thread.
#pragma once

#include "kairos/cdr/buffer.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/constraints/program.h"
#include "kairos/constraints/subject.h"
#include "kairos/types/typecode.h"

#include <vector>

namespace kairos::constraints {

/// Where a path has led to so far.
struct Place {
    enum class Form : std::uint8_t {
        simple,    ///< `simple`
        cdr,       ///< `in` stands at a value of `type`, which is neither an alias nor an Any
        structure, ///< `structure`
    };
    Form form = Form::simple;
    Operand simple;                            // NOLINT(cppcoreguidelines-pro-type-member-init)
    const types::TypeCodeData* type = nullptr; // of simple values, too, where they were in Anys
    cdr::Reader in;
    const Structure* structure = nullptr;
};

[[nodiscard]] const CORBA::TypeCode* read_simple_type(cdr::Reader& in);

/// What owns a TypeCode.
using TypeCodeHolder = mapping::ObjectVar<CORBA::TypeCode>;

class Machine {
  public:
    explicit Machine(std::size_t work_max) : work_max_(work_max), work_left_(work_max) {}
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    void look_at(const Subject& subject) noexcept;
    [[nodiscard]] Answer evaluate(const Program& program);
    /// Executes a program that leaves any simple value.
    [[nodiscard]] Fault value(const Program& program, Operand& result, std::uint32_t& offset);
    /// What a path leads to, with work of its own; valid until the next one is evaluated.
    [[nodiscard]] Fault load_alone(const Path& path, Operand& result);

  private:
    struct Encoded {
        const CORBA::Any* any = nullptr;
        cdr::Buffer buffer;
        Bytes bytes;
    };

    // machine.cpp
    void begin() noexcept;
    [[nodiscard]] Fault run(const Program& program, Operand* stack, std::size_t& top,
                            std::uint32_t& offset);
    [[nodiscard]] Fault execute(const Program& program, const Instruction& instruction,
                                Operand* stack, std::size_t& top, std::size_t& next);
    [[nodiscard]] Fault compare_top(Op op, Operand* stack, std::size_t& top);
    [[nodiscard]] Fault contained(Operand* stack, std::size_t& top);
    [[nodiscard]] Fault exists(const Path& path, bool& found);
    [[nodiscard]] Fault is_default(const Path& path, bool& result);
    [[nodiscard]] Fault is_in(const Operand& element, const Path& path, bool& result);
    [[nodiscard]] Fault is_in_cdr(const Operand& element, Place& place, bool& result);
    [[nodiscard]] Fault is_in_structure(const Operand& element, const Structure& structure,
                                        bool& result);
    [[nodiscard]] Fault is_equal(const Operand& element, Place& place, bool& result);
    [[nodiscard]] Fault load(const Path& path, Operand& result);

    // walk.cpp: to a place, and on from it
    [[nodiscard]] Fault find(const Path& path, Place& place);
    [[nodiscard]] Fault find_variable(std::string_view name, Place& place);
    [[nodiscard]] Fault find_in_header(std::string_view name, Place& header);
    [[nodiscard]] Fault enter(const Term& term, Place& place);
    [[nodiscard]] Fault enter(const CORBA::Any& any, Place& place);
    [[nodiscard]] Fault enter_cdr(const CORBA::TypeCode& type, Place& place);
    [[nodiscard]] Bytes encoded(const CORBA::Any& any);
    [[nodiscard]] Fault go(const Step& step, Place& place);
    [[nodiscard]] Fault go_in_structure(const Step& step, Place& place);
    [[nodiscard]] Fault read(Place& place, Operand& result);

    // walk_cdr.cpp: within a value in CDR
    [[nodiscard]] Fault go_in_cdr(const Step& step, Place& place);
    [[nodiscard]] Fault to_member(std::string_view name, Place& place);
    [[nodiscard]] Fault to_position(std::int64_t position, Place& place);
    [[nodiscard]] Fault to_element(std::int64_t index, Place& place);
    [[nodiscard]] Fault to_named(std::string_view name, Place& place);
    [[nodiscard]] Fault to_label(const Step& step, Place& place);
    [[nodiscard]] Fault to_length(Place& place);
    [[nodiscard]] Fault to_discriminator(Place& place);
    /// Reads the discriminator; the index of the member that there is, or `count` for none.
    [[nodiscard]] Fault read_union(Place& place, std::uint32_t& active);
    /// Reads a sequence's length, or takes an array's.
    [[nodiscard]] static Fault read_count(Place& place, std::uint32_t& count);
    [[nodiscard]] Fault pass(cdr::Reader& in, const CORBA::TypeCode& type);

    /// Takes so many steps of the evaluation's work. False: it has none left.
    [[nodiscard]] bool work(std::size_t steps) noexcept
    {
        if (steps > work_left_) {
            work_left_ = 0;
            return false;
        }
        work_left_ -= steps;
        return true;
    }
    [[nodiscard]] static constexpr std::size_t steps_of(std::size_t octets) noexcept
    {
        return 1 + octets / 16;
    }

    const std::size_t work_max_;
    std::size_t work_left_;
    const Subject* subject_ = nullptr;
    const cdr::Environment environment_;
    std::vector<Encoded> encoded_; // of this subject: the first `encoded_count_`
    std::size_t encoded_count_ = 0;
    std::vector<TypeCodeHolder> types_; // of Anys within values; for one evaluation
};

} // namespace kairos::constraints
