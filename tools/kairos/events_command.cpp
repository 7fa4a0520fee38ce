// SPDX-License-Identifier: Apache-2.0
//
// `kairos events`: event channels in the foreground, until it is told to end.
#include "kairos/base/shown.h"
#include "kairos/events/service.h"
#include "tools/kairos/channels.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace kairos::tools {
namespace {

struct EventsArguments {
    ChannelArguments channels;
    events::ServiceLimits limits;
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
    command->footer(orb_options_footer);
    command->callback([arguments, &orb_options, &status] {
        ChannelArguments& channels = arguments->channels;
        if (channels.channels.empty()) channels.channels.emplace_back(event_channel_texts.first);
        try {
            serve_channels<events::EventService>("kairos-events", channels, arguments->limits,
                                                 orb_options);
        } catch (const std::exception& failure) {
            fmt::print(stderr, "kairos events: {}\n", shown(failure.what()));
            status = 1;
        }
    });
}

} // namespace kairos::tools
