// SPDX-License-Identifier: Apache-2.0
//
// kairos-idl: the command line of the IDL compiler. Exit status 0 when all is well, 1 after errors
// in the IDL, 2 after errors in the command line.
#include "idlc/emit.h"
#include "idlc/frontend.h"
#include "idlc/options.h"
#include "idlc/profile.h"
#include "packaging/option_model.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <unistd.h>

namespace {

using kairos::idlc::Compilation;
using kairos::idlc::Options;

constexpr int exit_good = 0;
constexpr int exit_errors = 1;
constexpr int exit_usage = 2;

/// The names of generated files: a whole style, and single suffixes that override it.
void add_naming_options(CLI::App& app, Options& options)
{
    const auto apply = [&options](const std::string& style) {
        if (style == "tao") {
            options.header_suffix = "C.h", options.source_suffix = "C.cpp";
            options.skel_header_suffix = "S.h", options.skel_source_suffix = "S.cpp";
        } else if (style == "omniorb") {
            options.header_suffix = ".hh", options.source_suffix = "SK.cc";
            options.skel_header_suffix = "", options.skel_source_suffix = "DynSK.cc";
        }
    };
    app.add_option_function<std::string>("--style", apply, "Name files as this ORB does")
        ->check(CLI::IsMember({"kairos", "tao", "omniorb"}))
        ->trigger_on_parse(); // before the suffixes that follow it
    const auto suffix = [&app](const char* name, std::string& value, const char* what) {
        app.add_option(name, value, std::string("End of the name of the ") + what)
            ->type_name("SUFFIX")
            ->trigger_on_parse();
    };
    suffix("--header-suffix", options.header_suffix, "header");
    suffix("--source-suffix", options.source_suffix, "source file of the stubs");
    suffix("--skel-header-suffix", options.skel_header_suffix, "header of the skeletons");
    suffix("--skel-source-suffix", options.skel_source_suffix, "source file of the skeletons");
}

void add_marshal_options(CLI::App& app, Options& options)
{
    const std::map<std::string, kairos::idlc::Engine> engines{
        {"compiled", kairos::idlc::Engine::compiled},
        {"interpretive", kairos::idlc::Engine::interpretive}};
    app.add_option("--marshal", options.marshal,
                   "How code encodes and decodes where the IDL does not say: compiled (fast) or "
                   "interpretive (small)")
        ->transform(CLI::Transformer(engines).description("{compiled,interpretive}"))
        ->type_name("KIND");
    app.add_flag("--instrument", options.instrument,
                 "Generate code that measures marshalling for -ORBProfileTypes; all of it compiled")
        ->excludes("--marshal");
    app.add_option("--profile", options.profiles,
                   "Compile what FILE, written by -ORBProfileTypes, shows to be hot, interpret the "
                   "rest and print what was chosen; several files are added up")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)
        ->excludes("--marshal")
        ->excludes("--instrument");
    app.add_option("--code-budget", options.code_budget,
                   "For --profile: compile what saves most time within BYTES of object code")
        ->type_name("BYTES")
        ->needs("--profile");
}

void add_operation_option(CLI::App& app, Options& options)
{
    using kairos::idlc::OperationDemux;
    const std::map<std::string, OperationDemux> strategies{
        {"perfect", OperationDemux::perfect},
        {"hash", OperationDemux::hash},
        {"linear", OperationDemux::linear},
        {"delayered", OperationDemux::delayered}};
    app.add_option("--operation-demux", options.operation_demux,
                   "How skeletons find operations: perfect (hashing, constant time), hash (a table "
                   "made at run time), linear (search) or delayered (perfect, in a table that "
                   "object adapters look into when they find the object: -ORBDemux delayered)")
        ->transform(CLI::Transformer(strategies).description("{perfect,hash,linear,delayered}"))
        ->type_name("STRATEGY");
}

void add_options(CLI::App& app, Options& options)
{
    app.set_version_flag("--version", "kairos-idl " KAIROS_VERSION);
    app.add_option("files", options.files, "IDL files")->required()->type_name("FILE");
    const auto each = [](CLI::Option* option, const char* type) {
        // One argument per option: `-I dir file.idl` must not take the file for a directory.
        option->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
    };
    each(app.add_option("-I", options.include_directories, "Search included files in DIR"), "DIR");
    each(app.add_option("-D", options.defines, "Define a preprocessor macro"), "NAME[=VALUE]");
    each(app.add_option("-U", options.undefines, "Undefine a preprocessor macro"), "NAME");
    app.add_flag("-E", options.preprocess_only, "Print the preprocessed text and stop");
    app.add_flag("--check", options.check_only, "Only check, write nothing");
    app.add_option("-o,--output-dir", options.output_directory, "Write generated files to DIR")
        ->type_name("DIR");
    app.add_option(
           "--root", options.root,
           "Keep the folders between DIR and an IDL file in the names of what is generated: "
           "DIR/a/foo.idl becomes a/foo.h")
        ->type_name("DIR");
    each(app.add_option("--with", options.root_files,
                        "Of what is included, FILE is generated with the same --root; without this "
                        "option all that is below DIR is")
             ->needs("--root"),
         "FILE");
    add_naming_options(app, options);
    add_marshal_options(app, options);
    add_operation_option(app, options);
    app.add_option("--export-macro", options.export_macro,
                   "Put MACRO in front of what users of a shared library need, for libraries that "
                   "hide the rest")
        ->type_name("MACRO");
    app.add_option("--export-include", options.export_include,
                   "Include FILE, which defines that macro, in front of everything")
        ->type_name("FILE");
    each(app.add_option("--include", options.header_includes,
                        "Include FILE in the header: where native types are defined"),
         "FILE");
    app.add_flag_callback(
        "--no-any", [&options] { options.any = false; },
        "Generate no TypeCodes and no operators of Any");
    app.add_flag("--run-time", options.of_run_time,
                 "Generate what Kairos declares itself, too: for building Kairos");
    app.add_option("--depfile", options.depfile, "Write a make rule of what was read to FILE")
        ->type_name("FILE");
    app.footer("Exit status: 0 when all is well, 1 after errors in the IDL, 2 after errors in the "
               "command line.");
    kairos::packaging::add_option_model_flag(app);
}

/// A name that the preprocessor accepts; it would answer anything else with its own usage text.
bool is_macro(const std::string& text)
{
    const std::string name = text.substr(0, text.find('='));
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
    for (const char c : name)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    return true;
}

/// The OMG's IDL files are installed beside the compiler; they are searched last.
void add_installed_directory(Options& options)
{
    std::error_code failure;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
    if (failure) return;
    const auto directory = self.parent_path().parent_path() / KAIROS_IDL_SUBDIRECTORY;
    if (std::filesystem::is_directory(directory, failure))
        options.include_directories.push_back(directory.string());
}

bool check_macros(const Options& options)
{
    for (const auto* list : {&options.defines, &options.undefines})
        for (const std::string& macro : *list)
            if (!is_macro(macro)) {
                std::fprintf(stderr, "kairos-idl: '%s' is not the name of a macro\n",
                             macro.c_str());
                return false;
            }
    return true;
}

void show(const kairos::idlc::Diagnostics& diagnostics)
{
    const bool colour = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    const std::string report = diagnostics.render(colour);
    std::fwrite(report.data(), 1, report.size(), stderr);
}

bool process(const std::string& path, const Options& options)
{
    Compilation compilation(options);
    std::string choices;
    bool good = false;
    if (options.preprocess_only) {
        std::string text;
        good = compilation.preprocess_file(path, text);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else {
        good = compilation.compile_file(path);
        if (good && !options.check_only)
            good = kairos::idlc::emit(compilation.unit(), compilation.timings(), options,
                                      compilation.diagnostics(), choices);
    }
    if (good) std::fwrite(choices.data(), 1, choices.size(), stdout);
    show(compilation.diagnostics());
    return good;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Compiles OMG IDL to C++ for Kairos.", "kairos-idl");
    Options options;
    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_good : exit_usage;
    }
    if (!check_macros(options)) return exit_usage;
    add_installed_directory(options);
    if (!options.depfile.empty() && options.files.size() != 1) {
        std::fputs("kairos-idl: --depfile is for one IDL file at a time\n", stderr);
        return exit_usage;
    }
    kairos::idlc::ProfileFiles profiles;
    bool good = profiles.read(options.profiles);
    show(profiles.diagnostics());
    if (!good) return exit_errors;
    if (!options.profiles.empty()) options.profile = &profiles.profile();
    for (auto path = options.files.begin(); path != options.files.end(); ++path) {
        const std::string name = kairos::idlc::generated_name(*path, options, {});
        const auto same = std::find_if(options.files.begin(), path, [&](const std::string& other) {
            return kairos::idlc::generated_name(other, options, {}) == name;
        });
        if (same != path && *same != *path && !options.check_only && !options.preprocess_only) {
            std::fprintf(stderr,
                         "kairos-idl: what '%s' becomes would be overwritten by what '%s' does; "
                         "--root keeps their folders apart\n",
                         same->c_str(), path->c_str());
            good = false;
            continue;
        }
        good = process(*path, options) && good;
    }
    return good ? exit_good : exit_errors;
}
