// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/evaluator.h"

#include "kairos/constraints/machine.h"

#include <algorithm>
#include <numeric>

namespace kairos::constraints {
namespace {

/// A subject, and what it is ordered by.
struct Ranked {
    std::size_t place = 0;
    bool valid = false;
    Operand rank; // NOLINT(cppcoreguidelines-pro-type-member-init): where it is valid
};

bool is_valid(Preference::Kind kind, const Operand& rank) noexcept
{
    // What is no number (NaN) has no place among numbers.
    return kind == Preference::Kind::with || rank.kind != Operand::Kind::real ||
           rank.real == rank.real;
}

/// Whether `a` goes in front of `b`.
bool goes_first(Preference::Kind kind, const Ranked& a, const Ranked& b)
{
    if (a.valid != b.valid) return a.valid;
    std::partial_ordering order = std::partial_ordering::equivalent;
    if (a.valid) (void)compare(a.rank, b.rank, order); // they are numbers, or booleans
    if (order == 0) return a.place < b.place;
    return kind == Preference::Kind::min ? order < 0 : order > 0; // TRUE is more than FALSE
}

/// Makes all ranks of one kind: two large integers may differ, and both be equal to one double.
void make_alike(std::vector<Ranked>& ranked)
{
    const auto is_real = [](const Ranked& each) {
        return each.valid && each.rank.kind == Operand::Kind::real;
    };
    if (std::ranges::none_of(ranked, is_real)) return;
    for (Ranked& each : ranked)
        if (each.valid) (void)compute(Arithmetic::add, each.rank, Operand::of(0.0));
}

} // namespace

std::string_view describe(Fault fault) noexcept
{
    switch (fault) {
    case Fault::none:
        return "no fault";
    case Fault::missing:
        return "there is no such component or property";
    case Fault::mismatch:
        return "an operator was given a value of a type that it is not for";
    case Fault::arithmetic:
        return "division by zero, or an integer beyond 64 bits";
    case Fault::limit:
        return "more work than one evaluation may cost";
    }
    return "unknown fault";
}

Evaluator::Evaluator(std::size_t work_max) : machine_(std::make_unique<Machine>(work_max)) {}

Evaluator::~Evaluator() = default;

void Evaluator::look_at(const Subject& subject) noexcept { machine_->look_at(subject); }

Answer Evaluator::evaluate(const Constraint& constraint)
{
    return machine_->evaluate(constraint.program());
}

std::vector<std::size_t> order(const Preference& preference,
                               std::span<const Subject* const> subjects, Evaluator& evaluator,
                               std::mt19937_64& random, std::chrono::steady_clock::time_point end,
                               bool* was_cut)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t between_looks_at_clock = 64;
    const Preference::Kind kind = preference.kind();
    std::vector<std::size_t> places(subjects.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (kind == Preference::Kind::random) std::ranges::shuffle(places, random);
    if (kind == Preference::Kind::random || kind == Preference::Kind::first) return places;

    std::vector<Ranked> ranked(subjects.size());
    bool has_time = true;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        ranked[i].place = i;
        if (has_time && i % between_looks_at_clock == 0 && end != Clock::time_point::max())
            has_time = Clock::now() < end;
        if (!has_time) continue;
        evaluator.look_at(*subjects[i]);
        std::uint32_t offset = 0;
        ranked[i].valid = evaluator.machine().value(preference.program(), ranked[i].rank, offset) ==
                              Fault::none &&
                          is_valid(kind, ranked[i].rank);
    }
    if (was_cut != nullptr && !has_time) *was_cut = true;
    make_alike(ranked);
    std::ranges::sort(ranked,
                      [kind](const Ranked& a, const Ranked& b) { return goes_first(kind, a, b); });
    std::ranges::transform(ranked, places.begin(), &Ranked::place);
    return places;
}

} // namespace kairos::constraints
