// SPDX-License-Identifier: Apache-2.0
//
// Part of the footprint experiment: the hello example linked with Kairos and with omniORB, and the
// libraries behind it.
#include "bench/footprint.h"

#include "bench/process.h"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace kairos::bench {
namespace {

using std::filesystem::path;

constexpr std::array<const char*, 2> programs{"client", "server"};

/// The libraries that programs link.
std::vector<path> libraries_in(const path& folder, const std::string& extension)
{
    std::vector<path> found;
    for (const char* name :
         {"kairos-nameserver", "kairos-services", "kairos-realtime", "kairos-dynamic", "kairos"}) {
        const path library = folder / ("lib" + (name + extension));
        std::error_code ignored;
        if (std::filesystem::exists(library, ignored)) found.push_back(library);
    }
    return found;
}

/// A C++ library as the compiler finds it; empty when it is not installed.
path system_library(const Toolchain& tools, const std::string& name)
{
    const auto remains = run_to_end({.command = {tools.cxx, "-print-file-name=" + name},
                                     .environment = {},
                                     .cpu = {},
                                     .inherited_descriptor = -1},
                                    std::chrono::seconds(30));
    if (!remains || remains->output.empty() || remains->output[0] != '/') return {};
    return remains->output.substr(0, remains->output.find('\n'));
}

Row row_of(const std::string& system, const std::string& variant, const std::string& what)
{
    Row row;
    row.system = system;
    row.variant = variant;
    row.payload_type = what;
    row.side = "program";
    return row;
}

/// A linked file by what of it is loaded; stripped already.
Row measured(Row row, const path& file)
{
    const auto object = read_object_file(file);
    std::error_code failure;
    const auto bytes = std::filesystem::file_size(file, failure);
    if (!object || failure) {
        row.status = object ? "cannot be read" : object.error().reason;
        return row;
    }
    const LinkedSize size = linked_size({*object, {}, {}});
    row.set("code_bytes", static_cast<double>(size.code));
    row.set("table_bytes", static_cast<double>(size.constants));
    row.set("total_bytes", static_cast<double>(size.total()));
    row.set("unwind_bytes", static_cast<double>(size.unwind));
    row.set("file_bytes", static_cast<double>(bytes));
    return row;
}

/// The example against one ORB: where its generated code is and what it is linked with.
struct Example {
    std::string system;
    path folder;
    std::vector<std::string> sources; ///< generated
    std::vector<path> libraries;
};

/// The example in the part of the mapping that every ORB has: what() is Kairos' own.
Result<path> portable_source(const Toolchain& tools, const Example& example,
                             const std::string& program)
{
    std::ifstream original(tools.hello / (program + ".cpp"));
    std::string text((std::istreambuf_iterator<char>(original)), {});
    const std::string ours = "exception.what()";
    if (const std::size_t at = text.find(ours); at != std::string::npos)
        text.replace(at, ours.size(), "exception._name()");
    path copy = example.folder / (program + "-portable.cpp");
    if (auto written = write_file(copy.string(), text); !written) return written.error();
    return copy;
}

/// Links the client, the server, or a shared "library" of everything in the static ones.
Row linked(const Toolchain& tools, const Example& example, const std::string& program,
           const std::string& variant)
{
    const path output = example.folder / (program + "-linked");
    std::vector<std::string> command{tools.cxx,
                                     "-std=c++20",
                                     "-O2",
                                     "-DNDEBUG",
                                     "-w",
                                     "-s",
                                     "-ffunction-sections",
                                     "-fdata-sections",
                                     "-pthread",
                                     "-Wl,--gc-sections",
                                     "-I" + example.folder.string(),
                                     "-I" + tools.include.string(),
                                     "-I" + tools.generated.string(),
                                     "-o",
                                     output.string()};
    if (program == "library") {
        command.insert(command.end(), {"-shared", "-fPIC", "-Wl,--whole-archive"});
    } else {
        const auto source = portable_source(tools, example, program);
        command.push_back(source ? source->string() : std::string{});
        for (const std::string& generated : example.sources)
            if (program == "server" || generated.find("_skel") == std::string::npos)
                command.push_back((example.folder / generated).string());
        command.emplace_back("-Wl,--start-group");
    }
    for (const path& library : example.libraries)
        command.push_back(library.string());
    command.emplace_back(program == "library" ? "-Wl,--no-whole-archive" : "-Wl,--end-group");
    const std::string what = program == "library" ? "libraries" : "hello " + program;
    Row row = row_of(example.system, variant, what);
    if (auto done = run_tool(command); !done) {
        row.status = done.error().reason.substr(0, 120);
        return row;
    }
    return measured(std::move(row), output);
}

Result<Example> kairos_example(const Toolchain& tools, const path& work)
{
    Example example{"kairos",
                    work / "hello-kairos",
                    {"hello.cpp", "hello_skel.cpp"},
                    libraries_in(tools.libraries, ".a")};
    std::filesystem::create_directories(example.folder);
    if (example.libraries.empty())
        return Error{ErrorCode::not_found, "no static libraries in " + tools.libraries.string()};
    auto generated = run_tool({tools.kairos_idl.string(), "-o", example.folder.string(),
                               (tools.hello / "hello.idl").string()});
    if (!generated) return generated.error();
    return example;
}

Result<Example> omniorb_example(const Toolchain& tools, const path& work)
{
    Example example{
        "omniorb",
        work / "hello-omniorb",
        {"helloSK.cc"},
        {system_library(tools, "libomniORB4.a"), system_library(tools, "libomnithread.a")}};
    std::filesystem::create_directories(example.folder);
    if (tools.omniidl.empty() || example.libraries[0].empty() || example.libraries[1].empty())
        return Error{ErrorCode::not_found, "not installed"};
    auto generated = run_tool({tools.omniidl, "-bcxx", "-C" + example.folder.string(),
                               (tools.hello / "hello.idl").string()});
    if (!generated) return generated.error();
    for (const char* header : {"hello.h", "hello_skel.h"})
        std::ofstream(example.folder / header) << "#include \"hello.hh\"\n";
    return example;
}

void add_static(Report& report, const Toolchain& tools, const Result<Example>& example,
                const std::string& system)
{
    const std::string variant = "linked statically";
    if (!example) {
        report.rows.push_back(row_of(system, variant, "hello"));
        report.rows.back().status = example.error().reason;
        return;
    }
    for (const char* program : programs) {
        report.rows.push_back(linked(tools, *example, program, variant));
    }
}

} // namespace

Result<void> add_programs(Report& report, const FootprintOptions& options, const Toolchain& tools,
                          const path& work)
{
    options.progress(0.85, "a minimal client and server");
    const auto kairos = kairos_example(tools, work);
    add_static(report, tools, kairos, "kairos");
    if (kairos) report.rows.push_back(linked(tools, *kairos, "library", "one shared library"));
    for (const path& library : libraries_in(tools.libraries, ".so"))
        report.rows.push_back(
            measured(row_of("kairos", "as installed", library.filename().string()), library));

    options.progress(0.95, "a minimal client and server of omniORB");
    add_static(report, tools, omniorb_example(tools, work), "omniorb");
    for (const char* name : {"libomniORB4.so", "libomnithread.so"})
        if (const path library = system_library(tools, name); !library.empty())
            report.rows.push_back(measured(row_of("omniorb", "as installed", name), library));
    return {};
}

} // namespace kairos::bench
