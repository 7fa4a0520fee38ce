// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/channels.h"

#include "kairos/naming/CosNaming.h"
#include "tools/kairos/names.h"
#include "tools/kairos/service.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace kairos::tools {
namespace {

std::chrono::milliseconds duration_of(double seconds)
{
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// Whatever the name was bound to before.
void bind_channel(CORBA::ORB_ptr orb, const std::string& name, CORBA::Object_ptr channel)
{
    const CosNaming::Name components = parse_name_argument(name);
    const CORBA::Object_var object = orb->resolve_initial_references("NameService");
    const auto root =
        CosNaming::NamingContext_var(CosNaming::NamingContext::_unchecked_narrow(object.in()));
    if (CORBA::is_nil(root.in())) throw std::runtime_error("the Naming Service is nil");
    root->rebind(components, channel);
}

} // namespace

void publish_channel(CORBA::ORB_ptr orb, const ChannelArguments& arguments, std::size_t index,
                     CORBA::Object_ptr channel)
{
    const CORBA::String_var reference = orb->object_to_string(channel);
    if (index < arguments.files.size()) write_reference(arguments.files[index], reference.in());
    if (index < arguments.names.size()) bind_channel(orb, arguments.names[index], channel);
    fmt::print("{}\n", reference.in());
}

void require_channels(const ChannelArguments& arguments)
{
    if (arguments.files.size() > arguments.channels.size() ||
        arguments.names.size() > arguments.channels.size())
        throw std::runtime_error("there are fewer channels than files or names for them");
}

void complete_limits(const ChannelArguments& arguments, events::ServiceLimits& limits)
{
    require_channels(arguments);
    limits.call_timeout = duration_of(arguments.timeout_s);
    limits.poll_interval = duration_of(arguments.poll_s);
    limits.proxies_of_all_max = std::max(limits.proxies_of_all_max, limits.proxies_max);
}

void add_channel_places(CLI::App& command, ChannelArguments& arguments, const std::string& channels)
{
    command.add_option("-c,--channel", arguments.channels, channels)
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
}

void add_channel_options(CLI::App& command, ChannelArguments& arguments,
                         events::ServiceLimits& limits, const ChannelTexts& texts)
{
    add_channel_places(command, arguments,
                       fmt::format("A channel, which clients also find as corbaloc:…/NAME; may be "
                                   "repeated. Without any there is one, {}. Clients make others "
                                   "by corbaloc:…/{}",
                                   texts.first, texts.factory));
    command
        .add_option("--queue", limits.queue_max,
                    "Events that wait for one consumer; when there are more, the oldest is dropped")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--proxies", limits.proxies_max,
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
        .add_option("--failures", limits.failures_max,
                    "Calls of one of them that fail one after the other, until it is disconnected")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command
        .add_option("--poll", arguments.poll_s,
                    "Seconds until a supplier that had no event is asked again")
        ->check(CLI::Range(0.001, 86'400.0))
        ->default_val(0.1);
}

} // namespace kairos::tools
