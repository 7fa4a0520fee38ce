// SPDX-License-Identifier: Apache-2.0
#include "idlc/profile_choice.h"

#include "idlc/layout.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace kairos::idlc {
namespace {

/// Of the measured time, in per cent, what is compiled where no budget says otherwise.
constexpr std::uint64_t covered_percent = 90;

bool is_open(const Choice& choice)
{
    return choice.reason != Reason::annotated && choice.reason != Reason::fixed_layout &&
           choice.reason != Reason::always_compiled;
}

// --- What there is to choose -------------------------------------------------------------------

Measured measured_in(const Profile::Entries& entries, const std::string& name)
{
    const auto found = entries.find(name);
    return found == entries.end() ? Measured{} : found->second;
}

std::string entry_name(const Request& request)
{
    return request.wire_name + " " + request.interface().repository_id;
}

/// The choices before anything was measured against anything.
class Collector {
  public:
    Collector(const Unit& unit, const Profile& profile, const CodeSizes& sizes)
        : unit_(unit), profile_(profile), sizes_(sizes)
    {
    }

    std::vector<Choice> collect()
    {
        for (const Struct* composite : all_of<Struct>(unit_))
            add_struct(*composite);
        add_all<Union>("union");
        add_all<Exception>("exception");
        add_all<ValueType>("valuetype");
        add_all<ValueBox>("valuebox");
        for (const Interface* interface : all_of<Interface>(unit_))
            if (!interface->is_local)
                for (const Declaration* declaration : interface->declarations)
                    for (const Request& request : requests_of(*declaration))
                        add_request(request);
        return std::move(choices_);
    }

  private:
    Choice& add(std::string_view kind, const Declaration& declaration)
    {
        return choices_.emplace_back(
            Choice{.kind = kind,
                   .name = declaration.scoped_name,
                   .declaration = &declaration,
                   .measured = measured_in(profile_.types(), declaration.repository_id)});
    }
    template <typename T>
    void add_all(std::string_view kind)
    {
        for (const T* declaration : all_of<T>(unit_))
            add(kind, *declaration).reason = Reason::always_compiled;
    }
    void add_struct(const Struct& composite)
    {
        Choice& choice = add("struct", composite);
        if (has_fixed_layout(composite)) {
            choice.reason = Reason::fixed_layout;
            return;
        }
        choice.size = sizes_.of_struct(composite);
        ask_annotations(choice);
    }
    void add_request(const Request& request)
    {
        Choice& choice = add("operation", *request.declaration);
        choice.name = request.interface().scoped_name + "::" + request.wire_name;
        choice.wire_name = request.wire_name;
        choice.measured = measured_in(profile_.operations(), entry_name(request));
        const std::optional<CodeSize> size = sizes_.of_request(request);
        if (!size) {
            choice.reason = Reason::always_compiled;
            return;
        }
        choice.size = *size;
        ask_annotations(choice);
    }
    static void ask_annotations(Choice& choice)
    {
        const auto engine = annotated_engine(*choice.declaration);
        choice.engine = engine.value_or(Engine::interpretive);
        if (engine) choice.reason = Reason::annotated;
    }

    const Unit& unit_;
    const Profile& profile_;
    const CodeSizes& sizes_;
    std::vector<Choice> choices_;
};

/// How many entries name no type and no request, of included files neither.
std::size_t count_unknown(const Unit& unit, const Profile& profile)
{
    std::unordered_set<std::string> names;
    for_each(unit.declarations, [&](const Declaration& declaration) {
        names.insert(declaration.repository_id);
        if (as<Interface>(declaration.parent) == nullptr) return;
        for (const Request& request : requests_of(declaration))
            names.insert(entry_name(request));
    });
    std::size_t unknown = 0;
    for (const auto* entries : {&profile.types(), &profile.operations()})
        for (const auto& [name, measured] : *entries)
            unknown += names.contains(name) ? 0 : 1;
    return unknown;
}

// --- Choosing ----------------------------------------------------------------------------------

std::int64_t total_bytes(const std::vector<Choice>& choices, const CodeSizes& sizes)
{
    std::int64_t bytes = 0;
    bool operations_compiled = false;
    std::unordered_set<std::string_view> sequences;
    for (const Choice& choice : choices) {
        bytes += choice.size.bytes.of(choice.engine);
        if (choice.engine == Engine::compiled)
            sequences.insert(choice.size.sequences.begin(), choice.size.sequences.end());
        operations_compiled =
            operations_compiled || (!choice.wire_name.empty() && choice.engine == Engine::compiled);
    }
    return bytes + static_cast<std::int64_t>(sequences.size()) * sizes.sequence_bytes +
           (operations_compiled ? sizes.operations_bytes : 0);
}

/// Those that were measured and are not decided yet.
std::vector<Choice*> candidates(std::vector<Choice>& choices)
{
    std::vector<Choice*> found;
    for (Choice& choice : choices)
        if (is_open(choice) && choice.measured.calls != 0) found.push_back(&choice);
    return found;
}

/// The fewest that make up enough of the time.
void choose_hottest(std::vector<Choice>& choices)
{
    std::vector<Choice*> measured = candidates(choices);
    std::stable_sort(measured.begin(), measured.end(), [](const Choice* left, const Choice* right) {
        return left->measured.self_ns > right->measured.self_ns;
    });
    long double all = 0;
    for (const Choice* choice : measured)
        all += static_cast<long double>(choice->measured.self_ns);
    long double covered = 0;
    for (Choice* choice : measured) {
        const bool is_hot = covered * 100 < all * covered_percent;
        choice->engine = is_hot ? Engine::compiled : Engine::interpretive;
        choice->reason = is_hot ? Reason::hot : Reason::cold;
        covered += static_cast<long double>(choice->measured.self_ns);
    }
}

/// Time per byte. How much of its time the interpreter adds is much the same for all (figures in
/// docs/marshalling.md), so that the time itself ranks what would be saved.
long double worth(const Choice& choice)
{
    const std::int64_t bytes = std::max<std::int64_t>(choice.size.bytes.difference(), 1);
    return static_cast<long double>(choice.measured.self_ns) / static_cast<long double>(bytes);
}

/// The most worthy first, as long as they fit; smaller ones may still fit behind a large one.
void choose_within(std::int64_t budget, const CodeSizes& sizes, std::vector<Choice>& choices)
{
    std::vector<Choice*> measured = candidates(choices);
    std::stable_sort(measured.begin(), measured.end(), [](const Choice* left, const Choice* right) {
        return worth(*left) > worth(*right);
    });
    for (Choice* choice : measured) {
        choice->engine = Engine::compiled;
        choice->reason = Reason::hot;
        if (total_bytes(choices, sizes) <= budget) continue;
        choice->engine = Engine::interpretive;
        choice->reason = Reason::over_budget;
    }
}

// --- The table ---------------------------------------------------------------------------------

/// By Reason.
constexpr std::array<std::string_view, 7> reason_texts{
    "hot",       "cold",         "not in the profile", "over budget",
    "annotated", "fixed layout", "always compiled"};

std::string_view engine_text(const Choice& choice)
{
    if (choice.reason == Reason::fixed_layout) return "data";
    return choice.engine == Engine::compiled ? "compiled" : "interpretive";
}

std::string milliseconds(std::uint64_t nanoseconds)
{
    const std::string fraction = std::to_string(nanoseconds / 1000 % 1000);
    return std::to_string(nanoseconds / 1'000'000) + "." + std::string(3 - fraction.size(), '0') +
           fraction;
}

using Cells = std::vector<std::string>;

Cells cells_of(const Choice& choice)
{
    const CodeBytes& bytes = choice.size.bytes;
    const bool sized = bytes.compiled != 0;
    return {std::string(choice.kind) + " " + choice.name,
            std::to_string(choice.measured.calls),
            milliseconds(choice.measured.total_ns),
            milliseconds(choice.measured.self_ns),
            sized ? std::to_string(bytes.compiled) : "-",
            sized ? std::to_string(bytes.interpretive) : "-",
            std::string(engine_text(choice)),
            std::string(reason_texts[static_cast<std::size_t>(choice.reason)])};
}

/// Columns of text to the left, of numbers to the right, two blanks between.
std::string aligned(const std::vector<Cells>& rows)
{
    constexpr std::size_t first_number = 1;
    constexpr std::size_t last_number = 5;
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Cells& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const Cells& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string filling(widths[i] - row[i].size(), ' ');
            const bool is_number = i >= first_number && i <= last_number;
            line += (i == 0 ? "" : "  ") + (is_number ? filling + row[i] : row[i] + filling);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string summary(const ProfileChoices& choices, const CodeSizes& sizes,
                    std::optional<std::uint32_t> budget)
{
    std::vector<Choice> all = choices.list;
    const auto bytes_if = [&](Engine engine) {
        for (Choice& choice : all)
            if (is_open(choice)) choice.engine = engine;
        return std::to_string(total_bytes(all, sizes));
    };
    std::string text = "about " + std::to_string(choices.bytes) + " bytes of object code";
    if (budget) text += " for a budget of " + std::to_string(*budget);
    return text + "; all compiled " + bytes_if(Engine::compiled) + ", all interpretive " +
           bytes_if(Engine::interpretive) + "\n";
}

std::string table_of(std::vector<Choice> choices)
{
    std::stable_sort(choices.begin(), choices.end(), [](const Choice& left, const Choice& right) {
        return left.measured.self_ns > right.measured.self_ns;
    });
    std::vector<Cells> rows{
        {"what", "calls", "ms", "own ms", "compiled", "interpretive", "choice", "why"}};
    for (const Choice& choice : choices)
        rows.push_back(cells_of(choice));
    return aligned(rows);
}

} // namespace

ProfileChoices choose(const Unit& unit, const Profile& profile, const CodeSizes& sizes,
                      std::optional<std::uint32_t> budget_bytes)
{
    ProfileChoices choices{.list = Collector(unit, profile, sizes).collect()};
    if (budget_bytes)
        choose_within(*budget_bytes, sizes, choices.list);
    else
        choose_hottest(choices.list);
    choices.bytes = total_bytes(choices.list, sizes);
    choices.unknown_entries = count_unknown(unit, profile);
    choices.table =
        unit.files[0].path + ": " + summary(choices, sizes, budget_bytes) + table_of(choices.list);
    return choices;
}

} // namespace kairos::idlc
