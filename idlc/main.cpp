// SPDX-License-Identifier: Apache-2.0
//
// kairos-idl: the command line of the IDL compiler. Exit status 0 when all is well, 1 after errors
// in the IDL, 2 after errors in the command line.
#include "idlc/frontend.h"
#include "idlc/options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace {

using kairos::idlc::Compilation;
using kairos::idlc::Options;
using kairos::idlc::Unit;

constexpr int exit_good = 0;
constexpr int exit_errors = 1;
constexpr int exit_usage = 2;

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

/// Where the back end takes over.
bool emit(const Unit& unit, const Options& options, kairos::idlc::Diagnostics& diagnostics)
{
    static_cast<void>(unit);
    static_cast<void>(options);
    return diagnostics.error_count() == 0;
}

bool process(const std::string& path, const Options& options)
{
    Compilation compilation(options);
    bool good = false;
    if (options.preprocess_only) {
        std::string text;
        good = compilation.preprocess_file(path, text);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else {
        good = compilation.compile_file(path);
        if (good && !options.check_only)
            good = emit(compilation.unit(), options, compilation.diagnostics());
    }
    const bool colour = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    const std::string report = compilation.diagnostics().render(colour);
    std::fwrite(report.data(), 1, report.size(), stderr);
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
    bool good = true;
    for (const std::string& path : options.files)
        good = process(path, options) && good;
    return good ? exit_good : exit_errors;
}
