// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/readdress.h"

#include "kairos/ior/ior.h"
#include "kairos/orb/failure.h"

namespace kairos::orb {

giop::RequestTemplate readdressed(cdr::Reader answer, const Reference& reference,
                                  const Target& target)
{
    const auto disposition = answer.read<std::uint16_t>();
    const auto& profile = reference.ior().profiles[target.profile_index];
    switch (static_cast<giop::AddressingDisposition>(disposition)) {
    case giop::AddressingDisposition::key:
        if (!answer.ok()) break;
        return target.by_key;
    case giop::AddressingDisposition::profile:
        return giop::RequestTemplate::of_profile(profile.tag, profile.data);
    case giop::AddressingDisposition::reference: {
        cdr::Buffer buffer;
        cdr::Writer encoded(buffer);
        ior::encode(encoded, reference.ior());
        return giop::RequestTemplate::of_reference(static_cast<std::uint32_t>(target.profile_index),
                                                   encoded.contiguous());
    }
    }
    raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                          "the peer asks for an unknown addressing mode");
}

void raise_readdressed_again()
{
    raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_NO,
                          "the peer asks for another addressing mode again");
}

} // namespace kairos::orb
