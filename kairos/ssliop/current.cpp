// SPDX-License-Identifier: Apache-2.0
//
// SSLIOP::Current: the request that the thread serves is asked for the channel that it came by.
// An ORB knows which request that is from when somebody has asked for the Current.
#include "kairos/net/channel.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_note.h"
#include "kairos/poa/calling.h"
#include "kairos/ssliop/KairosTls.h"
#include "kairos/tls/channel.h"

#include <cstring>
#include <openssl/crypto.h>
#include <openssl/x509.h>

namespace kairos::ssliop {
namespace {

void free_octets(unsigned char* octets) noexcept { OPENSSL_free(octets); }

SSLIOP::ASN_1_Cert encoded(const X509& certificate)
{
    unsigned char* octets = nullptr; // OpenSSL's until it is freed
    const int size = i2d_X509(&certificate, &octets);
    if (size < 0) throw CORBA::NO_MEMORY(0, CORBA::COMPLETED_NO);
    const tls::Owned<unsigned char, &free_octets> owned(octets);
    SSLIOP::ASN_1_Cert copy;
    copy.length(static_cast<CORBA::ULong>(size));
    std::memcpy(copy.get_buffer(), octets, static_cast<std::size_t>(size));
    return copy;
}

class Current final : public KairosTls::Current {
  public:
    explicit Current(orb::Orb& core) : core_(&core) {}

    CORBA::Boolean no_context() override { return channel() == nullptr; }
    SSLIOP::ASN_1_Cert* get_peer_certificate() override
    {
        const auto all = require_channel().peer_certificates();
        return all.empty() ? new SSLIOP::ASN_1_Cert : new SSLIOP::ASN_1_Cert(encoded(*all.front()));
    }
    SSLIOP::SSL_Cert* get_peer_certificate_chain() override
    {
        const auto all = require_channel().peer_certificates();
        SSLIOP::SSL_Cert_var chain = new SSLIOP::SSL_Cert;
        chain->length(static_cast<CORBA::ULong>(all.size()));
        for (CORBA::ULong i = 0; i < chain->length(); ++i)
            chain[i] = encoded(*all[i]);
        return chain._retn();
    }
    KairosTls::Peer* get_peer() override
    {
        const auto found = require_channel().peer();
        // Not an empty name: somebody may decide by it.
        if (!found) throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO, found.error().reason);
        const tls::Peer& peer = *found;
        KairosTls::Peer_var told = new KairosTls::Peer;
        told->subject = peer.subject.c_str();
        told->issuer = peer.issuer.c_str();
        told->names.length(static_cast<CORBA::ULong>(peer.names.size()));
        for (CORBA::ULong i = 0; i < told->names.length(); ++i)
            told->names[i] = peer.names[i].c_str();
        told->version = peer.version.c_str();
        told->cipher = peer.cipher.c_str();
        return told._retn();
    }

  private:
    /// Null unless the thread serves a request of this ORB that came by TLS.
    [[nodiscard]] const tls::Channel* channel() const noexcept
    {
        orb::Upcall* const upcall = orb::UpcallNote::innermost();
        if (upcall == nullptr || &upcall->orb() != core_.get()) return nullptr;
        return dynamic_cast<const tls::Channel*>(upcall->channel().peer_channel());
    }
    [[nodiscard]] const tls::Channel& require_channel() const
    {
        const tls::Channel* const found = channel();
        if (found == nullptr) throw SSLIOP::Current::NoContext();
        return *found;
    }

    const IntrusivePtr<orb::Orb> core_;
};

} // namespace
} // namespace kairos::ssliop

namespace kairos::corba {

CORBA::Object_ptr ssliop_service(CORBA::ORB& orb)
{
    orb::Orb& core = orb._kairos_core();
    // Of requests that are under way nobody knows any more how they came.
    if (!core.notes_upcalls() && poa::in_upcall_of(core))
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                   "SSLIOPCurrent is to be resolved before requests are served, "
                                   "not within the first");
    core.note_upcalls();
    return new ssliop::Current(core);
}

} // namespace kairos::corba
