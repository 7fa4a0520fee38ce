// SPDX-License-Identifier: Apache-2.0
//
// The sub-commands of the `kairos` tool, one file each. A command adds itself to the parser and,
// when it was chosen, runs and leaves the exit status: 0 for success, 1 for failure, 2 for wrong
// arguments.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kairos::tools {

/// What --help says at the end of commands that are programs of an ORB.
constexpr const char* orb_options_footer =
    "Options of the ORB: -ORBName VALUE and -ORBName=VALUE may stand anywhere behind the command; "
    "`kairos options` prints them.";

/// `access`: files of rules who may call what.
void add_access_command(CLI::App& app, int& status);
void add_bench_command(CLI::App& app, int& status);
/// A page with objects, their names and interfaces, served until it is told to end.
void add_browse_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `call` and `describe`. `orb_options` are the -ORB… options of the command line, which must live
/// as long as the parser.
void add_call_commands(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `certs`: certificates for trying TLS out.
void add_certs_command(CLI::App& app, int& status);
void add_count_command(CLI::App& app, int& status);
void add_events_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `orb_options` are the -ORB… options of the command line, which must live as long as the parser.
void add_gateway_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_names_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_naming_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `notify`: notification channels, and what looks into them and uses them.
void add_notify_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_log_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_options_command(CLI::App& app, int& status);
void add_property_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `ifr`: an Interface Repository, and what fills and prints one.
void add_repository_command(CLI::App& app, const std::vector<std::string>& orb_options,
                            int& status);
/// `ior` and `ping`.
void add_reference_commands(CLI::App& app, const std::vector<std::string>& orb_options,
                            int& status);
/// What `bench` has measured, read again.
void add_report_command(CLI::App& app, int& status);
/// `rtevents`: real-time event channels, and what looks into them and uses them.
void add_rtevents_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_sched_command(CLI::App& app, int& status);
void add_scheduler_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
void add_trade_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status);
/// `users`: files of users and their passwords.
void add_users_command(CLI::App& app, int& status);

} // namespace kairos::tools
