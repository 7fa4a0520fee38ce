// SPDX-License-Identifier: Apache-2.0
//
// iiop://: TCP, as the specification has it (IIOP). What references say of it is in their profiles.
#include "kairos/orb/publish.h"
#include "kairos/orb/transports/transports.h"

namespace kairos::orb {
namespace {

Error bad(std::string reason) { return Error{ErrorCode::invalid_argument, std::move(reason)}; }

class Tcp final : public Transport {
  public:
    constexpr Tcp() noexcept : Transport("iiop", "[host][:port][/option=value]", no_tag, -1) {}

    [[nodiscard]] Result<void> parse(std::string_view text, ListenEndpoint& endpoint) const override
    {
        std::string_view address = text.substr(0, text.find('/'));
        const std::string_view option =
            address.size() < text.size() ? text.substr(address.size() + 1) : "";
        if (const auto at = address.find('@'); at != std::string_view::npos)
            address.remove_prefix(at + 1); // TAO's "1.2@": the version is -ORBGIOPVersion's here
        if (auto parsed = parse_internet_endpoint(address, endpoint); !parsed) return parsed;
        return parse_option(option, endpoint);
    }
    [[nodiscard]] Result<net::Address> address(const ListenEndpoint& endpoint) const override
    {
        return internet_address(endpoint);
    }

  private:
    [[nodiscard]] static Result<void> parse_option(std::string_view option,
                                                   ListenEndpoint& endpoint)
    {
        constexpr std::string_view published = "hostname_in_ior=";
        if (option.empty()) return {};
        if (!option.starts_with(published))
            return bad("unknown endpoint option '" + std::string(option) + "'");
        endpoint.published_host = option.substr(published.size());
        if (const auto host = check_published_host(endpoint.published_host); !host)
            return bad(std::string(option) + ": " + host.error().reason);
        return {};
    }
};

constinit const Tcp the_tcp;

} // namespace

constinit const Transport& transport::tcp = the_tcp;

} // namespace kairos::orb
