// SPDX-License-Identifier: Apache-2.0
//
// Finding and running compilers.
#include "bench/toolchain.h"

#include "bench/process.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace kairos::bench {
namespace {

constexpr std::chrono::seconds compiler_patience{600};

/// The line that says what is wrong, not those that say where it was included from.
std::string first_complaint(const std::string& text)
{
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string line = text.substr(start, end - start);
        if (line.find("error") != std::string::npos) return line.substr(line.rfind('/') + 1);
        start = end + 1;
    }
    return text.substr(0, text.find('\n'));
}

std::string cxx()
{
    const char* wanted = std::getenv("CXX");
    if (wanted != nullptr && !find_program(wanted).empty()) return find_program(wanted);
    for (const char* name : {"g++", "c++", "clang++"})
        if (const std::string found = find_program(name); !found.empty()) return found;
    return {};
}

} // namespace

Result<Toolchain> find_toolchain(const std::filesystem::path& program_directory)
{
    const std::filesystem::path list = program_directory / "paths.txt";
    std::ifstream file(list);
    std::map<std::string, std::filesystem::path> paths;
    for (std::string name, path; file >> name && std::getline(file >> std::ws, path);)
        paths[name] = (program_directory / path).lexically_normal();
    Toolchain tools;
    for (const auto& [name, place] :
         {std::pair{"kairos-idl", &tools.kairos_idl}, std::pair{"include", &tools.include},
          std::pair{"generated", &tools.generated}, std::pair{"idl", &tools.idl},
          std::pair{"hello", &tools.hello}, std::pair{"libraries", &tools.libraries}}) {
        if (!paths.contains(name))
            return Error{ErrorCode::not_found, fmt::format("{} names no {}", list.string(), name)};
        *place = paths[name];
    }
    tools.cxx = cxx();
    if (tools.cxx.empty())
        return Error{ErrorCode::not_found,
                     "a C++ compiler is needed; neither g++ nor CXX is there"};
    tools.omniidl = find_program("omniidl");
    return tools;
}

Result<WorkFolder> WorkFolder::create()
{
    std::error_code failure;
    std::string name = (std::filesystem::temp_directory_path(failure) / "kairos-XXXXXX").string();
    if (failure || mkdtemp(name.data()) == nullptr)
        return Error{ErrorCode::system, "no folder can be made for the compiler's files", errno};
    return WorkFolder(name);
}

WorkFolder::~WorkFolder()
{
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<void> run_tool(const std::vector<std::string>& command)
{
    const auto remains =
        run_to_end({.command = command, .environment = {}, .cpu = {}, .inherited_descriptor = -1},
                   compiler_patience);
    if (!remains) return remains.error();
    if (remains->exit_status == 0) return {};
    return Error{ErrorCode::system,
                 fmt::format("{}: {}", std::filesystem::path(command[0]).filename().string(),
                             first_complaint(remains->errors + remains->output))};
}

} // namespace kairos::bench
