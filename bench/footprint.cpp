// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench footprint`: how much code and how many tables stubs and skeletons are, per
// operation and per type as in the paper's tables XIV to XVI, compiled and interpretive and
// omniORB's. Nothing is timed.
#include "bench/footprint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace kairos::bench {
namespace {

/// Param_Test's operations, and the type whose marshalling each needs; "string" for one that
/// generates none of its own.
struct Subject {
    const char* operation;
    const char* type;
};
constexpr std::array<Subject, 7> subjects{{
    {"test_short", ""},
    {"test_ubstring", "string"},
    {"test_fixed_struct", "Fixed_Struct"},
    {"test_strseq", "StrSeq"},
    {"test_var_struct", "Var_Struct"},
    {"test_nested_struct", "Nested_Struct"},
    {"test_struct_seq", "StructSeq"},
}};
constexpr const char* dispatch = "dispatch";

/// Code and constants of something.
struct Size {
    std::uint64_t code = 0;
    std::uint64_t table = 0;

    void add(const ObjectSymbol& symbol) { (symbol.code ? code : table) += symbol.bytes; }
    [[nodiscard]] std::uint64_t total() const { return code + table; }
};

/// A variant's bytes by what they are for. What is in none of the maps is what the mapping wants
/// whatever the marshalling: classes of types and interfaces, literals.
struct Tally {
    std::map<std::string, Size> stubs;       ///< by operation
    std::map<std::string, Size> skeletons;   ///< by operation, and "dispatch"
    std::map<std::string, Size> marshalling; ///< by type
    LinkedSize everything;
};

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

std::vector<std::string> identifiers_of(const std::string& name)
{
    std::vector<std::string> identifiers;
    std::string current;
    for (const char c : name + " ")
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            current += c;
        } else if (!current.empty()) {
            identifiers.push_back(std::exchange(current, {}));
        }
    return identifiers;
}

/// The operation a symbol is for: the longest whose name is an identifier in it or begins one, as
/// in test_short_op or _serve_test_short.
std::string operation_of(const std::string& name, const GeneratedObjects& objects)
{
    std::string best;
    for (std::string identifier : identifiers_of(name)) {
        if (const auto found = objects.operation_of.find(identifier);
            found != objects.operation_of.end())
            return found->second;
        if (identifier.starts_with("_serve_")) identifier.erase(0, 7);
        for (const Subject& subject : subjects) {
            const std::string operation = subject.operation;
            const bool named = identifier == operation || identifier.starts_with(operation + "_");
            if (named && operation.size() > best.size()) best = operation;
        }
    }
    return best;
}

bool marshals(const std::string& name)
{
    if (contains(name, "TypeCode")) return false; // is there whatever marshals
    for (const char* part : {"Marshal<", "FixedStruct<", "FixedElements<", "copy_masked", "encode",
                             "decode", "operator>>=", "operator<<=", "Table", "Block", "Functions",
                             "block_of", "kairos::types::", "functions_of"})
        if (contains(name, part)) return true;
    return false;
}

std::string type_of(const std::string& name)
{
    for (const char* sequence : {"Storage<Param::Var_Struct", "Sequence<Param::Var_Struct"})
        if (contains(name, sequence)) return "StructSeq";
    const auto identifiers = identifiers_of(name);
    for (const Subject& subject : subjects)
        for (const std::string& identifier : identifiers)
            if (identifier == subject.type ||
                identifier == "Param_" + std::string(subject.type) + "_members")
                return subject.type;
    return contains(name, "StringElements") ? "StrSeq" : "string";
}

bool is_skeleton(const std::string& name, bool skeleton_object)
{
    return skeleton_object || contains(name, "::unmarshalArguments(") ||
           contains(name, "::marshalReturnedValues(") || name.starts_with("_0RL_lcfn_");
}

Tally tally_of(const GeneratedObjects& objects)
{
    Tally tally;
    tally.everything = linked_size(objects);
    std::map<std::string, bool> marshalled; // by name: one serves both sides
    for (const ObjectFile* object : {&objects.stubs, &objects.skeletons}) {
        std::vector<std::string> here;
        for (const ObjectSymbol& symbol : object->symbols) {
            const std::string operation = operation_of(symbol.name, objects);
            const bool skeleton = is_skeleton(symbol.name, object == &objects.skeletons);
            if (!operation.empty()) {
                (skeleton ? tally.skeletons : tally.stubs)[operation].add(symbol);
            } else if (contains(symbol.name, "_kairos_dispatch") ||
                       contains(symbol.name, "kairos::corba::OperationTable<") ||
                       contains(symbol.name, "::_kairos_direct(") ||
                       contains(symbol.name, "::_kairos_skeleton(") ||
                       contains(symbol.name, "::_dispatch(")) {
                if (!contains(symbol.name, "thunk")) tally.skeletons[dispatch].add(symbol);
            } else if (marshals(symbol.name) && !marshalled.contains(symbol.name)) {
                tally.marshalling[type_of(symbol.name)].add(symbol);
                here.push_back(symbol.name);
            }
        }
        for (const std::string& name : here)
            marshalled.emplace(name, true);
    }
    return tally;
}

Size sum_of(const std::map<std::string, Size>& sizes)
{
    Size sum;
    for (const auto& [name, size] : sizes) {
        sum.code += size.code;
        sum.table += size.table;
    }
    return sum;
}

Row row_of(const CodeVariant& variant, const std::string& subject, const char* side)
{
    Row row;
    row.system = variant.system();
    row.variant = variant.description();
    row.payload_type = subject;
    row.side = side;
    return row;
}

void set_sizes(Row& row, const Size& own, std::uint64_t marshalling)
{
    row.set("code_bytes", static_cast<double>(own.code));
    row.set("table_bytes", static_cast<double>(own.table));
    row.set("marshal_bytes", static_cast<double>(marshalling));
    row.set("total_bytes", static_cast<double>(own.total() + marshalling));
}

std::vector<Row> rows_of(const CodeVariant& variant, const Tally& tally)
{
    std::vector<Row> rows;
    const auto marshalling_of = [&](const std::string& type) {
        const auto found = tally.marshalling.find(type);
        return found == tally.marshalling.end() ? 0 : found->second.total();
    };
    for (const auto& [side, sizes] :
         {std::pair{"stub", &tally.stubs}, std::pair{"skeleton", &tally.skeletons}}) {
        for (const Subject& subject : subjects) {
            const auto found = sizes->find(subject.operation);
            const Size own = found == sizes->end() ? Size{} : found->second;
            rows.push_back(row_of(variant, subject.operation, side));
            set_sizes(rows.back(), own, marshalling_of(subject.type));
        }
        if (sizes == &tally.skeletons) {
            rows.push_back(row_of(variant, dispatch, side));
            const auto found = sizes->find(dispatch);
            set_sizes(rows.back(), found == sizes->end() ? Size{} : found->second, 0);
        }
        rows.push_back(row_of(variant, "all operations", side));
        set_sizes(rows.back(), sum_of(*sizes), sum_of(tally.marshalling).total());
    }
    for (const auto& [type, size] : tally.marshalling) {
        rows.push_back(row_of(variant, type, "type"));
        set_sizes(rows.back(), size, 0);
    }
    rows.push_back(row_of(variant, "everything", "both"));
    rows.back().set("code_bytes", static_cast<double>(tally.everything.code));
    rows.back().set("table_bytes", static_cast<double>(tally.everything.constants));
    rows.back().set("unwind_bytes", static_cast<double>(tally.everything.unwind));
    rows.back().set("total_bytes", static_cast<double>(tally.everything.total()));
    return rows;
}

using RowsByVariant = std::map<CodeVariant, std::vector<Row>>;

/// The same subject in another kind of code of the same level.
std::optional<double> total_of(const RowsByVariant& all, CodeVariant variant, CodeKind kind,
                               const Row& like)
{
    variant.kind = kind;
    const auto found = all.find(variant);
    if (found == all.end()) return std::nullopt;
    for (const Row& row : found->second)
        if (row.payload_type == like.payload_type && row.side == like.side)
            return row.figure("total_bytes");
    return std::nullopt;
}

void set_ratios(Row& row, const CodeVariant& variant, const RowsByVariant& all)
{
    if (variant.kind == CodeKind::omniorb) return;
    const double mine = row.figure("total_bytes").value_or(0);
    for (const auto& [kind, figure] : {std::pair{CodeKind::compiled, "ratio_to_compiled"},
                                       std::pair{CodeKind::omniorb, "ratio_to_omniorb"}}) {
        const auto other = total_of(all, variant, kind, row);
        // How types are marshalled is cut differently by every compiler of IDL.
        const bool comparable = kind == CodeKind::compiled || row.side != "type";
        if (kind != variant.kind && comparable && other.value_or(0) > 0)
            row.set(figure, mine / *other);
    }
    if (variant.kind == CodeKind::interpretive && row.payload_type == "all operations")
        row.bars = {
            {"ratio_to_compiled", Bar::Relation::at_most, row.side == "stub" ? 0.40 : 0.60}};
    if (variant.kind == CodeKind::compiled && row.payload_type == "everything")
        row.bars = {{"ratio_to_omniorb", Bar::Relation::at_most, 0.70}};
}

/// The variants that there are; those that are not get a row saying so.
std::vector<CodeVariant> variants_of(const FootprintOptions& options, const Toolchain& tools,
                                     Report& report)
{
    std::vector<CodeVariant> variants;
    for (const std::string& level : options.levels)
        for (const bool any : {false, true})
            for (const CodeKind kind :
                 {CodeKind::compiled, CodeKind::interpretive, CodeKind::omniorb}) {
                const CodeVariant variant{kind, any, level};
                if (kind != CodeKind::omniorb || !tools.omniidl.empty()) {
                    variants.push_back(variant);
                    continue;
                }
                report.rows.push_back(row_of(variant, {}, ""));
                report.rows.back().status = "not installed";
            }
    return variants;
}

Result<void> add_param_test(Report& report, const FootprintOptions& options, const Toolchain& tools,
                            const std::filesystem::path& work)
{
    std::vector<Row> absent;
    absent.swap(report.rows);
    const auto variants = variants_of(options, tools, report);
    absent.swap(report.rows);
    RowsByVariant all;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        options.progress(0.3 * static_cast<double>(i) / static_cast<double>(variants.size()),
                         "Param_Test, " + variants[i].description());
        auto objects =
            generate_objects(tools, work, tools.idl / "param.idl", {tools.idl}, variants[i]);
        if (!objects) return objects.error();
        all[variants[i]] = rows_of(variants[i], tally_of(*objects));
    }
    for (const CodeVariant& variant : variants)
        for (Row row : all[variant]) {
            set_ratios(row, variant, all);
            report.rows.push_back(std::move(row));
        }
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    return {};
}

} // namespace

Result<Report> run_footprint(const FootprintOptions& options)
{
    Report report{.experiment = "footprint",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_compiled"}, {"ratio_to_omniorb"}}};
    const auto tools = find_toolchain(options.program_directory);
    if (!tools) return tools.error();
    const auto work = WorkFolder::create();
    if (!work) return work.error();
    if (auto done = add_param_test(report, options, *tools, work->path()); !done)
        return done.error();
    if (options.services)
        if (auto done = add_services(report, options, *tools, work->path()); !done)
            return done.error();
    if (options.programs)
        if (auto done = add_programs(report, options, *tools, work->path()); !done)
            return done.error();
    report.notes.push_back(fmt::format(
        "Bytes, compiled by {} without debug information. Marshalling: that of a type, used "
        "by stubs and skeletons; counted once. Everything: all code and constants that the IDL "
        "adds to a program, templates once; unwinding tables apart.",
        tools->cxx));
    return report;
}

std::vector<Column> footprint_columns()
{
    return {{"code_bytes", "code", 0},
            {"table_bytes", "tables", 0},
            {"marshal_bytes", "marshalling", 0},
            {"total_bytes", "total", 0},
            {"unwind_bytes", "unwinding", 0},
            {"file_bytes", "file", 0},
            {"ratio_to_compiled", "× compiled", 2},
            {"ratio_to_omniorb", "× omniORB", 2}};
}

} // namespace kairos::bench
