// SPDX-License-Identifier: Apache-2.0
//
// -ORBListenEndpoints as TAO has it: "iiop://1.1@a,b:7/hostname_in_ior=c&reuse_addr=1;uiop://path".
#include "kairos/compat/tao/options.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <string_view>

namespace kairos::compat::tao {
namespace {

[[noreturn]] void refuse_endpoint(std::string_view endpoint, std::string_view reason)
{
    orb::raise<CORBA::BAD_PARAM>(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                 "-ORBListenEndpoints: '" + std::string(endpoint) +
                                     "': " + std::string(reason));
}

/// Takes what stands before the next separator out of `text`, and the separator.
std::string_view take(std::string_view& text, char separator)
{
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    return part;
}

/// Takes "1.1@" away.
void drop_version(std::string_view& text)
{
    if (text.size() > 3 && text[1] == '.' && text[3] == '@') text.remove_prefix(4);
}

/// What the options of an endpoint say of the name in references: "" or "/hostname_in_ior=name".
std::string name_in_references(std::string_view endpoint, std::string_view options,
                               std::vector<std::string>& ignored)
{
    std::string name;
    while (!options.empty()) {
        const std::string_view option = take(options, '&');
        if (option.starts_with("hostname_in_ior="))
            name = "/" + std::string(option);
        else if (option == "portspan=1" || option.starts_with("reuse_addr="))
            ignored.emplace_back(option);
        else
            refuse_endpoint(endpoint, "there is no '" + std::string(option) +
                                          "'; say one port, or none and the system chooses");
    }
    return name;
}

void append(std::string& result, std::string_view endpoint)
{
    result.append(result.empty() ? "" : ";").append(endpoint);
}

void append_iiop(std::string& result, std::string_view endpoint, std::string_view text,
                 std::vector<std::string>& ignored)
{
    drop_version(text);
    std::string_view addresses = take(text, '/');
    const std::string name = name_in_references(endpoint, text, ignored);
    do
        append(result, "iiop://" + std::string(take(addresses, ',')) + name);
    while (!addresses.empty());
}

} // namespace

std::string translate_endpoints(const std::string& text, std::vector<std::string>& ignored)
{
    std::string result;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view endpoint = take(rest, ';');
        const std::size_t colon = endpoint.find("://");
        const bool is_url = colon != std::string_view::npos;
        const std::string_view scheme = is_url ? endpoint.substr(0, colon) : std::string_view();
        std::string_view address = is_url ? endpoint.substr(colon + 3) : std::string_view();
        if (scheme == "iiop") {
            append_iiop(result, endpoint, address, ignored);
        } else if (scheme == "uiop") {
            drop_version(address);
            append(result, "uiop://" + std::string(address.substr(0, address.find('|'))));
        } else if (scheme == "shmiop") {
            drop_version(address);
            // TAO's say a port of TCP, by which its peers find each other; ours have a path.
            const bool is_path = address.starts_with('/');
            if (!address.empty() && !is_path) ignored.emplace_back(endpoint);
            append(result, "shmiop://" + std::string(is_path ? address : std::string_view()));
        } else if (scheme == "diop" || scheme == "miop" || scheme == "sciop" || scheme == "htiop" ||
                   scheme == "ssliop") {
            refuse_endpoint(endpoint,
                            "there is no such transport; iiop, uiop and shmiop are there");
        } else {
            append(result, endpoint); // of the program's own transport, "none", or to be refused
        }
    }
    return result;
}

} // namespace kairos::compat::tao
