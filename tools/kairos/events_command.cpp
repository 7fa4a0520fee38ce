// SPDX-License-Identifier: Apache-2.0
//
// `kairos events`: event channels in the foreground, until it is told to end.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/events/service.h"
#include "kairos/naming/CosNaming.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/names.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kairos::tools {
namespace {

struct EventsArguments {
    std::vector<std::string> channels;
    std::vector<std::string> files; // of the channels, in their order, as the next
    std::vector<std::string> names;
    std::string endpoint;
    events::ServiceLimits limits;
    double timeout_s = 0;
    double poll_s = 0;
};

std::chrono::milliseconds duration_of(double seconds)
{
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// Whatever the name was bound to before.
void bind(CORBA::ORB_ptr orb, const std::string& name, CORBA::Object_ptr channel)
{
    const CosNaming::Name components = parse_name_argument(name);
    const CORBA::Object_var object = orb->resolve_initial_references("NameService");
    const auto root =
        CosNaming::NamingContext_var(CosNaming::NamingContext::_unchecked_narrow(object.in()));
    if (CORBA::is_nil(root.in())) throw std::runtime_error("the Naming Service is nil");
    root->rebind(components, channel);
}

void publish(CORBA::ORB_ptr orb, const EventsArguments& arguments, std::size_t index,
             CORBA::Object_ptr channel)
{
    const CORBA::String_var reference = orb->object_to_string(channel);
    if (index < arguments.files.size()) write_reference(arguments.files[index], reference.in());
    if (index < arguments.names.size()) bind(orb, arguments.names[index], channel);
    fmt::print("{}\n", reference.in());
}

void serve(const EventsArguments& arguments, const std::vector<std::string>& orb_options)
{
    if (arguments.files.size() > arguments.channels.size() ||
        arguments.names.size() > arguments.channels.size())
        throw std::runtime_error("there are fewer channels than files or names for them");
    events::ServiceLimits limits = arguments.limits;
    limits.call_timeout = duration_of(arguments.timeout_s);
    limits.poll_interval = duration_of(arguments.poll_s);
    limits.proxies_of_all_max = std::max(limits.proxies_of_all_max, limits.proxies_max);
    // Nothing waits for answers at the end, but for connections that are being made.
    const auto connecting =
        std::min<std::chrono::milliseconds>(limits.call_timeout, end_within / 2);
    const EndSignals signals;
    const CORBA::ORB_var orb =
        make_service_orb("kairos-events", arguments.endpoint,
                         {"-ORBClientTimeout", std::to_string(limits.call_timeout.count()),
                          "-ORBConnectTimeout", std::to_string(connecting.count())},
                         orb_options);
    {
        std::optional<events::EventService> service;
        ServiceRun run(signals, orb.in(), [&service] { service->begin_to_end(); });
        service.emplace(orb.in(), limits);
        for (std::size_t i = 0; i < arguments.channels.size(); ++i) {
            const KairosEvents::Channel_var channel =
                service->create_channel(arguments.channels[i]);
            publish(orb.in(), arguments, i, channel.in());
        }
        std::fflush(stdout);
        run.run();
        service.reset(); // before the run, which watches how long that takes
    }
}

void add_options(CLI::App& command, EventsArguments& arguments)
{
    command
        .add_option("-c,--channel", arguments.channels,
                    "A channel, which clients also find as corbaloc:…/NAME; may be repeated. "
                    "Without any there is one, EventChannel. Clients make others by "
                    "corbaloc:…/EventChannelFactory, and find them as corbaloc:…/events/NAME")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command
        .add_option("-l,--listen", arguments.endpoint,
                    "Where clients find them; iiop://:0 is on every interface")
        ->type_name("ENDPOINT")
        ->default_val("iiop://localhost:0");
    command
        .add_option("--ior", arguments.files,
                    "A file that the channel's reference is written to; may be repeated, for the "
                    "channels in their order")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("--name", arguments.names,
                    "What the channel is bound to in the Naming Service, whatever was before; may "
                    "be repeated, as --ior. -ORBInitRef NameService=URL says where that is")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command
        .add_option("--queue", arguments.limits.queue_max,
                    "Events that wait for one consumer; when there are more, the oldest is dropped")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--proxies", arguments.limits.proxies_max,
                    "Suppliers and consumers of each channel, those included that are gone and "
                    "not yet known to be")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    command
        .add_option("--timeout", arguments.timeout_s,
                    "Seconds that a consumer or a supplier has for its answer")
        ->check(CLI::Range(0.001, 86'400.0))
        ->default_val(3.0);
    command
        .add_option("--failures", arguments.limits.failures_max,
                    "Calls of one of them that fail one after the other, until it is disconnected")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command
        .add_option("--poll", arguments.poll_s,
                    "Seconds until a supplier that had no event is asked again")
        ->check(CLI::Range(0.001, 86'400.0))
        ->default_val(0.1);
}

} // namespace

void add_events_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<EventsArguments>();
    auto* command = app.add_subcommand("events", "Run event channels; prints a reference for each");
    add_options(*command, *arguments);
    command->footer(orb_options_footer);
    command->callback([arguments, &orb_options, &status] {
        if (arguments->channels.empty()) arguments->channels.emplace_back("EventChannel");
        try {
            serve(*arguments, orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos events: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
