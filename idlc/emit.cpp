// SPDX-License-Identifier: Apache-2.0
#include "idlc/emit.h"

#include "idlc/emitters.h"
#include "idlc/profile_choice.h"
#include "idlc/provider.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace kairos::idlc {
namespace {

namespace fs = std::filesystem;

struct File {
    std::string name;
    std::string text;
};

bool is_same(const fs::path& left, const fs::path& right)
{
    std::error_code ignored;
    return left == right || fs::equivalent(left, right, ignored);
}

/// "a/" for "/idl/a/foo.idl" where the root is "/idl"; empty where the file is elsewhere.
fs::path folder_below(const fs::path& root, const fs::path& file)
{
    std::error_code failed;
    const fs::path from = fs::weakly_canonical(root, failed);
    const fs::path to = failed ? fs::path() : fs::weakly_canonical(file.parent_path(), failed);
    if (failed) return {};
    // Of a file without a folder in its name: where we are.
    const fs::path below =
        (file.has_parent_path() ? to : fs::current_path(failed)).lexically_relative(from);
    return below.empty() || *below.begin() == ".." || below == "." ? fs::path() : below;
}

/// What modules hold, at any depth, and who provides it.
template <typename Function>
void for_each_provided(const Declarations& declarations, const Function& function)
{
    for (const Declaration* declaration : declarations) {
        if (const auto* module = as<Module>(declaration))
            for_each_provided(module->declarations, function);
        else
            function(*declaration, provider_of(*declaration));
    }
}

/// For each file, whether it or a file that it includes declares anything: one that only defines
/// macros or sets pragmas, or declares what the run time has, needs no header.
std::vector<bool> declaring_files(const Unit& unit)
{
    std::vector<bool> declares(unit.files.size());
    for_each_provided(unit.declarations, [&](const Declaration& declaration, Provider provider) {
        std::uint32_t file = declaration.location.file;
        while (provider == Provider::program && file != 0 && !declares[file]) {
            declares[file] = true;
            file = unit.files[file].includer ? unit.files[file].includer->file : 0;
        }
    });
    return declares;
}

/// The headers of what the run time declares itself, where that is in the IDL or used by it.
void emit_run_time_includes(const Unit& unit, Text& out)
{
    bool orb_types = unit.uses_pseudo_types;
    bool ir = false;
    for_each_provided(unit.declarations, [&](const Declaration& declaration, Provider provider) {
        if (declaration.generated) return;
        orb_types |= provider == Provider::orb_types;
        ir |= provider == Provider::ir;
    });
    if (orb_types) out.line("#include <kairos/corba/orb_types.h>");
    if (ir) out.line("#include <kairos/ir/ir.h>");
}

/// The same for skeletons that others derive from.
void emit_run_time_skeletons(const Source& source, Text& out)
{
    bool orb_types = false;
    bool ir = false;
    for (const Interface* interface : all_of<Interface>(source)) {
        if (interface->is_local) continue;
        for (const Interface* ancestor : interface->ancestors) {
            if (ancestor->generated) continue;
            orb_types |= provider_of(*ancestor) == Provider::orb_types;
            ir |= provider_of(*ancestor) == Provider::ir;
        }
    }
    if (orb_types) out.line("#include <kairos/corba/orb_types_skel.h>");
    if (ir) out.line("#include <kairos/ir/ir_skel.h>");
}

/// What included IDL became: with folders only if that is known to be generated with them.
std::string included_name(const std::string& path, const Options& options, std::string_view suffix)
{
    const bool with = options.root_files.empty() ||
                      std::ranges::any_of(options.root_files, [&](const std::string& file) {
                          return is_same(file, path);
                      });
    if (with) return generated_name(path, options, suffix);
    return fs::path(path).stem().string() + std::string(suffix);
}

/// Two files that become one name would include each other's headers, or their own.
void check_names(const Source& source, Diagnostics& diagnostics)
{
    const std::vector<SourceFile>& files = source.unit.files;
    const std::vector<bool> declares = declaring_files(source.unit);
    std::unordered_map<std::string, std::string> paths;
    paths.emplace(generated_name(files[0].path, source.options, {}), files[0].path);
    for (const std::uint32_t index : source.unit.direct_includes) {
        if (!declares[index]) continue;
        const std::string& path = files[index].path;
        const std::string name = included_name(path, source.options, {});
        const auto [other, fresh] = paths.emplace(name, path);
        if (fresh || is_same(other->second, path)) continue;
        std::string message = "'" + path;
        message.append("' and '").append(other->second).append("' both become \"").append(name);
        message.append(source.options.header_suffix).append("\"; --root keeps their folders apart");
        diagnostics.error(files[index].includer.value_or(Location{}), std::move(message));
    }
}

/// What included IDL became, under the same naming options. Where its C++ is installed, that serves
/// as well, unless the program has generated it once more.
void emit_includes(const Source& source, std::string_view suffix, bool skeletons, Text& out)
{
    const std::vector<bool> declares = declaring_files(source.unit);
    for (const std::uint32_t index : source.unit.direct_includes) {
        if (!declares[index]) continue;
        const SourceFile& file = source.unit.files[index];
        const std::string name = string_literal(included_name(file.path, source.options, suffix));
        const std::string installed = "#include <" + file.headers + "/" +
                                      fs::path(file.path).stem().string() +
                                      (skeletons ? "_skel.h>" : ".h>");
        if (file.headers.empty()) {
            out.line("#include ", name);
        } else if (source.options.of_run_time) {
            out.line(installed);
        } else {
            out.line("#if __has_include(", name, ")");
            out.line("#include ", name);
            out.line("#else");
            out.line(installed);
            out.line("#endif");
        }
    }
}

void emit_first_line(const Source& source, Text& out)
{
    out.line("// Generated by kairos-idl " KAIROS_VERSION " from ", source.unit.files[0].path,
             ". Do not edit.");
}

void emit_heading(const Source& source, Text& out)
{
    emit_first_line(source, out);
    out.line("#pragma once");
    out.blank();
}

std::string header_text(const Source& source)
{
    const bool alone = source.options.skel_header_suffix.empty(); // declares the skeletons, too
    Text out;
    emit_heading(source, out);
    if (!source.options.export_include.empty())
        out.line("#include ", string_literal(source.options.export_include));
    if (alone) out.line("#include <kairos/corba/skel.h>");
    out.line("#include <kairos/corba/stub.h>");
    emit_run_time_includes(source.unit, out);
    if (alone) emit_run_time_skeletons(source, out);
    for (const std::string& file : source.options.header_includes)
        out.line("#include ", string_literal(file));
    out.blank();
    emit_early_forwards(source, out);
    emit_includes(source, source.options.header_suffix, alone, out);
    out.blank();
    emit_types(source, out);
    if (alone) {
        out.blank();
        emit_skeleton_classes(source, out);
    }
    return out.finished();
}

std::string skel_header_text(const Source& source, const std::string& header)
{
    Text out;
    emit_heading(source, out);
    out.line("#include ", string_literal(header));
    out.blank();
    out.line("#include <kairos/corba/skel.h>");
    emit_run_time_skeletons(source, out);
    out.blank();
    emit_includes(source, source.options.skel_header_suffix, true, out);
    out.blank();
    emit_skeleton_classes(source, out);
    return out.finished();
}

/// A source file with stubs, skeletons or both.
std::string source_text(const Source& source, const std::string& header, bool stubs, bool skeletons,
                        Diagnostics& diagnostics)
{
    Text out;
    emit_first_line(source, out);
    out.line("#include ", string_literal(header));
    if (source.options.instrument) out.line("#include <kairos/types/profile.h>");
    if (skeletons && source.options.operation_demux == OperationDemux::hash)
        out.line("#include <kairos/corba/hashed_operations.h>");
    out.blank();
    emit_operations(source, stubs, out);
    if (stubs) emit_stubs(source, out);
    if (stubs && !skeletons) emit_type_codes(source, out);
    if (skeletons) emit_skeletons(source, out, diagnostics);
    return out.finished();
}

/// What --style omniorb keeps apart: programs without Any need not link it.
std::string dynamic_text(const Source& source, const std::string& header)
{
    Text out;
    emit_first_line(source, out);
    out.line("#include ", string_literal(header));
    out.blank();
    emit_type_codes(source, out);
    return out.finished();
}

std::vector<File> generate(const Source& source, Diagnostics& diagnostics)
{
    const Options& options = source.options;
    const auto named = [&](const std::string& suffix) {
        return generated_name(source.unit.files[0].path, options, suffix);
    };
    const std::string header = named(options.header_suffix);
    std::vector<File> files{{header, header_text(source)}};
    const std::string stub = named(options.source_suffix);
    const std::string skel = named(options.skel_source_suffix);
    if (options.skel_header_suffix.empty()) {
        files.push_back({stub, source_text(source, header, true, true, diagnostics)});
        files.push_back({skel, dynamic_text(source, header)});
        return files;
    }
    const std::string skel_header = named(options.skel_header_suffix);
    files.push_back({stub, source_text(source, header, true, false, diagnostics)});
    files.push_back({skel_header, skel_header_text(source, header)});
    files.push_back({skel, source_text(source, skel_header, false, true, diagnostics)});
    return files;
}

/// The rule by which make and ninja learn what the files were made from.
std::string depfile_text(const Unit& unit, const Options& options, const std::vector<File>& files,
                         const fs::path& directory)
{
    const auto escaped = [](const std::string& path) {
        std::string text;
        for (const char character : path) {
            if (character == ' ' || character == '#' || character == '\\') text += '\\';
            text += character == '$' ? "$$" : std::string(1, character);
        }
        return text;
    };
    std::string rule;
    for (const File& file : files)
        rule += escaped((directory / file.name).string()) + " ";
    rule.back() = ':';
    std::unordered_set<std::string> seen;
    for (const SourceFile& file : unit.files)
        if (seen.insert(file.path).second) rule += " \\\n  " + escaped(file.path);
    for (const std::string& profile : options.profiles)
        if (seen.insert(profile).second) rule += " \\\n  " + escaped(profile);
    return rule + "\n";
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
bool write(const fs::path& path, const std::string& text, Diagnostics& diagnostics)
{
    std::error_code failed_folder;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed_folder);
    const fs::path temporary = path.string() + "." + std::to_string(getpid()) + ".tmp";
    errno = 0;
    bool good = false;
    {
        std::ofstream out(temporary, std::ios::binary);
        out << text;
        out.close();
        good = !out.fail();
    }
    std::error_code failed(errno, std::generic_category());
    if (good) {
        fs::rename(temporary, path, failed);
        if (!failed) return true;
    }
    std::error_code ignored;
    fs::remove(temporary, ignored);
    diagnostics.error({.line = 0}, "cannot write '" + path.string() + "': " + failed.message());
    return false;
}

/// Which IDL the file that is there was generated from; empty where nothing says so.
std::string generated_from(const fs::path& path)
{
    std::string line;
    std::ifstream file(path, std::ios::binary);
    std::getline(file, line);
    constexpr std::string_view begin = "// Generated by kairos-idl ";
    constexpr std::string_view end = ". Do not edit.";
    const std::size_t from = line.find(" from ");
    if (!line.starts_with(begin) || !line.ends_with(end) || from == line.npos) return {};
    return line.substr(from + 6, line.size() - end.size() - from - 6);
}

/// False, and reported, where another IDL file of the same name has its code there.
bool may_write(const fs::path& path, const std::string& idl, Diagnostics& diagnostics)
{
    const std::string other = generated_from(path);
    std::error_code ignored;
    if (other.empty() || !fs::exists(other, ignored) || is_same(other, idl)) return true;
    diagnostics.error({.line = 0}, "'" + path.string() + "' was generated from '" + other +
                                       "'; --root keeps the folders of IDL files apart");
    return false;
}

void collect_names(const Declarations& declarations, std::unordered_set<std::string>& names)
{
    for (const Declaration* declaration : declarations) {
        names.insert(declaration->name);
        if (const auto* module = as<Module>(declaration))
            collect_names(module->declarations, names);
        if (const auto* interface = as<Interface>(declaration))
            collect_names(interface->declarations, names);
        if (const auto* composite = as<Struct>(declaration))
            collect_names(composite->declarations, names);
        if (const auto* value = as<ValueType>(declaration))
            collect_names(value->declarations, names);
        if (const auto* united = as<Union>(declaration)) collect_names(united->declarations, names);
        if (const auto* enumeration = as<Enum>(declaration))
            for (const Enumerator* enumerator : enumeration->enumerators)
                names.insert(enumerator->name);
    }
}

void name_operation_scopes(Source& source)
{
    std::unordered_set<std::string> taken;
    for (const Interface* interface : all_of<Interface>(source)) {
        std::string name = flat_name(*interface) + "_operations";
        for (int number = 2; !taken.insert(name).second; ++number)
            name = flat_name(*interface) + "_operations" + std::to_string(number);
        source.operation_scopes.emplace(interface, name);
    }
}

/// What the profile says about the unit, as the emitters ask for it.
std::string choose_by_profile(Source& source, const Profile& profile, Diagnostics& diagnostics)
{
    const ProfileChoices choices = choose(source, profile);
    for (const Choice& choice : choices.list)
        source.chosen.emplace(std::pair(choice.declaration, choice.wire_name), choice.engine);
    const Location file{.line = 0};
    const auto budget = source.options.code_budget;
    if (budget && choices.bytes > std::int64_t{*budget})
        diagnostics.warning(file, "about " + std::to_string(choices.bytes) +
                                      " bytes are needed at least; the budget is " +
                                      std::to_string(*budget));
    if (const std::size_t unknown = choices.unknown_entries; unknown != 0)
        diagnostics.note(file, std::to_string(unknown) +
                                   (unknown == 1 ? " entry of the profile names"
                                                 : " entries of the profile name") +
                                   " nothing in it");
    return table_of(source, choices);
}

const Type& void_type()
{
    static const Type type{};
    return type;
}

} // namespace

std::string generated_name(const std::string& idl_path, const Options& options,
                           std::string_view suffix)
{
    const fs::path stem = fs::path(idl_path).stem();
    const fs::path folder =
        options.root.empty() ? fs::path() : folder_below(options.root, idl_path);
    return (folder / stem).string() + std::string(suffix);
}

bool emit(const Unit& unit, const std::vector<Timing>& timings, const Options& options,
          Diagnostics& diagnostics, std::string& choices)
{
    if (!check_supported(unit, diagnostics)) return false;
    check_marshal_annotations(unit, diagnostics);
    Source source{unit, options};
    for (const Timing& timing : timings)
        source.timings.emplace(timing.operation, &timing);
    collect_names(unit.declarations, source.declared_names);
    name_operation_scopes(source);
    if (options.profile != nullptr)
        choices = choose_by_profile(source, *options.profile, diagnostics);
    check_names(source, diagnostics);
    const std::vector<File> files = generate(source, diagnostics);
    if (diagnostics.error_count() != 0) return false;

    const fs::path directory = options.output_directory;
    std::error_code failed;
    fs::create_directories(directory, failed);
    for (const File& file : files)
        if (!may_write(directory / file.name, unit.files[0].path, diagnostics)) return false;
    for (const File& file : files)
        if (!write(directory / file.name, file.text, diagnostics)) return false;
    return options.depfile.empty() ||
           write(options.depfile, depfile_text(unit, options, files, directory), diagnostics);
}

namespace {

/// For a parameter whose own name would hide a declaration's: one that generated code does not
/// have.
std::string unhiding_name(const std::string& name)
{
    constexpr std::string_view used[] = {"result",    "call",   "upcall",  "context",
                                         "reference", "direct", "servant", "timed"};
    const bool taken = std::ranges::find(used, name) != std::end(used);
    return "_" + name + (taken ? "_" : "");
}

} // namespace

std::vector<Call> calls_of(const Source& source, const Declaration& declaration)
{
    std::vector<Call> calls;
    if (const auto* operation = as<Operation>(&declaration)) {
        calls.push_back({.declaration = operation,
                         .wire_name = operation->name,
                         .result = operation->result,
                         .parameters = operation->parameters,
                         .raises = operation->raises,
                         .oneway = operation->oneway,
                         .context = operation->context});
    } else if (const auto* attribute = as<Attribute>(&declaration)) {
        calls.push_back({.declaration = attribute,
                         .wire_name = "_get_" + attribute->name,
                         .result = attribute->type,
                         .raises = attribute->get_raises});
        if (!attribute->readonly)
            calls.push_back({.declaration = attribute,
                             .wire_name = "_set_" + attribute->name,
                             .result = &void_type(),
                             .parameters = {{.name = "value", .type = attribute->type}},
                             .raises = attribute->set_raises});
    }
    for (Call& call : calls)
        for (const Parameter& parameter : call.parameters) {
            const bool hides = source.declared_names.contains(parameter.name);
            call.locals.push_back(hides ? unhiding_name(parameter.name)
                                        : identifier(parameter.name));
        }
    return calls;
}

std::string operation_constant(const Call& call)
{
    const std::string& name = call.declaration->name;
    if (call.wire_name.starts_with("_get_")) return name + "_getter";
    if (call.wire_name.starts_with("_set_")) return name + "_setter";
    return name + "_op";
}

std::string operation_initialiser(const Call& call)
{
    return "{" + string_literal(call.wire_name) +
           ", ::kairos::orb::Response::" + (call.oneway ? "none" : "required") + ", " +
           (call.raises.empty() ? "{}" : operation_constant(call) + "_raises") + "}";
}

std::string operation_reference(const Source& source, const Call& call)
{
    return source.operation_scopes.at(&call.interface()) + "::" + operation_constant(call);
}

std::string parameter_list(const Call& call)
{
    std::string list;
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        list += (list.empty() ? "" : ", ") + parameter_type(*parameter.type, parameter.direction) +
                " " + call.locals[i];
    }
    if (!call.context.empty())
        list += std::string(list.empty() ? "" : ", ") + "::CORBA::Context_ptr _context";
    return list;
}

std::string exported(const Source& source)
{
    return source.options.export_macro.empty() ? "" : source.options.export_macro + " ";
}

std::string bound_argument(const Type& type)
{
    const std::uint64_t bound = string_bound(type);
    return bound == 0 ? "" : ", " + std::to_string(bound);
}

} // namespace kairos::idlc
