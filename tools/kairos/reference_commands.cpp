// SPDX-License-Identifier: Apache-2.0
//
// `kairos ior` prints what a reference says; `kairos ping` asks the object whether it is there.
#include "kairos/base/shown.h"
#include "kairos/corba/CORBA.h"
#include "kairos/csi/mechanisms.h"
#include "kairos/datagrams/group.h"
#include "kairos/ior/describe.h"
#include "kairos/ior/object_url.h"
#include "kairos/ior/profile.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/reference_argument.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace kairos::tools {
namespace {

/// What its servers want of clients by CSIv2.
std::string mechanisms_of(const ior::Ior& reference)
{
    std::string text;
    for (std::size_t i = 0; i < reference.profiles.size(); ++i) {
        if (reference.profiles[i].tag != ior::tag_internet_iop) continue;
        const auto decoded = ior::decode_iiop(reference.profiles[i].data);
        if (!decoded) continue;
        for (const ior::TaggedComponent& each : decoded->components) {
            if (each.tag != ior::tag_csi_sec_mech_list) continue;
            const std::string lines = csi::describe(each, 2);
            if (!lines.empty())
                text += fmt::format("TAG_CSI_SEC_MECH_LIST of profile {}:\n{}", i + 1, lines);
        }
    }
    return text;
}

/// The groups that it leads to.
std::string groups_of(const ior::Ior& reference)
{
    std::string text;
    for (std::size_t i = 0; i < reference.profiles.size(); ++i) {
        if (reference.profiles[i].tag != datagrams::tag_uipmc) continue;
        const auto group = datagrams::read_group_profile(reference.profiles[i].data);
        if (group)
            text += fmt::format("TAG_UIPMC of profile {}:\n  address: {}\n  group: {} of {}\n"
                                "  version of the reference: {}\n",
                                i + 1, ior::to_string(group->address), group->name.id,
                                shown(group->name.domain), group->reference_version);
    }
    return text;
}

Result<ior::ObjectUrl> parsed(const std::string& text)
{
    const auto group = datagrams::parse_group_url(text);
    if (!group) return ior::parse_object_url(text);
    if (!*group) return group->error();
    ior::ObjectUrl url;
    url.scheme = ior::ObjectUrl::Scheme::corbaloc;
    url.reference = **group;
    return url;
}

int print_reference(const std::string& argument)
{
    const auto text = url_of(argument);
    const auto url = text ? parsed(*text) : Result<ior::ObjectUrl>(text.error());
    if (!url) {
        fmt::print(stderr, "kairos ior: {}\n", shown(url.error().reason));
        return 1;
    }
    if (url->initial) {
        fmt::print("the initial reference '{}' of whichever ORB reads it\n", shown(url->service));
    } else {
        fmt::print("{}{}{}", shown_lines(ior::describe(url->reference)),
                   mechanisms_of(url->reference), groups_of(url->reference));
        if (url->scheme != ior::ObjectUrl::Scheme::ior && !url->reference.is_nil())
            fmt::print("as IOR: {}\n", ior::to_string(url->reference));
    }
    if (url->scheme == ior::ObjectUrl::Scheme::corbaname)
        fmt::print("name to be resolved there: '{}'\n", shown(url->name));
    return 0;
}

double milliseconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

CORBA::ORB_ptr make_ping_orb(const std::vector<std::string>& orb_options)
{
    std::vector<std::string> texts{"kairos"};
    texts.insert(texts.end(), orb_options.begin(), orb_options.end());
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    return CORBA::ORB_init(argc, argv.data(), "kairos-ping");
}

int ping(const std::string& argument, unsigned count, const std::vector<std::string>& orb_options)
{
    const auto text = url_of(argument);
    if (!text) {
        fmt::print(stderr, "kairos ping: {}\n", shown(text.error().reason));
        return 1;
    }
    try {
        const CORBA::ORB_var orb = make_ping_orb(orb_options);
        const CORBA::Object_var object = orb->string_to_object(text->c_str());
        if (CORBA::is_nil(object)) {
            fmt::print(stderr, "kairos ping: the reference is nil\n");
            return 1;
        }
        std::vector<double> times;
        for (unsigned i = 0; i < count; ++i) {
            const auto start = std::chrono::steady_clock::now();
            if (object->_non_existent()) {
                fmt::print("the server is there, the object is not\n");
                return 1;
            }
            times.push_back(milliseconds_since(start));
            fmt::print("alive: {:.3f} ms{}\n", times.back(), i == 0 ? ", connecting included" : "");
        }
        if (count > 1) {
            std::sort(times.begin() + 1, times.end());
            fmt::print("{} calls after the first: min {:.3f}, median {:.3f}, max {:.3f} ms\n",
                       count - 1, times[1], times[1 + (count - 1) / 2], times.back());
        }
    } catch (const CORBA::Exception& exception) {
        fmt::print(stderr, "kairos ping: {}\n", shown(exception.what()));
        return 1;
    }
    return 0;
}

} // namespace

void add_reference_commands(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto reference = std::make_shared<std::string>();
    auto count = std::make_shared<unsigned>(4);

    auto* ior = app.add_subcommand("ior", "Print an object reference readably");
    ior->add_option("reference", *reference,
                    "IOR:…, corbaloc:…, corbaname:…, a file with one, or -")
        ->required()
        ->type_name("REFERENCE");
    ior->callback([reference, &status] { status = print_reference(*reference); });

    auto* ping_command =
        app.add_subcommand("ping", "Ask an object whether it exists, and how long that takes");
    ping_command
        ->add_option("reference", *reference,
                     "IOR:…, corbaloc:…, corbaname:…, a file with one, or -")
        ->required()
        ->type_name("REFERENCE");
    ping_command->add_option("-n,--count", *count, "Number of calls")
        ->check(CLI::Range(1u, 1'000'000u))
        ->capture_default_str();
    ping_command->footer(orb_options_footer);
    ping_command->callback([reference, count, &orb_options, &status] {
        status = ping(*reference, *count, orb_options);
    });
}

} // namespace kairos::tools
