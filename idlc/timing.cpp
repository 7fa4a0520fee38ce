// SPDX-License-Identifier: Apache-2.0
#include "idlc/timing.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kairos::idlc {
namespace {

using TimeField = std::optional<std::int64_t> Timing::*;
using LevelField = std::optional<std::uint8_t> Timing::*;

constexpr std::array<std::pair<std::string_view, TimeField>, 7> time_fields{{
    {"period", &Timing::period_ns},
    {"wcet", &Timing::worst_case_ns},
    {"typical", &Timing::typical_ns},
    {"cached", &Timing::cached_ns},
    {"deadline", &Timing::deadline_ns},
    {"blocking", &Timing::blocking_ns},
    {"quantum", &Timing::quantum_ns},
}};
constexpr std::array<std::pair<std::string_view, LevelField>, 2> level_fields{{
    {"criticality", &Timing::criticality},
    {"importance", &Timing::importance},
}};
constexpr std::array<std::string_view, 5> levels{"very_low", "low", "medium", "high", "very_high"};
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> units{
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
constexpr std::string_view own_scope = "kairos::";
constexpr std::uint32_t count_max = 1'000'000;
constexpr std::uint32_t threads_max = 10'000;

template <typename Fields>
auto field_named(const Fields& fields, std::string_view name) -> decltype(fields[0].second)
{
    for (const auto& [known, field] : fields)
        if (known == name) return field;
    return {};
}

std::string_view bare_name(const Annotation& annotation)
{
    std::string_view name = annotation.name;
    if (name.starts_with(own_scope)) name.remove_prefix(own_scope.size());
    return name;
}

std::optional<std::int64_t> whole_number(const AnnotationParameter& parameter)
{
    const auto* number = std::get_if<std::int64_t>(&parameter.value);
    return number == nullptr ? std::nullopt : std::optional(*number);
}

/// The word or the string that a parameter is.
std::string word_of(const AnnotationParameter& parameter)
{
    const auto* text = std::get_if<std::string>(&parameter.value);
    return text != nullptr ? *text : parameter.text;
}

class Reader {
  public:
    Reader(const Unit& unit, Diagnostics& diagnostics) : unit_(unit), diagnostics_(diagnostics)
    {
        for (const Declaration* declaration : unit.declarations)
            if (as<AnnotationDeclaration>(declaration) != nullptr)
                foreign_.insert(declaration->name);
        index(unit.declarations);
    }

    std::vector<Timing> read()
    {
        visit(unit_.declarations);
        return std::move(timings_);
    }

  private:
    void index(const Declarations& declarations)
    {
        for_each(declarations, [this](const Declaration& declaration) {
            if (const auto* operation = as<Operation>(&declaration))
                operations_.emplace(operation->scoped_name, operation);
        });
    }

    void visit(const Declarations& declarations)
    {
        for (const Declaration* declaration : declarations) {
            if (const auto* operation = as<Operation>(declaration))
                read(*operation);
            else
                warn_of_useless(*declaration);
            visit(within(*declaration));
        }
    }

    [[nodiscard]] bool is_timing(const Annotation& annotation) const
    {
        return is_timing_name(bare_name(annotation)) && !foreign_.contains(annotation.name);
    }

    void warn_of_useless(const Declaration& declaration)
    {
        for (const Annotation& annotation : declaration.annotations)
            if (is_timing(annotation))
                diagnostics_.warning(annotation.location,
                                     "'" + annotation.name + "' is about operations; '" +
                                         declaration.scoped_name + "' is none");
    }

    void read(const Operation& operation)
    {
        Timing timing{.operation = &operation};
        std::map<std::string_view, const Annotation*> seen[2]; // by whether it is a pragma
        bool any = false;
        for (const bool by_pragma : {false, true}) {
            for (const Annotation& annotation : operation.annotations) {
                if (!is_timing(annotation) || annotation.by_pragma != by_pragma) continue;
                any = true;
                const std::string_view name = bare_name(annotation);
                const auto [first, is_new] = seen[by_pragma].emplace(name, &annotation);
                if (is_new || name == "calls")
                    apply(annotation, name, timing);
                else
                    refuse_second(operation, annotation, *first->second);
            }
        }
        if (!any) return;
        check_order(timing, seen);
        timings_.push_back(std::move(timing));
    }

    void refuse_second(const Operation& operation, const Annotation& second,
                       const Annotation& first)
    {
        diagnostics_.error(second.location,
                           "'" + operation.scoped_name + "' has a second '" + second.name + "'");
        diagnostics_.note(first.location, "the first one is here");
    }

    void apply(const Annotation& annotation, std::string_view name, Timing& timing)
    {
        if (const TimeField field = field_named(time_fields, name)) {
            if (const auto time = time_of(annotation, name == "period")) timing.*field = time;
        } else if (const LevelField level = field_named(level_fields, name)) {
            if (const auto value = level_of(annotation)) timing.*level = value;
        } else if (name == "threads") {
            if (const auto count = threads_of(annotation)) timing.threads = count;
        } else if (const auto call = call_of(annotation, *timing.operation)) {
            timing.calls.push_back(*call);
        }
    }

    std::optional<std::int64_t> time_of(const Annotation& annotation, bool is_period)
    {
        const auto refuse = [&](const std::string& message) {
            diagnostics_.error(annotation.location, message);
            return std::nullopt;
        };
        const std::string expected = "expected " + annotation.name +
                                     "(unit=number) with ns, us, ms" +
                                     (is_period ? ", s or hz" : " or s");
        if (annotation.parameters.size() != 1) return refuse(expected);
        const AnnotationParameter& parameter = annotation.parameters[0];
        const bool is_rate = is_period && parameter.name == "hz";
        const std::int64_t unit = field_named(units, parameter.name);
        const auto number = whole_number(parameter);
        if (unit == 0 && !is_rate) return refuse(expected);
        if (!number)
            return refuse("'" + parameter.text + "' is not a whole number of " + parameter.name);
        if (*number <= 0) return refuse("a time must be more than 0");
        if (is_rate) {
            if (units.back().second % *number == 0) return units.back().second / *number;
            return refuse(parameter.text + " Hz has no period of whole nanoseconds");
        }
        if (*number > timing_ns_max / unit) return refuse("a time must be at most 366 days");
        return *number * unit;
    }

    std::optional<std::uint8_t> level_of(const Annotation& annotation)
    {
        if (annotation.parameters.size() == 1 && annotation.parameters[0].name == "value") {
            const auto found = std::ranges::find(levels, word_of(annotation.parameters[0]));
            if (found != levels.end()) return static_cast<std::uint8_t>(found - levels.begin());
        }
        diagnostics_.error(annotation.location,
                           "expected " + annotation.name +
                               "(very_low), (low), (medium), (high) or (very_high)");
        return std::nullopt;
    }

    std::optional<std::uint32_t> threads_of(const Annotation& annotation)
    {
        if (annotation.parameters.size() == 1 && annotation.parameters[0].name == "value")
            if (const auto count = whole_number(annotation.parameters[0]);
                count && *count >= 1 && *count <= threads_max)
                return static_cast<std::uint32_t>(*count);
        diagnostics_.error(annotation.location, "expected threads(number) of 1 to 10000");
        return std::nullopt;
    }

    std::optional<TimedCall> call_of(const Annotation& annotation, const Operation& caller)
    {
        TimedCall call{.location = annotation.location};
        std::optional<bool> waits;
        for (const AnnotationParameter& parameter : annotation.parameters) {
            const std::string word = word_of(parameter);
            const auto number = whole_number(parameter);
            if (parameter.name == "value" && call.callee == nullptr) {
                call.callee = find_operation(word, caller, annotation.location);
                if (call.callee == nullptr) return std::nullopt;
            } else if (parameter.name == "count" && number && *number >= 1 &&
                       *number <= count_max) {
                call.count = static_cast<std::uint32_t>(*number);
            } else if (parameter.name == "kind" && (word == "oneway" || word == "twoway")) {
                waits = word == "twoway";
            } else {
                return refuse_call(annotation);
            }
        }
        if (call.callee == nullptr) return refuse_call(annotation);
        if (waits.value_or(false) && call.callee->oneway) {
            diagnostics_.error(annotation.location, "nobody can wait for '" +
                                                        call.callee->scoped_name +
                                                        "': it is oneway");
            return std::nullopt;
        }
        call.waits = waits.value_or(!call.callee->oneway);
        return call;
    }

    std::optional<TimedCall> refuse_call(const Annotation& annotation)
    {
        diagnostics_.error(annotation.location, "expected calls(Interface::operation, "
                                                "count=number, kind=oneway or twoway)");
        return std::nullopt;
    }

    /// As names are looked up: in the interface and its bases, then outwards.
    const Operation* find_operation(std::string name, const Operation& caller,
                                    const Location& location)
    {
        std::erase(name, ' ');
        const bool absolute = name.starts_with("::");
        if (absolute) name.erase(0, 2);
        for (const Declaration* scope = absolute ? nullptr : caller.parent; scope != nullptr;
             scope = scope->parent) {
            if (const Operation* found = find_in(scope->scoped_name, name)) return found;
            if (const auto* interface = as<Interface>(scope))
                for (const Interface* base : interface->ancestors)
                    if (const Operation* found = find_in(base->scoped_name, name)) return found;
        }
        const auto found = operations_.find(name);
        if (found != operations_.end()) return found->second;
        diagnostics_.error(location, "there is no operation '" + name + "'");
        return nullptr;
    }

    const Operation* find_in(const std::string& scope, const std::string& name) const
    {
        const auto found = operations_.find(scope + "::" + name);
        return found == operations_.end() ? nullptr : found->second;
    }

    using Seen = std::map<std::string_view, const Annotation*>;

    void check_order(const Timing& timing, const Seen (&seen)[2])
    {
        const auto check = [&](std::string_view name, TimeField time, TimeField limit,
                               const char* message) {
            if (!(timing.*time) || !(timing.*limit) || *(timing.*time) <= *(timing.*limit)) return;
            const bool by_pragma = seen[1].contains(name);
            diagnostics_.error(seen[by_pragma].at(name)->location, message);
        };
        check("typical", &Timing::typical_ns, &Timing::worst_case_ns,
              "the typical time is longer than the worst case");
        check("cached", &Timing::cached_ns,
              timing.typical_ns ? &Timing::typical_ns : &Timing::worst_case_ns,
              "the time with a cached answer is longer than without");
    }

    const Unit& unit_;
    Diagnostics& diagnostics_;
    std::set<std::string> foreign_; ///< annotations that the IDL declares itself
    std::map<std::string, const Operation*> operations_;
    std::vector<Timing> timings_;
};

} // namespace

bool is_timing_name(std::string_view name) noexcept
{
    return field_named(time_fields, name) != nullptr ||
           field_named(level_fields, name) != nullptr || name == "threads" || name == "calls";
}

std::vector<Timing> read_timings(const Unit& unit, Diagnostics& diagnostics)
{
    return Reader(unit, diagnostics).read();
}

} // namespace kairos::idlc
