// SPDX-License-Identifier: Apache-2.0
//
// What transports make for one ORB. Here because it has to know all that there are.
#include "kairos/orb/orb_transports.h"

#include "kairos/orb/failure.h"
#include "kairos/orb/options.h"
#include "kairos/orb/transports/transports.h"

#include <algorithm>

namespace kairos::orb {

namespace {

/// Whether these options are of a library that the program must have then.
bool ask_for_tls(const TlsOptions& options)
{
    TlsOptions without;
    if (options.client == Protection::never) without.client = Protection::never;
    return options != without;
}

} // namespace

OrbTransports::OrbTransports(const Options& options)
{
    for (const Transport* const each : transport::list()) {
        auto own = each->of_orb(options);
        if (!own)
            raise<CORBA::BAD_PARAM>(minor_code::bad_option, CORBA::COMPLETED_NO,
                                    own.error().reason);
        if (*own != nullptr) own_.emplace_back(each, std::move(own).value());
        has_protection_ = has_protection_ || each->protects();
    }
    if (!has_protection_ && ask_for_tls(options.tls))
        raise<CORBA::BAD_PARAM>(minor_code::bad_option, CORBA::COMPLETED_NO,
                                "-ORBTls… options: the program is not linked with libkairos-tls");
}

const Transport& OrbTransports::of(const Transport& transport) const noexcept
{
    const auto found = std::ranges::find(own_, &transport, &Own::first);
    return found == own_.end() ? transport : *found->second;
}

const Transport* OrbTransports::reading(std::uint32_t tag) const
{
    const Transport* const found = transport_reading(tag);
    return found == nullptr ? nullptr : &of(*found);
}

} // namespace kairos::orb
