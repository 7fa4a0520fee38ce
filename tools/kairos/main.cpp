// SPDX-License-Identifier: Apache-2.0
//
// `kairos`, the command-line tool: what people who run the ORB do daily.
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

int main(int argc, char** argv)
{
    CLI::App app("The command-line tool of the Kairos ORB.", "kairos");
    app.set_version_flag("--version", KAIROS_VERSION);
    app.require_subcommand(1);
    int status = 0;
    kairos::tools::add_reference_commands(app, status);
    kairos::tools::add_bench_command(app, status);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& wrong) {
        app.exit(wrong); // prints what is wrong; its own numbers for it mean nothing to users
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "kairos: " << failure.what() << '\n';
        return 1;
    }
    return status;
}
