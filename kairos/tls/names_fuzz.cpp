// SPDX-License-Identifier: Apache-2.0
//
// Any octets as a chain of certificates, and as a distinguished name: what is taken has a name. And
// as what an authority says of a certificate, which it has not signed.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/csi/context.h"
#include "kairos/tls/certificates.h"
#include "kairos/tls/peer.h"
#include "kairos/tls/stapling.h"

#include <cstddef>
#include <cstdint>
#include <openssl/err.h>

using namespace kairos;

/// What OpenSSL makes of certificates, and what it keeps when it is used first.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64, .octets_beside = std::size_t{4} << 20};
}

namespace {

/// One that was found good.
struct Server {
    Server()
    {
        const auto authority = tls::make_identity(
            {.kind = tls::CertificateRequest::Kind::authority, .name = "Authority"}, nullptr);
        const auto own = tls::make_identity({.name = "server"}, &authority.value());
        for (const tls::Identity* each : {&*own, &*authority}) {
            X509_up_ref(each->certificate.get());
            KAIROS_CHECK(sk_X509_push(chain, each->certificate.get()) != 0);
        }
        KAIROS_CHECK(X509_STORE_add_cert(store, authority->certificate.get()) == 1);
    }

    STACK_OF(X509) * const chain = sk_X509_new_null(); // as long as the program
    X509_STORE* const store = X509_STORE_new();
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    tls::begin();
    if (size == 0) return 0;
    const Bytes octets = std::as_bytes(std::span(data, size)).subspan(1);
    if (data[0] % 3 == 2) {
        static const Server server;
        KAIROS_CHECK(!tls::fault_of_answer(octets, *server.chain, *server.store).empty());
    } else if (data[0] % 3 == 0) {
        const auto first = tls::first_of_chain(octets);
        KAIROS_CHECK(first.ok() || (!first.error().reason.empty() && ERR_peek_error() == 0));
        if (first) {
            KAIROS_CHECK(octets.size() <= csi::limits::chain_max);
            KAIROS_CHECK(first->is_shown && (!first->subject.empty() || !first->names.empty()));
        }
    } else {
        const auto name = tls::written_name(octets);
        KAIROS_CHECK(name.ok() || !name.error().reason.empty());
        if (name) KAIROS_CHECK(!name->empty());
    }
    ERR_clear_error();
    return 0;
}
