// SPDX-License-Identifier: Apache-2.0
//
// kairos-idl: the command line of the IDL compiler, and the one place that knows all back ends.
// Exit status 0 when all is well, 1 after errors in the IDL, 2 after errors in the command line.
#include "idlc/backend.h"
#include "idlc/command/omniidl.h"
#include "idlc/command/tao_command_line.h"
#include "idlc/cpp/backend.h"
#include "idlc/frontend.h"
#include "idlc/json/backend.h"
#include "idlc/options.h"
#include "packaging/option_model.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using kairos::idlc::BackEnd;
using kairos::idlc::Compilation;
using kairos::idlc::Options;
using kairos::idlc::OutputOptions;
using kairos::idlc::Outputs;

constexpr int exit_good = 0;
constexpr int exit_errors = 1;
constexpr int exit_usage = 2;

struct BackEndOptions {
    std::unique_ptr<BackEnd> back_end;
    std::vector<CLI::Option*> options; ///< those that it alone understands
};

/// What the command line says, and who takes part.
struct Command {
    Options options;
    OutputOptions outputs;
    std::vector<BackEndOptions> back_ends;
    std::string chosen = "cpp";

    [[nodiscard]] BackEnd& back_end() const
    {
        const auto found = std::ranges::find(
            back_ends, chosen, [](const BackEndOptions& each) { return each.back_end->name(); });
        return *found->back_end; // --backend takes no other name
    }
};

/// One argument per option: `-I dir file.idl` must not take the file for a directory.
void each(CLI::Option* option, const char* type)
{
    option->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
}

void add_input_options(CLI::App& app, Options& options)
{
    app.set_version_flag("--version", "kairos-idl " KAIROS_VERSION);
    app.add_option("files", options.files, "IDL files")->required()->type_name("FILE");
    each(app.add_option("-I", options.include_directories, "Search included files in DIR"), "DIR");
    each(app.add_option("-D", options.defines, "Define a preprocessor macro"), "NAME[=VALUE]");
    each(app.add_option("-U", options.undefines, "Undefine a preprocessor macro"), "NAME");
    app.add_flag("-E", options.preprocess_only, "Print the preprocessed text and stop");
    app.add_flag("--check", options.check_only, "Only check, write nothing");
    app.add_flag("--ami", options.ami,
                 "Generate asynchronous calls, too: sendc_ and sendp_ operations, and the reply "
                 "handlers and pollers that they imply (CORBA Messaging)");
    app.add_flag("--amh", options.amh,
                 "Generate servants that answer later, too: POA_M::AMH_I of M::I, whose operations "
                 "are given a response handler (AMH, as TAO has it)");
    app.add_flag("--async", options.async,
                 "Generate calls that C++20 coroutines await, too: co_await "
                 "object->async().operation(arguments); and servants whose operations are "
                 "coroutines: POA_M::Async_I of M::I");
    app.add_flag("--run-time", options.of_run_time,
                 "Generate what Kairos declares itself, too: for building Kairos");
}

void add_output_options(CLI::App& app, OutputOptions& outputs)
{
    app.add_option("-o,--output-dir", outputs.directory, "Write generated files to DIR")
        ->type_name("DIR");
    app.add_option(
           "--root", outputs.root,
           "Keep the folders between DIR and an IDL file in the names of what is generated: "
           "DIR/a/foo.idl becomes a/foo.h")
        ->type_name("DIR");
    each(app.add_option("--with", outputs.root_files,
                        "Of what is included, FILE is generated with the same --root; without this "
                        "option all that is below DIR is")
             ->needs("--root"),
         "FILE");
    app.add_option("--depfile", outputs.depfile, "Write a make rule of what was read to FILE")
        ->type_name("FILE");
}

void add_back_ends(CLI::App& app, Command& command)
{
    command.back_ends.push_back({std::make_unique<kairos::idlc::CppBackEnd>(), {}});
    command.back_ends.push_back({std::make_unique<kairos::idlc::JsonBackEnd>(), {}});
    std::vector<std::string> names;
    names.reserve(command.back_ends.size());
    for (const BackEndOptions& each : command.back_ends)
        names.emplace_back(each.back_end->name());
    app.add_option("--backend", command.chosen,
                   "What to generate: C++ (cpp), or what the IDL says as JSON for tools (json)")
        ->check(CLI::IsMember(names))
        ->type_name("NAME");
    for (BackEndOptions& each : command.back_ends) {
        const std::vector<CLI::Option*> before = app.get_options();
        each.back_end->add_options(app);
        each.options = app.get_options();
        std::erase_if(each.options, [&](const CLI::Option* option) {
            return std::ranges::find(before, option) != before.end();
        });
    }
}

/// An option of a back end that was not chosen would silently do nothing.
bool check_back_end_options(const Command& command)
{
    for (const BackEndOptions& each : command.back_ends)
        for (const CLI::Option* option : each.options) {
            if (each.back_end->name() == command.chosen || option->count() == 0) continue;
            std::fprintf(stderr, "kairos-idl: %s is an option of --backend=%s\n",
                         option->get_name().c_str(), std::string(each.back_end->name()).c_str());
            return false;
        }
    return true;
}

void add_options(CLI::App& app, Command& command)
{
    add_input_options(app, command.options);
    add_output_options(app, command.outputs);
    add_back_ends(app, command);
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

/// What the back end makes of what was compiled.
bool generate(Compilation& compilation, const Command& command)
{
    Outputs outputs(command.outputs, compilation.unit());
    command.back_end().run({compilation.unit(), compilation.timings()}, outputs,
                           compilation.diagnostics());
    if (compilation.diagnostics().error_count() != 0 ||
        !outputs.write(command.back_end(), compilation.diagnostics()))
        return false;
    std::fwrite(outputs.told().data(), 1, outputs.told().size(), stdout);
    return true;
}

bool process(const std::string& path, const Command& command)
{
    Compilation compilation(command.options);
    bool good = false;
    if (command.options.preprocess_only) {
        std::string text;
        good = compilation.preprocess_file(path, text);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } else {
        good = compilation.compile_file(path);
        if (good && !command.options.check_only) good = generate(compilation, command);
    }
    show(compilation.diagnostics());
    return good;
}

/// Whether nothing else on the command line becomes files of the same names. False is reported.
bool is_alone(const std::string& path, const Command& command)
{
    const auto name_of = [&command](const std::string& file) {
        return kairos::idlc::generated_name(file, command.outputs, {});
    };
    const std::string& same =
        *std::ranges::find(command.options.files, name_of(path), name_of); // itself at least
    if (same == path) return true;
    std::fprintf(stderr,
                 "kairos-idl: what '%s' becomes would be overwritten by what '%s' does; "
                 "--root keeps their folders apart\n",
                 same.c_str(), path.c_str());
    return false;
}

/// The arguments, in the order that CLI11 wants: the last one first. Returns whether there are any
/// that it may have; false is reported.
bool take_arguments(int argc, char** argv, std::vector<std::string>& arguments)
{
    arguments.assign(argv + std::min(argc, 1), argv + argc);
    if (argc > 0 && kairos::idlc::is_omniidl(argv[0])) {
        kairos::idlc::OmniidlTranslation ours = kairos::idlc::from_omniidl(arguments);
        if (!ours.refusal.empty()) {
            std::fprintf(stderr, "omniidl (kairos-idl): %s\n", ours.refusal.c_str());
            return false;
        }
        arguments = std::move(ours.arguments);
    }
    if (argc > 0 && kairos::idlc::is_tao_idl(argv[0])) {
        auto ours = kairos::idlc::translate_tao_idl(arguments);
        if (!ours.error.empty()) {
            std::fprintf(stderr, "tao_idl (kairos-idl): %s\n", ours.error.c_str());
            return false;
        }
        arguments = std::move(ours.arguments);
    }
    std::ranges::reverse(arguments);
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    std::vector<std::string> arguments;
    if (!take_arguments(argc, argv, arguments)) return exit_usage;
    CLI::App app("Compiles OMG IDL to C++ for Kairos.", "kairos-idl");
    Command command;
    add_options(app, command);
    Options& options = command.options;
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_good : exit_usage;
    }
    if (!check_back_end_options(command) || !check_macros(options)) return exit_usage;
    add_installed_directory(options);
    if (!command.outputs.depfile.empty() && options.files.size() != 1) {
        std::fputs("kairos-idl: --depfile is for one IDL file at a time\n", stderr);
        return exit_usage;
    }
    if (!command.back_end().prepare(show)) return exit_errors;
    const bool writes = !options.check_only && !options.preprocess_only;
    bool good = true;
    for (const std::string& path : options.files)
        good = (!writes || is_alone(path, command)) && process(path, command) && good;
    return good ? exit_good : exit_errors;
}
