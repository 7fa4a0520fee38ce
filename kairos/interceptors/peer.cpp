// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/peer.h"

#include "kairos/interceptors/server_info.h"

namespace kairos::interceptors {

std::string peer_of(PortableInterceptor::ServerRequestInfo_ptr request)
{
    const auto* known = dynamic_cast<const ServerInfo*>(request);
    if (known == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no request of this ORB's");
    return known->peer();
}

} // namespace kairos::interceptors
