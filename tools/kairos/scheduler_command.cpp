// SPDX-License-Identifier: Apache-2.0
//
// `kairos scheduler`: the Scheduling Service in the foreground, until it is told to end.
#include "kairos/base/shown.h"
#include "kairos/scheduler/service.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/sched_input.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>

namespace kairos::tools {
namespace {

struct SchedulerArguments {
    std::string endpoint;
    std::string policy;
    std::string tasks;
};

/// Nothing where there were errors, which have been printed.
std::optional<SchedInput> initial_set(const std::string& path)
{
    if (path.empty()) return SchedInput{};
    std::string errors;
    auto input = read_sched_input(path, {}, errors);
    fmt::print(stderr, "{}", shown_lines(errors));
    return input;
}

int serve(const SchedulerArguments& arguments, const std::vector<std::string>& orb_options)
{
    auto input = initial_set(arguments.tasks);
    if (!input) return 2;
    auto policy = input->policy.value_or(sched::Policy::rms);
    if (!arguments.policy.empty()) policy = *sched::policy_named(arguments.policy);
    const EndSignals signals;
    const CORBA::ORB_var orb =
        make_service_orb("kairos-scheduler", arguments.endpoint, {}, orb_options);
    {
        ServiceRun run(signals, orb.in(), [] {}); // asks nobody
        const scheduler::SchedulingService service(orb.in(), policy, std::move(input->set));
        const KairosScheduler::Scheduler_var scheduler = service.reference();
        const CORBA::String_var reference = orb->object_to_string(scheduler.in());
        fmt::print("{}\n", reference.in());
        std::fflush(stdout);
        run.run();
    }
    return 0;
}

} // namespace

void add_scheduler_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<SchedulerArguments>();
    auto* scheduler =
        app.add_subcommand("scheduler", "Run a Scheduling Service; prints its reference");
    scheduler
        ->add_option("-l,--listen", arguments->endpoint,
                     "Where clients find it; iiop://:0 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:0");
    scheduler->add_option("--policy", arguments->policy, "How operations are ordered (rms)")
        ->check(CLI::IsMember({"rms", "dms", "edf", "muf", "llf"}));
    scheduler
        ->add_option("--tasks", arguments->tasks,
                     "Operations that it knows from the beginning: as for kairos sched")
        ->type_name("FILE");
    scheduler->footer(orb_options_footer);
    scheduler->callback([arguments, &orb_options, &status] {
        try {
            status = serve(*arguments, orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos scheduler: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
