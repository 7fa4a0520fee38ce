// SPDX-License-Identifier: Apache-2.0
#include "idlc/cpp/options.h"

#include <CLI/CLI.hpp>

#include <map>

namespace kairos::idlc {
namespace {

/// The names of generated files: a whole style, and single suffixes that override it.
void add_naming_options(CLI::App& app, CppOptions& options)
{
    const auto apply = [&options](const std::string& style) {
        options.tao = style == "tao";
        if (options.tao) {
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

void add_marshal_options(CLI::App& app, CppOptions& options)
{
    const std::map<std::string, Engine> engines{{"compiled", Engine::compiled},
                                                {"interpretive", Engine::interpretive}};
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

void add_operation_option(CLI::App& app, CppOptions& options)
{
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

} // namespace

void add_cpp_options(CLI::App& app, CppOptions& options)
{
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
    app.add_option("--include", options.header_includes,
                   "Include FILE in the header: where native types are defined")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_flag("--smart-proxies", options.smart_proxies,
                 "Have references narrowed through factories of the program's, as TAO's -Gsp does");
    app.add_flag_callback(
        "--no-any", [&options] { options.any = false; },
        "Generate no TypeCodes and no operators of Any");
}

} // namespace kairos::idlc
