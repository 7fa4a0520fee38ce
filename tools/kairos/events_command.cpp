// SPDX-License-Identifier: Apache-2.0
//
// `kairos events`: event channels in the foreground, until it is told to end.
#include "kairos/base/shown.h"
#include "kairos/events/service.h"
#ifdef KAIROS_NATS
#include "kairos/nats/federation.h"
#endif
#include "tools/kairos/channels.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

/// What the service wants to know beside its limits.
struct EventsLimits : events::ServiceLimits {
    std::vector<std::string> typed; // channels
#ifdef KAIROS_NATS
    nats::FederationOptions bus;       // without servers there is none
    std::vector<std::string> subjects; // of the channels, in their order
    std::string password_file;
#endif
};

/// Channels that are joined with those of other processes, if there is a bus, and typed ones.
class EventsService {
  public:
    EventsService(CORBA::ORB_ptr orb, const EventsLimits& limits)
        : service_(orb, limits), limits_(limits)
    {
#ifdef KAIROS_NATS
        if (limits.bus.servers.empty()) return;
        nats::FederationOptions bus = limits.bus;
        if (!limits.password_file.empty())
            std::getline(std::ifstream(limits.password_file), bus.password);
        federation_.emplace(orb, bus);
#endif
    }
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(const std::string& name)
    {
#ifdef KAIROS_NATS
        const std::vector<std::string>& subjects = limits_.subjects;
        const std::size_t place = made_++;
        if (federation_)
            return federation_->create_channel(service_, name,
                                               place < subjects.size() ? subjects[place] : "");
#endif
        return service_.create_channel(name);
    }
    /// Makes the typed channels and prints their references.
    void publish_others(CORBA::ORB_ptr orb)
    {
        for (const std::string& name : limits_.typed) {
            const KairosEvents::TypedChannel_var channel = service_.create_typed_channel(name);
            const CORBA::String_var reference = orb->object_to_string(channel.in());
            fmt::print("{}\n", reference.in());
        }
    }
    void begin_to_end() noexcept
    {
#ifdef KAIROS_NATS
        if (federation_) federation_->leave();
#endif
        service_.begin_to_end();
    }

  private:
    events::EventService service_;
    const EventsLimits limits_;
#ifdef KAIROS_NATS
    std::optional<nats::Federation> federation_; // ends before the channels do
    std::size_t made_ = 0;
#endif
};

#ifdef KAIROS_NATS
void add_bus_options(CLI::App& command, EventsLimits& limits)
{
    auto* bus =
        command
            .add_option("--bus", limits.bus.servers,
                        "Joins the channels with those of other processes that have the same "
                        "subject, by a NATS server: nats://HOST[:PORT], or tls://HOST[:PORT] for "
                        "TLS; several of one cluster separated by commas. Nothing is kept for who "
                        "is not there")
            ->type_name("SERVERS");
    command
        .add_option("--subject", limits.subjects,
                    "The subject of a channel on the bus; may be repeated, for the channels in "
                    "their order. Else it is kairos.events.NAME")
        ->type_name("SUBJECT")
        ->allow_extra_args(false)
        ->needs(bus);
    auto* user = command
                     .add_option("--bus-user", limits.bus.user,
                                 "Who this is to the server, where that asks for users")
                     ->type_name("NAME")
                     ->needs(bus);
    command
        .add_option("--bus-password-file", limits.password_file,
                    "A file whose first line is the user's password")
        ->type_name("FILE")
        ->check(CLI::ExistingFile)
        ->needs(user);
    command
        .add_option("--bus-authorities", limits.bus.authorities,
                    "A file (PEM) with the certificates that a server of tls:// is believed by; "
                    "else those that the system believes")
        ->type_name("FILE")
        ->needs(bus);
}
void check_subjects(const EventsLimits& limits, std::size_t channels)
{
    if (limits.subjects.size() > channels)
        throw std::runtime_error("there are fewer channels than subjects for them");
}
#else
void add_bus_options(CLI::App&, EventsLimits&) {}
void check_subjects(const EventsLimits&, std::size_t) {}
#endif

struct EventsArguments {
    ChannelArguments channels;
    EventsLimits limits;
};

constexpr ChannelTexts event_channel_texts{
    .first = "EventChannel",
    .factory = "EventChannelFactory, and find them as corbaloc:…/events/NAME"};

} // namespace

void add_events_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto arguments = std::make_shared<EventsArguments>();
    auto* command = app.add_subcommand("events", "Run event channels; prints a reference for each");
    add_channel_options(*command, arguments->channels, arguments->limits, event_channel_texts);
    command
        ->add_option("--typed", arguments->limits.typed,
                     "A typed channel, which clients also find as corbaloc:…/NAME; may be "
                     "repeated. Its reference is printed after those of the others. Clients make "
                     "others by corbaloc:…/TypedEventChannelFactory, and find them as "
                     "corbaloc:…/typed/NAME")
        ->type_name("NAME")
        ->allow_extra_args(false);
    add_bus_options(*command, arguments->limits);
    command->footer(orb_options_footer);
    command->callback([arguments, &orb_options, &status] {
        ChannelArguments& channels = arguments->channels;
        if (channels.channels.empty()) channels.channels.emplace_back(event_channel_texts.first);
        try {
            check_subjects(arguments->limits, channels.channels.size());
            serve_channels<EventsService>("kairos-events", channels, arguments->limits,
                                          orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos events: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
