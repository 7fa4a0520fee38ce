// SPDX-License-Identifier: Apache-2.0
//
// `kairos naming`: a name server in the foreground, until it is told to end.
#include "kairos/corba/CORBA.h"
#include "kairos/nameserver/open_store.h"
#include "kairos/nameserver/service.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <memory>
#include <thread>

namespace kairos::tools {
namespace {

struct NamingArguments {
    std::string store;
    std::string endpoint;
    double sweep_s = 0;
};

/// Blocks the signals that end the server, before there is another thread to get them.
sigset_t block_end_signals()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return signals;
}

CORBA::ORB_ptr make_orb(const NamingArguments& arguments,
                        const std::vector<std::string>& orb_options)
{
    // What clients call names is kept as UTF-8, unless an option says otherwise.
    std::vector<std::string> texts{"kairos", "-ORBNativeCharCodeSet", "UTF-8"};
    const bool has_endpoint = std::ranges::any_of(orb_options, [](const std::string& option) {
        return option.starts_with("-ORBListenEndpoints") || option.starts_with("-ORBEndpoint");
    });
    if (!has_endpoint) texts.insert(texts.end(), {"-ORBListenEndpoints", arguments.endpoint});
    texts.insert(texts.end(), orb_options.begin(), orb_options.end());
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    return CORBA::ORB_init(argc, argv.data(), "kairos-naming");
}

void serve(const NamingArguments& arguments, const std::vector<std::string>& orb_options)
{
    const sigset_t signals = block_end_signals();
    auto store = nameserver::open_store(arguments.store);
    if (!store) throw std::runtime_error(store.error().reason);
    const CORBA::ORB_var orb = make_orb(arguments, orb_options);
    {
        const nameserver::SweepOptions sweep{
            .interval = std::chrono::milliseconds(std::llround(arguments.sweep_s * 1000))};
        const nameserver::NamingService service(orb.in(), std::move(store).value(), {}, sweep);
        const CosNaming::NamingContextExt_var root = service.root();
        const CORBA::String_var reference = orb->object_to_string(root.in());
        fmt::print("{}\n", reference.in());
        std::fflush(stdout);
        std::jthread ender([&] {
            int received = 0;
            sigwait(&signals, &received);
            orb->shutdown(false);
        });
        orb->run();
    }
    orb->destroy();
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
        ->required();
    naming->add_option("-l,--listen", arguments->endpoint, "Where clients find it")
        ->default_val("iiop://:2809");
    naming
        ->add_option("--sweep", arguments->sweep_s,
                     "Seconds between two rounds of asking everything that is bound whether it is "
                     "there; ls -l and tree -l show what is dead")
        ->check(CLI::Range(0.001, 86'400.0));
    naming->callback([arguments, &orb_options, &status] {
        try {
            serve(*arguments, orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos naming: {}\n", failure.what());
            status = 1;
        }
    });
}

} // namespace kairos::tools
