// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/index.h"

#include "kairos/constraints/machine.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kairos::constraints {
namespace {

/// The number that equal operands have in common; NaN is equal to nothing.
std::optional<double> number_of(const Operand& operand) noexcept
{
    switch (operand.kind) {
    case Operand::Kind::boolean:
        return operand.boolean ? 1 : 0;
    case Operand::Kind::integer:
    case Operand::Kind::enumerator:
        return static_cast<double>(operand.integer);
    case Operand::Kind::real:
        if (operand.real != operand.real) return std::nullopt;
        return operand.real == 0 ? 0 : operand.real; // -0 is 0
    default:
        return std::nullopt;
    }
}

std::optional<std::string_view> text_of(const Operand& operand) noexcept
{
    switch (operand.kind) {
    case Operand::Kind::text:
    case Operand::Kind::name:
        return operand.text();
    case Operand::Kind::enumerator:
        return operand.enumerator_name();
    default:
        return std::nullopt;
    }
}

} // namespace

struct ConstraintIndex::State {
    struct Filed {
        Id id;
        Constraint constraint;
    };
    using Drawer = std::vector<Filed>;

    /// All constraints that are filed under literals of one path. Ordered, not hashed: peers choose
    /// the literals.
    struct Cabinet {
        const Path* path;                 ///< of the program below
        Constraint owner;                 ///< what the path belongs to
        std::map<double, Drawer> numbers; ///< integers and booleans, too, as comparisons see them
        std::map<std::string, Drawer, std::less<>> texts; ///< enumerators, too

        [[nodiscard]] bool empty() const noexcept { return numbers.empty() && texts.empty(); }
    };

    /// Paths are ordered by all that they consist of.
    struct PathLess {
        static int compare_step(const Step& a, const Step& b) noexcept
        {
            if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
            if (a.number != b.number) return a.number < b.number ? -1 : 1;
            return a.text.compare(b.text);
        }
        bool operator()(const Path* a, const Path* b) const noexcept
        {
            if (a->root != b->root) return a->root < b->root;
            if (const int order = a->name.compare(b->name); order != 0) return order < 0;
            return std::ranges::lexicographical_compare(
                a->steps, b->steps,
                [](const Step& x, const Step& y) { return compare_step(x, y) < 0; });
        }
    };

    using Cabinets = std::map<const Path*, std::unique_ptr<Cabinet>, PathLess>;

    /// Where a constraint is filed.
    struct Where {
        Cabinet* cabinet = nullptr; ///< null: among those that are always evaluated
        Drawer* drawer = nullptr;
        const double* number = nullptr;    ///< the drawer's key, or
        const std::string* text = nullptr; ///< this
        std::size_t position = 0;          ///< in the drawer
    };

    Cabinets cabinets;
    Drawer always;
    std::map<Id, Where> places;

    [[nodiscard]] std::size_t crowd(const Path& path, const Operand& literal) const;
    [[nodiscard]] Where choose(const Constraint& constraint);
    [[nodiscard]] Where file(const Constraint& constraint, const Need& need);
    void discard(const Where& where) noexcept;
};

/// How many constraints are filed under this literal already.
std::size_t ConstraintIndex::State::crowd(const Path& path, const Operand& literal) const
{
    const auto cabinet = cabinets.find(&path);
    if (cabinet == cabinets.end()) return 0;
    if (const std::optional<double> number = number_of(literal)) {
        const auto drawer = cabinet->second->numbers.find(*number);
        return drawer == cabinet->second->numbers.end() ? 0 : drawer->second.size();
    }
    const auto drawer = cabinet->second->texts.find(*text_of(literal));
    return drawer == cabinet->second->texts.end() ? 0 : drawer->second.size();
}

ConstraintIndex::State::Where ConstraintIndex::State::file(const Constraint& constraint,
                                                           const Need& need)
{
    const Program& program = constraint.program();
    const Path& path = program.paths[need.path];
    const Operand& literal = program.constants[need.constant];
    auto found = cabinets.find(&path);
    if (found == cabinets.end()) {
        auto made = std::make_unique<Cabinet>(
            Cabinet{.path = &path, .owner = constraint, .numbers = {}, .texts = {}});
        found = cabinets.emplace(&path, std::move(made)).first;
    }
    Cabinet& cabinet = *found->second;
    Where where{.cabinet = &cabinet};
    try {
        if (const std::optional<double> number = number_of(literal)) {
            auto& entry = *cabinet.numbers.try_emplace(*number).first;
            where.drawer = &entry.second;
            where.number = &entry.first;
        } else {
            auto& entry = *cabinet.texts.try_emplace(std::string(*text_of(literal))).first;
            where.drawer = &entry.second;
            where.text = &entry.first;
        }
    } catch (...) {
        if (cabinet.empty()) cabinets.erase(found);
        throw;
    }
    return where;
}

/// Of several literals the one that fewest others have.
ConstraintIndex::State::Where ConstraintIndex::State::choose(const Constraint& constraint)
{
    const Program& program = constraint.program();
    const Need* best = nullptr;
    std::size_t fewest = 0;
    for (const Need& need : program.needs) {
        if (need.relation != Relation::equal) continue;
        const std::size_t others =
            crowd(program.paths[need.path], program.constants[need.constant]);
        if (best != nullptr && others >= fewest) continue;
        best = &need;
        fewest = others;
    }
    return best == nullptr ? Where{.drawer = &always} : file(constraint, *best);
}

/// Throws away what is empty.
void ConstraintIndex::State::discard(const Where& where) noexcept
{
    if (where.cabinet == nullptr || !where.drawer->empty()) return;
    Cabinet& cabinet = *where.cabinet;
    if (where.number != nullptr) cabinet.numbers.erase(cabinet.numbers.find(*where.number));
    if (where.text != nullptr) cabinet.texts.erase(cabinet.texts.find(*where.text));
    if (cabinet.empty()) cabinets.erase(cabinets.find(cabinet.path));
}

ConstraintIndex::ConstraintIndex() : state_(std::make_unique<State>()) {}

ConstraintIndex::~ConstraintIndex() = default;

std::size_t ConstraintIndex::size() const noexcept { return state_->places.size(); }

bool ConstraintIndex::add(Id id, Constraint constraint)
{
    const auto [place, is_new] = state_->places.try_emplace(id);
    if (!is_new) return false;
    try {
        State::Where where = state_->choose(constraint);
        where.position = where.drawer->size();
        try {
            where.drawer->push_back({id, std::move(constraint)});
        } catch (...) {
            state_->discard(where);
            throw;
        }
        place->second = where;
    } catch (...) {
        state_->places.erase(place);
        throw;
    }
    return true;
}

bool ConstraintIndex::remove(Id id)
{
    const auto place = state_->places.find(id);
    if (place == state_->places.end()) return false;
    const State::Where where = place->second;
    // The last one takes its place, so that this costs the same however many there are.
    State::Filed& removed = (*where.drawer)[where.position];
    if (State::Filed& last = where.drawer->back(); last.id != id) {
        state_->places.find(last.id)->second.position = where.position;
        removed = std::move(last);
    }
    where.drawer->pop_back();
    state_->places.erase(place);
    state_->discard(where);
    return true;
}

std::size_t ConstraintIndex::match(Evaluator& evaluator, std::vector<Id>& found) const
{
    std::size_t evaluated = 0;
    const auto evaluate = [&](const State::Drawer& drawer) {
        for (const State::Filed& filed : drawer)
            if (evaluator.evaluate(filed.constraint)) found.push_back(filed.id);
        evaluated += drawer.size();
    };
    evaluate(state_->always);
    for (const auto& [path, cabinet] : state_->cabinets) {
        Operand operand; // NOLINT(cppcoreguidelines-pro-type-member-init)
        const Fault fault = evaluator.machine().load_alone(*path, operand);
        if (fault != Fault::none) continue; // as it would for each of the constraints
        // Evaluating ends the life of what the operand refers to: both are looked for before.
        const State::Drawer* numbers = nullptr;
        const State::Drawer* texts = nullptr;
        if (const std::optional<double> number = number_of(operand)) {
            const auto drawer = cabinet->numbers.find(*number);
            if (drawer != cabinet->numbers.end()) numbers = &drawer->second;
        }
        if (const std::optional<std::string_view> text = text_of(operand)) {
            const auto drawer = cabinet->texts.find(*text);
            if (drawer != cabinet->texts.end()) texts = &drawer->second;
        }
        if (numbers != nullptr) evaluate(*numbers);
        if (texts != nullptr) evaluate(*texts);
    }
    return evaluated;
}

} // namespace kairos::constraints
