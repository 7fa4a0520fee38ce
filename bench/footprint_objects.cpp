// SPDX-License-Identifier: Apache-2.0
//
// From an IDL file to the sizes of what is compiled from it, for the footprint experiment.
#include "bench/footprint.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace kairos::bench {
namespace {

using std::filesystem::path;

std::vector<std::string> compile_command(const Toolchain& tools, const path& folder,
                                         const std::string& level)
{
    return {tools.cxx,
            "-std=c++20",
            level,
            "-DNDEBUG",
            "-w",
            "-fPIC",
            "-I" + folder.string(),
            "-I" + tools.include.string(),
            "-I" + tools.generated.string(),
            "-c"};
}

Result<ObjectFile> compile(const Toolchain& tools, const path& source, const std::string& level)
{
    const path object = source.string() + level + ".o";
    std::vector<std::string> command = compile_command(tools, source.parent_path(), level);
    command.insert(command.end(), {"-o", object.string(), source.string()});
    if (auto compiled = run_tool(command); !compiled) return compiled.error();
    return read_object_file(object);
}

/// The files that an IDL file includes and that are found beside it, for which headers are needed.
std::set<path> included(const path& idl, const std::vector<path>& directories)
{
    std::set<path> found;
    std::vector<path> waiting{idl};
    const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    while (!waiting.empty()) {
        std::ifstream file(waiting.back());
        waiting.pop_back();
        for (std::string line; std::getline(file, line);) {
            std::smatch match;
            if (!std::regex_search(line, match, include)) continue;
            for (const path& directory : directories)
                if (const path candidate = directory / match[1].str();
                    std::filesystem::exists(candidate) && candidate != idl &&
                    found.insert(candidate).second)
                    waiting.push_back(candidate);
        }
    }
    return found;
}

/// Which operation a call descriptor of omniORB's serves: `_0RL_cd_… _call_desc(_0RL_lcfn_…, "op"`.
std::map<std::string, std::string> descriptors_in(const path& source)
{
    std::ifstream file(source);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::regex use(R"((_0RL_cd_\w+) _call_desc\((_0RL_lcfn_\w+), "(\w+)\")");
    std::map<std::string, std::string> operation_of;
    for (std::sregex_iterator at(text.begin(), text.end(), use), end; at != end; ++at) {
        operation_of.emplace((*at)[1], (*at)[3]);
        operation_of.emplace((*at)[2], (*at)[3]);
    }
    return operation_of;
}

Result<GeneratedObjects> generate_omniorb(const Toolchain& tools, const path& folder,
                                          const path& idl, const std::vector<path>& directories,
                                          const CodeVariant& variant)
{
    std::vector<std::string> command{tools.omniidl, "-bcxx", "-C" + folder.string()};
    for (const path& directory : directories)
        command.push_back("-I" + directory.string());
    if (variant.any) command.emplace_back("-Wba");
    // The OMG's services include it for DLLs of Windows; it is in a package of its own.
    std::ofstream(folder / "COS_sysdep.h") << "#pragma once\n";
    std::set<path> sources = included(idl, directories);
    sources.insert(idl);
    for (const path& source : sources) {
        std::vector<std::string> one = command;
        one.push_back(source.string());
        if (auto generated = run_tool(one); !generated) return generated.error();
    }
    const path stubs = folder / (idl.stem().string() + "SK.cc");
    auto object = compile(tools, stubs, variant.level);
    if (!object) return object.error();
    GeneratedObjects objects{std::move(*object), {}, descriptors_in(stubs)};
    if (variant.any) {
        auto dynamic = compile(tools, folder / (idl.stem().string() + "DynSK.cc"), variant.level);
        if (!dynamic) return dynamic.error();
        objects.skeletons = std::move(*dynamic);
    }
    return objects;
}

Result<GeneratedObjects> generate_kairos(const Toolchain& tools, const path& folder,
                                         const path& idl, const std::vector<path>& directories,
                                         const CodeVariant& variant)
{
    std::vector<std::string> command{tools.kairos_idl.string(), "-o", folder.string()};
    for (const path& directory : directories)
        command.insert(command.end(), {"-I", directory.string()});
    if (!variant.any) command.emplace_back("--no-any");
    if (variant.kind == CodeKind::interpretive) command.emplace_back("--marshal=interpretive");
    for (const path& source : included(idl, directories))
        command.push_back(source.string());
    command.push_back(idl.string());
    if (auto generated = run_tool(command); !generated) return generated.error();
    auto stubs = compile(tools, folder / (idl.stem().string() + ".cpp"), variant.level);
    if (!stubs) return stubs.error();
    auto skeletons = compile(tools, folder / (idl.stem().string() + "_skel.cpp"), variant.level);
    if (!skeletons) return skeletons.error();
    return GeneratedObjects{std::move(*stubs), std::move(*skeletons), {}};
}

} // namespace

std::string CodeVariant::system() const { return kind == CodeKind::omniorb ? "omniorb" : "kairos"; }

std::string CodeVariant::description() const
{
    return fmt::format("{}, {}{}", kind == CodeKind::interpretive ? "interpretive" : "compiled",
                       level, any ? ", with Any" : "");
}

Result<GeneratedObjects> generate_objects(const Toolchain& tools, const path& work, const path& idl,
                                          const std::vector<path>& included_from,
                                          const CodeVariant& variant)
{
    const path folder =
        work / fmt::format("{}-{}{}{}", idl.stem().string(), static_cast<int>(variant.kind),
                           variant.level, variant.any ? "-any" : "");
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) return Error{ErrorCode::system, folder.string() + " cannot be made"};
    return variant.kind == CodeKind::omniorb
               ? generate_omniorb(tools, folder, idl, included_from, variant)
               : generate_kairos(tools, folder, idl, included_from, variant);
}

LinkedSize linked_size(const GeneratedObjects& objects)
{
    LinkedSize size;
    std::set<std::string> kept;
    for (const ObjectFile* object : {&objects.stubs, &objects.skeletons}) {
        size.unwind += object->unwind_bytes;
        // Within one object file a name may stand for several pieces: those all count.
        std::set<std::string> here;
        for (const ObjectSymbol& symbol : object->symbols) {
            if (symbol.shared && kept.contains(symbol.name)) continue;
            if (symbol.shared) here.insert(symbol.name);
            (symbol.code ? size.code : size.constants) += symbol.bytes;
        }
        kept.merge(here);
    }
    return size;
}

} // namespace kairos::bench
