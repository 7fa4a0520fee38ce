// SPDX-License-Identifier: Apache-2.0
//
// The timing of operations in skeletons: what the IDL says of it, as data, and its enforcement
// where there is a deadline (kairos/orb/timed_upcall.h).
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

/// Of the operations declared in the interface itself, in their order.
std::vector<const Timing*> timings_of(const Source& source, const Interface& interface)
{
    std::vector<const Timing*> timings;
    for (const Declaration* declaration : interface.declarations)
        if (const auto found = source.timings.find(declaration); found != source.timings.end())
            timings.push_back(found->second);
    return timings;
}

/// The index of a call's timing in its skeleton's data, if it has a deadline.
std::optional<std::size_t> enforced(const Source& source, const Call& call)
{
    const std::vector<const Timing*> timings = timings_of(source, call.interface());
    for (std::size_t i = 0; i < timings.size(); ++i)
        if (timings[i]->operation == call.declaration && timings[i]->enforced_ns() != 0) return i;
    return std::nullopt;
}

std::string entry_of(const Timing& timing)
{
    constexpr std::uint8_t medium = 2;
    std::string entry = "{.operation = \"" + timing.operation->scoped_name + "\"";
    const auto add = [&entry](std::string_view name, std::int64_t value) {
        entry.append(", .").append(name).append(" = ").append(std::to_string(value));
    };
    add("period", timing.period_ns.value_or(0));
    add("deadline", timing.enforced_ns());
    add("worst_case", timing.worst_case_ns.value_or(0));
    add("criticality", timing.criticality.value_or(medium));
    add("importance", timing.importance.value_or(medium));
    return entry + "}";
}

/// Of all requests that an interface serves, those of whose operations the IDL says something.
std::vector<Call> timed_calls(const Source& source, const Interface& interface)
{
    std::vector<Call> timed;
    for (const Declaration* declaration : all_operations(interface)) {
        if (!source.timings.contains(declaration)) continue;
        for (Call& call : calls_of(source, *declaration))
            timed.push_back(std::move(call));
    }
    return timed;
}

constexpr std::string_view list_type = "std::span<const ::kairos::orb::OperationTiming>";

} // namespace

void emit_timings_declaration(const Source& source, const Interface& interface, Text& out)
{
    if (!interface.is_abstract && !timed_calls(source, interface).empty())
        out.line("const ::kairos::orb::TimedOperations* _kairos_timed_operations() const noexcept "
                 "override;");
    if (timings_of(source, interface).empty()) return;
    out.put({'T', list_type}, R"(
/// What the IDL says about the timing of its operations. Constant.
static $T _kairos_timings() noexcept;
)");
}

void emit_timed_operations(const Source& source, const Interface& interface, Text& out)
{
    const std::vector<Call> calls = timed_calls(source, interface);
    if (calls.empty()) return;
    out.put({'N', skeleton_name(interface)}, R"(
const ::kairos::orb::TimedOperations* $N::_kairos_timed_operations() const noexcept
{
    static constexpr ::kairos::orb::TimedOperation entries[] = {
)");
    for (const Call& call : calls)
        out.line("{.name = ", string_literal(call.wire_name),
                 ", .timing = ", entry_of(*source.timings.at(call.declaration)), "},");
    out.put(R"(
};
static constexpr ::kairos::orb::TimedOperations operations{entries};
return &operations;
}

)");
}

void emit_timings(const Source& source, const Interface& interface, Text& out)
{
    const std::vector<const Timing*> timings = timings_of(source, interface);
    if (timings.empty()) return;
    out.put({'T', list_type, 'N', skeleton_name(interface)}, R"(
$T $N::_kairos_timings() noexcept
{
    static constexpr ::kairos::orb::OperationTiming timings[] = {
)");
    for (const Timing* timing : timings)
        out.line(entry_of(*timing), ",");
    out.put("};\nreturn timings;\n}\n\n");
}

std::string timed_call_argument(const Source& source, const Call& call)
{
    const auto found = source.timings.find(call.declaration);
    if (found == source.timings.end() || found->second->enforced_ns() == 0) return {};
    return std::to_string(found->second->enforced_ns());
}

void begin_timed(const Source& source, const Call& call, Text& out)
{
    if (const auto index = enforced(source, call))
        out.line("::kairos::orb::TimedUpcall _timed(_upcall, _kairos_timings()[",
                 std::to_string(*index), "]);");
}

void end_timed(const Source& source, const Call& call, Text& out)
{
    if (enforced(source, call)) out.line("_timed.end();");
}

} // namespace kairos::idlc
