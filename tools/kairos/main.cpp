// SPDX-License-Identifier: Apache-2.0
//
// `kairos`, the command-line tool: what people who run the ORB do daily.
#include "kairos/base/shown.h"
#include "packaging/option_model.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// The -ORB… options go to ORB_init as they are: the parser would take them for
/// many of one letter. Leaves the other arguments.
std::vector<std::string> take_orb_options(int& argc, char** argv)
{
    std::vector<std::string> options;
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with("-ORB")) {
            argv[kept++] = argv[i];
            continue;
        }
        options.emplace_back(argument);
        if (argument.find('=') == std::string_view::npos && i + 1 < argc)
            options.emplace_back(argv[++i]);
    }
    argv[kept] = nullptr;
    argc = kept;
    return options;
}

/// The commands that are programs of an ORB.
bool takes_orb_options(int argc, char** argv)
{
    const std::string_view command = argc > 1 ? argv[1] : "";
    return command == "call" || command == "describe" || command == "browse" ||
           command == "names" || command == "naming" || command == "gateway" || command == "ifr" ||
           command == "ping" || command == "scheduler" || command == "events" ||
           command == "property" || command == "trade" || command == "notify" || command == "log" ||
           command == "rtevents";
}

/// An option whose name is asked for is no option of the tool.
void take_dashes(int argc, char** argv)
{
    for (int i = 2; i < argc; ++i)
        if (std::string_view(argv[i]).starts_with("-ORB")) ++argv[i];
}

/// The parser would take an array of JSON apart, unless it begins with a space.
std::vector<std::string> protect_arrays(int argc, char** argv)
{
    std::vector<std::string> arrays;
    arrays.reserve(static_cast<std::size_t>(argc));
    for (int i = 2; i < argc; ++i)
        if (argv[i][0] == '[') argv[i] = arrays.emplace_back(" " + std::string(argv[i])).data();
    return arrays;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("The command-line tool of the Kairos ORB.", "kairos");
    app.set_version_flag("--version", KAIROS_VERSION);
    app.require_subcommand(1);
    int status = 0;
    std::vector<std::string> orb_options;
    if (takes_orb_options(argc, argv)) orb_options = take_orb_options(argc, argv);
    if (argc > 1 && std::string_view(argv[1]) == "options") take_dashes(argc, argv);
    std::vector<std::string> arrays;
    if (argc > 1 && std::string_view(argv[1]) == "call") arrays = protect_arrays(argc, argv);
    kairos::tools::add_reference_commands(app, orb_options, status);
    kairos::tools::add_call_commands(app, orb_options, status);
    kairos::tools::add_browse_command(app, orb_options, status);
    kairos::tools::add_events_command(app, orb_options, status);
    kairos::tools::add_gateway_command(app, orb_options, status);
    kairos::tools::add_log_command(app, orb_options, status);
    kairos::tools::add_naming_command(app, orb_options, status);
    kairos::tools::add_notify_command(app, orb_options, status);
    kairos::tools::add_property_command(app, orb_options, status);
    kairos::tools::add_repository_command(app, orb_options, status);
    kairos::tools::add_names_command(app, orb_options, status);
    kairos::tools::add_rtevents_command(app, orb_options, status);
    kairos::tools::add_sched_command(app, status);
    kairos::tools::add_scheduler_command(app, orb_options, status);
    kairos::tools::add_trade_command(app, orb_options, status);
    kairos::tools::add_bench_command(app, status);
    kairos::tools::add_report_command(app, status);
    kairos::tools::add_certs_command(app, status);
    kairos::tools::add_access_command(app, status);
    kairos::tools::add_users_command(app, status);
    kairos::tools::add_count_command(app, status);
    kairos::tools::add_options_command(app, status);
    app.footer("Exit status: 0 for success, 1 for failure, 2 for wrong arguments.");
    kairos::packaging::add_option_model_flag(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& wrong) {
        app.exit(wrong); // prints what is wrong; its own numbers for it mean
                         // nothing to users
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "kairos: " << kairos::shown(failure.what()) << '\n';
        return 1;
    }
    return status;
}
