// SPDX-License-Identifier: Apache-2.0
//
// `kairos naming`: a name server in the foreground, until it is told to end.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/nameserver/open_store.h"
#include "kairos/nameserver/service.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kairos::tools {
namespace {

struct NamingArguments {
    std::string store;
    std::string endpoint;
    double sweep_s = 0;
};

void serve(const NamingArguments& arguments, const std::vector<std::string>& orb_options)
{
    const EndSignals signals;
    auto store = nameserver::open_store(arguments.store);
    if (!store) throw std::runtime_error(store.error().reason);
    // What clients call names is kept as UTF-8, unless an option says otherwise.
    const CORBA::ORB_var orb = make_service_orb("kairos-naming", arguments.endpoint,
                                                {"-ORBNativeCharCodeSet", "UTF-8"}, orb_options);
    {
        const nameserver::SweepOptions sweep{
            .interval = std::chrono::milliseconds(std::llround(arguments.sweep_s * 1000))};
        std::optional<nameserver::NamingService> service;
        ServiceRun run(signals, orb.in(), [&service] { service->stop_asking(); });
        service.emplace(orb.in(), std::move(store).value(), nameserver::ServiceLimits(), sweep);
        const CosNaming::NamingContextExt_var root = service->root();
        const CORBA::String_var reference = orb->object_to_string(root.in());
        fmt::print("{}\n", reference.in());
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
}

} // namespace

void add_naming_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<NamingArguments>();
    auto* naming = app.add_subcommand("naming", "Run a name server; prints its root's reference");
    naming
        ->add_option("-d,--store", arguments->store,
                     "What keeps its names: a file, or postgresql://USER@HOST/DATABASE, which "
                     "servers may share")
        ->required()
        ->type_name("STORE");
    naming
        ->add_option("-l,--listen", arguments->endpoint,
                     "Where clients find it; iiop://:2809 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:2809");
    naming
        ->add_option("--sweep", arguments->sweep_s,
                     "Seconds between two rounds of asking everything that is bound whether it is "
                     "there; ls -l and tree -l show what is dead")
        ->check(CLI::Range(0.001, 86'400.0));
    naming->footer(orb_options_footer);
    naming->callback([arguments, &orb_options, &status] {
        try {
            serve(*arguments, orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos naming: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
